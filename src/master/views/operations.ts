// What shows the master itself: its findings, tokens, audit, options, files and returners.
import { textField } from '../../base/codec/fields.ts';
import { asList, dictEntries, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { MasterServices } from '../../extend/sdk/index.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import { masked } from '../local/option-secrets.ts';
import { wrongChoice } from './job-view.ts';
import { type Cell, pageOfRows, pageValue, readPage } from './page.ts';

export interface OperationParts {
  readonly opts: { readonly raw: PlainDict };
  readonly services: Pick<MasterServices, 'callRunner' | 'logins' | 'jobs' | 'files'>;
  readonly store: Pick<JobStore, 'query'>;
}

type Operation = (parts: OperationParts, args: PlainDict) => Promise<Value>;

const operations: Readonly<Record<string, Operation>> = {
  doctor: async ({ services }, args) => {
    const found = await services.callRunner('doctor.fleet', [], newDict([['all', args['all'] === true]]));
    return newDict([['findings', found]]);
  },
  tokens: tokens,
  audit: audit,
  config: async ({ opts }, args) => {
    const rows = Object.entries(opts.raw).map(([name, value]): [string, Value] => [
      name,
      masked(newDict([[name, value]])),
    ]);
    const request = readPage(args);
    const word = request.q.toLowerCase();
    const found = rows.filter(([name]) => name.toLowerCase().includes(word)).sort(([a], [b]) => (a < b ? -1 : 1));
    return pageValue({
      ...{ total: found.length, offset: request.offset, cols: ['name', 'value'], version: 0 },
      rows: found
        .slice(request.offset, request.offset + request.limit)
        .map(([name, value]) => [name, isDict(value) ? (dictGet(value, name) ?? null) : null]),
    });
  },
  files: files,
  returners: async ({ services }) => services.jobs.health(),
};

export async function operation(parts: OperationParts, rights: ViewRights, args: PlainDict): Promise<Value> {
  const name = textField(args, 'what') ?? '';
  const found = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (!found) throw wrongChoice('what', Object.keys(operations));
  if (!rights.operates)
    throw new HaliteError('auth.denied', 'You may not see this part of the master.', {
      hint: "It needs the rule '@wheel', or every right.",
    });
  return found(parts, args);
}

/** As many characters of a token as name it, and are no token. */
const shownCharacters = 8;

async function tokens({ services }: OperationParts, args: PlainDict): Promise<Value> {
  const rows = (await services.logins.list()).map(({ token, name, eauth, start, expire }): Cell[] => [
    ...[token.slice(0, shownCharacters), name, eauth, Math.floor(start * 1000), Math.floor(expire * 1000)],
  ]);
  return pageOfRows(['token', 'user', 'eauth', 'start', 'expire'], rows, readPage(args));
}

const auditCols = [
  'number',
  'at',
  'user',
  'eauth',
  'origin',
  'agent',
  'what',
  'target',
  'fun',
  'result',
  'request',
  'jid',
];
const searched = ['user', 'eauth', 'origin', 'what', 'target', 'fun', 'result', 'jid'];
const mostWords = 8;

/** Newest first. */
async function audit({ store }: OperationParts, args: PlainDict): Promise<Value> {
  const request = readPage(args);
  const words = request.q.split(/\s+/, mostWords).filter((word) => word !== '');
  const where = words.map(
    () => `instr(lower(${searched.map((name) => `coalesce(${name}, '')`).join(" || ' ' || ")}), ?) > 0`,
  );
  const condition = where.length > 0 ? `WHERE ${where.join(' AND ')}` : '';
  const values = words.map((word) => word.toLowerCase());
  const [counted, rows] = await Promise.all([
    store.query(`SELECT count(*) AS n FROM (SELECT 1 FROM audit ${condition} LIMIT 10000)`, values),
    store.query(`SELECT ${auditCols.join(', ')} FROM audit ${condition} ORDER BY number DESC LIMIT ? OFFSET ?`, [
      ...values,
      request.limit,
      request.offset,
    ]),
  ]);
  return pageValue({
    ...{
      total: Number(counted[0] ? dictGet(counted[0], 'n') : 0),
      offset: request.offset,
      cols: auditCols,
      version: 0,
    },
    rows: rows.map((row) => auditCols.map((name) => dictGet(row, name) ?? null)),
  });
}

const mostFiles = 50_000;

async function files({ services }: OperationParts, args: PlainDict): Promise<Value> {
  const envs = await services.callRunner('fileserver.envs', [], newDict());
  const names = isDict(envs) ? dictEntries(envs).map(([name]) => String(name)) : (asList(envs) ?? []).map(String);
  const wanted = textField(args, 'env') ?? '';
  const rows: Cell[][] = [];
  for (const env of names.filter((name) => wanted === '' || name === wanted)) {
    const list = await services.callRunner('fileserver.file_list', [], newDict([['saltenv', env]]));
    for (const path of asList(list) ?? []) if (rows.length < mostFiles) rows.push([String(path), env]);
  }
  return pageOfRows(['path', 'env'], rows, readPage(args));
}
