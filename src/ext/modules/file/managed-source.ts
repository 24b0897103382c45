// Fetches and renders the source of a managed file: path of a copy, its hash, or an error.
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dictGet, isDict, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { expandUser, mkdtempSync, writeFileSync } from 'halite/sdk/fs';
import { type HashSum, hashOfFile } from '../../shared/file/hash-sums.ts';
import { fetchSource } from '../../shared/file/source.ts';
import { asState } from './as-state.ts';

export const managedParams = {
  name: p.path(),
  template: p.string({ falsy: null, doc: 'template engine, or None' }),
  source: p.string({ falsy: null }),
  source_hash: p.scalar({ nullable: true }),
  source_hash_name: p.scalar({ nullable: true }),
  user: p.oneOf(['int', 'string'], { nullable: true }),
  group: p.oneOf(['int', 'string'], { nullable: true }),
  mode: p.scalar({ nullable: true }),
  attrs: p.scalar({ nullable: true }),
  saltenv: p.string({ nullable: true }),
  context: p.dict({ nullable: true }),
  defaults: p.dict({ nullable: true }),
};

export interface Managed {
  readonly name: string;
  readonly template: Value;
  readonly source: Value;
  readonly source_hash: Value;
  readonly source_hash_name: Value;
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly attrs: Value;
  readonly saltenv: Value;
  readonly context: Value;
  readonly defaults: Value;
  readonly skip_verify: boolean;
  readonly verify_ssl?: Value;
  readonly use_etag?: boolean;
  readonly kwargs: PlainDict;
}

/** `{hash_type: …, hsum: …}` read. */
export function sumOf(value: Value): HashSum | undefined {
  if (!isDict(value)) return undefined;
  const [type, digits] = [dictGet(value, 'hash_type'), dictGet(value, 'hsum')];
  return typeof type === 'string' && typeof digits === 'string' ? { type, digits: digits.toLowerCase() } : undefined;
}

const sumDict = ({ type, digits }: HashSum): PlainDict => newDict(Object.entries({ hash_type: type, hsum: digits }));

/** Writes a rendered text to a file in a private folder. */
function keep(bytes: Buffer): Value[] {
  const path = join(mkdtempSync(join(tmpdir(), 'halite-managed-')), 'content');
  writeFileSync(path, bytes, { mode: 0o600 });
  const digits = createHash('sha256').update(bytes).digest('hex');
  return [path, sumDict({ type: 'sha256', digits }), ''];
}

/** Path of a copy of the source, its hash, and an error message; path and hash are empty when there is no source. */
export async function getManaged(args: Managed, ctx: ModuleContext): Promise<[Value, Value, string]> {
  if (!args.source) return ['', newDict(), ''];
  const saltenv = pyStr(args.saltenv ?? 'base');
  const { user, group, mode, attrs } = args;
  const name = expandUser(args.name);
  const fetched = await fetchSource(
    {
      name,
      source: pyStr(args.source),
      hash: args.source_hash,
      hashName: args.source_hash_name,
      template: args.template ? pyStr(args.template) : null,
      context: args.context,
      defaults: args.defaults,
      skipVerify: args.skip_verify,
      verifySsl: args.verify_ssl ?? true,
      useEtag: args.use_etag ?? false,
      extra: newDict([...Object.entries(args.kwargs), ...Object.entries({ name, user, group, mode, attrs })]),
    },
    asState(ctx, saltenv, name),
  );
  if ('problem' in fetched) return ['', newDict(), fetched.problem];
  const { content, sum } = fetched;
  if (content === undefined) return ['', sum ? sumDict(sum) : newDict(), ''];
  if ('bytes' in content) return keep(content.bytes) as [Value, Value, string];
  return [content.path, sumDict(sum ?? { type: 'sha256', digits: hashOfFile(content.path, 'sha256') }), ''];
}
