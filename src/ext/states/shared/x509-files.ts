// Files with keys, requests and certificates: present content, desired content, and file properties.
import type { KeyObject } from 'node:crypto';
import {
  commandError,
  HaliteError,
  invocationError,
  messageOf,
  newDict,
  type PlainDict,
  pyStr,
  type StateContext,
  type StateResult,
  type Value,
} from 'halite/sdk';
import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { algorithmFor, planRequest } from '../../shared/x509/build.ts';
import type { Extension } from '../../shared/x509/extensions.ts';
import { encodingOf, keySize, keyType, pemBody, tryPrivateKey } from '../../shared/x509/load.ts';
import { nameText } from '../../shared/x509/names.ts';
import { shortened } from '../../shared/x509/policy.ts';
import { type ParsedRequest, parseRequest } from '../../shared/x509/read.ts';

/** Arguments of a state for its file. */
const fileNames = [
  ...['user', 'group', 'mode', 'attrs', 'makedirs', 'dir_mode', 'backup', 'create', 'follow_symlinks', 'check_cmd'],
  ...['tmp_dir', 'tmp_ext', 'selinux', 'encoding_errors'],
];

/** Splits the arguments into those and the others. */
export function splitArgs(kwargs: PlainDict): { file: PlainDict; rest: PlainDict } {
  const [file, rest] = [newDict([['show_changes', false]]), newDict()];
  for (const [key, value] of Object.entries(kwargs)) (fileNames.includes(key) ? file : rest)[key] = value;
  return { file, rest };
}

/** The bytes of the present file, or undefined. A link that must not be followed counts as missing. */
export function currentBytes(name: string, file: PlainDict): { bytes: Buffer | undefined; linked: boolean } {
  const linked = lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (linked && file['follow_symlinks'] === false) return { bytes: undefined, linked: true };
  return { bytes: existsSync(name) ? readFileSync(name) : undefined, linked: false };
}

interface Plan {
  readonly name: string;
  /** `private key`, `certificate`, … */
  readonly what: string;
  readonly file: PlainDict;
  readonly changes: PlainDict;
  readonly exists: boolean;
  readonly encoding: string;
  /** Creates it: PEM text, or base64 of DER. */
  make(): Promise<Value>;
  /** The file is a link that is to be replaced. */
  readonly unlink?: boolean;
}

/** Writes the new content, or only sets mode and owner. */
export async function settle(plan: Plan, ctx: StateContext): Promise<StateResult> {
  const { name, what, file, changes } = plan;
  const differs = Object.keys(changes).length > 0;
  const fine = `The ${what} is in the correct state`;
  const verb = plan.exists ? 'recreated' : 'created';
  const managed = (more: PlainDict): Promise<StateResult> => ctx.state('file.managed', { name, ...file, ...more });
  // What is only compared, or not written, is left to file.managed, which knows test mode itself.
  if (ctx.test || !differs) {
    const sub = await managed({ replace: false });
    const extra = { sub_state_run: [subRun(sub, ctx)] };
    if (sub.result === false) return ctx.fail('Problem while testing file.managed changes, see its output', extra);
    // The result of file.managed reports mode and owner.
    if (!differs) return ctx.ok(fine, extra);
    if (pyStr(sub.comment as Value).includes('is not set for creation')) return ctx.ok(fine, extra);
    return ctx.result({ result: null, comment: `The ${what} would have been ${verb}`, changes, ...extra });
  }
  if (file['create'] === false && !plan.exists) return ctx.ok(fine);
  const made = pyStr(await plan.make());
  if (plan.unlink) rmSync(name, { force: true });
  const sub = await managed(plan.encoding === 'pem' ? { contents: made } : { replace: false });
  const extra = { sub_state_run: [subRun(sub, ctx)] };
  if (sub.result === false)
    return ctx.fail(`Could not ${plan.exists ? 'update' : 'create'} file, see file.managed output`, extra);
  if (plan.encoding !== 'pem') writeFileSync(realpathSync(name), Buffer.from(made, 'base64'));
  return ctx.ok(`The ${what} has been ${verb}`, { changes, ...extra });
}

/** The result of file.managed, as it is shown with the state. */
const subRun = (sub: StateResult, ctx: StateContext): PlainDict =>
  newDict([
    ...(Object.entries(sub) as [string, Value][]),
    [
      'low',
      newDict([
        ['name', sub.name],
        ['state', 'file'],
        ['__id__', ctx.stateId],
        ['fun', 'managed'],
      ]),
    ],
  ]);

/** An expected failure fails the state with its text. */
export async function guarded(ctx: StateContext, work: () => Promise<StateResult>): Promise<StateResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HaliteError)) throw error;
    return ctx.fail(messageOf(error));
  }
}

interface KeyArgs {
  readonly name: string;
  readonly algo: string;
  readonly keysize: Value;
  readonly passphrase: Value;
  readonly encoding: string;
  readonly new: boolean;
  readonly overwrite: boolean;
  readonly kwargs: PlainDict;
}

const problems = {
  wrong: 'The provided passphrase cannot decrypt the private key. Pass overwrite: true to force regeneration',
  missing: 'The existing file is encrypted. Pass overwrite: true to force regeneration without passphrase',
  unreadable:
    'The existing file does not seem to be a private key formatted as DER, PEM or embedded in PKCS12. Pass overwrite: true to force regeneration',
} as const;

/** Properties of a private key that differ. */
function keyChanges(
  args: KeyArgs,
  size: Value,
  bytes: Buffer | undefined,
): { changes: PlainDict; current?: KeyObject } {
  if (bytes === undefined) return { changes: newDict([['created', args.name]]) };
  if (args.new) return { changes: newDict([['replaced', args.name]]) };
  const changes = newDict();
  let current = tryPrivateKey(bytes, args.passphrase);
  if (current === 'superfluous') {
    changes['passphrase'] = true;
    current = tryPrivateKey(bytes, null);
  }
  if (typeof current === 'string') {
    if (!args.overwrite) throw commandError(problems[current as keyof typeof problems] ?? problems.unreadable);
    if (current !== 'unreadable') changes['passphrase'] = true;
    changes['created'] = args.name;
    return { changes };
  }
  const wanted = size ?? (args.algo === 'rsa' ? 2048 : args.algo === 'ec' ? 256 : null);
  if (keyType(current) !== args.algo) changes['algo'] = args.algo;
  else if (wanted !== null && keySize(current) !== Number(wanted)) changes['keysize'] = wanted;
  if (encodingOf(bytes) !== args.encoding) changes['encoding'] = args.encoding;
  return { changes, current };
}

export function privateKeyManaged(args: KeyArgs, ctx: StateContext): Promise<StateResult> {
  return guarded(ctx, async () => {
    const { file, rest } = splitArgs(args.kwargs);
    const { bits, cipher: _cipher, verbose: _verbose, text: _text, ...unknown } = rest;
    if (Object.keys(unknown).length > 0)
      throw invocationError(`Unrecognized keyword arguments: ['${Object.keys(unknown).join("', '")}']`);
    const size = args.keysize ?? bits ?? null;
    if (size && ['ed25519', 'ed448'].includes(args.algo))
      throw invocationError(`keysize is an invalid parameter for ${args.algo}`);
    if (!file['mode']) file['mode'] = '0400';
    const { bytes, linked } = currentBytes(args.name, file);
    const { changes, current } = keyChanges(args, size, bytes);
    const { passphrase, encoding, algo } = args;
    const onlyForm = Object.keys(changes).every((key) => key === 'encoding' || key === 'passphrase');
    return settle(
      {
        name: args.name,
        what: 'private key',
        file,
        changes,
        exists: bytes !== undefined,
        encoding,
        unlink: linked,
        make: () =>
          onlyForm && current
            ? ctx.callWith('x509.encode_private_key', [current.export({ type: 'pkcs8', format: 'pem' }) as string], {
                passphrase,
                encoding,
              })
            : ctx.callWith('x509.create_private_key', [], { algo, keysize: size, passphrase, encoding }),
      },
      ctx,
    );
  });
}

/** Names of extensions that are new, different or gone. */
export function extensionChanges(now: readonly Extension[], wanted: readonly Extension[]): PlainDict | undefined {
  const shown = (name: string): string => (name === 'crlDistributionPoints' ? 'cRLDistributionPoints' : name);
  const [added, changed]: [string[], string[]] = [[], []];
  for (const want of wanted) {
    const have = now.find(({ oid }) => oid === want.oid);
    if (!have) added.push(shown(want.name));
    else if (have.critical !== want.critical || !have.value.equals(want.value)) changed.push(shown(want.name));
  }
  const removed = now.filter(({ oid }) => !wanted.some((want) => want.oid === oid)).map(({ name }) => shown(name));
  if (added.length + changed.length + removed.length === 0) return undefined;
  return newDict([
    ['added', added],
    ['changed', changed],
    ['removed', removed],
  ]);
}

interface RequestArgs {
  readonly name: string;
  readonly private_key: Value;
  readonly private_key_passphrase: Value;
  readonly digest: string;
  readonly encoding: string;
  readonly subject: Value;
  readonly kwargs: PlainDict;
}

function readRequest(bytes: Buffer): ParsedRequest | undefined {
  try {
    return parseRequest(pemBody(bytes, '(?:NEW )?CERTIFICATE REQUEST'));
  } catch {
    return undefined;
  }
}

function requestChanges(args: RequestArgs, all: PlainDict, bytes: Buffer): PlainDict {
  const now = readRequest(bytes);
  if (!now) return newDict([['replaced', args.name]]);
  const changes = newDict();
  const plan = planRequest(all);
  const digest = all['digest'] ?? 'sha256';
  if (now.signature !== algorithmFor(plan.key, digest).oid) changes['digest'] = digest;
  if (encodingOf(bytes) !== args.encoding) changes['encoding'] = args.encoding;
  if (!now.spki.equals(plan.spki)) changes['private_key'] = true;
  if (!now.subject.equals(plan.subject)) changes['subject_name'] = nameText(plan.subject);
  const extensions = extensionChanges(now.extensions, plan.extensions);
  if (extensions) changes['extensions'] = extensions;
  return changes;
}

export function requestManaged(args: RequestArgs, ctx: StateContext): Promise<StateResult> {
  return guarded(ctx, async () => {
    const { file, rest } = splitArgs(args.kwargs);
    const { private_key, private_key_passphrase, subject, encoding } = args;
    const own = { digest: args.digest, ...shortened(rest) };
    const all = newDict(Object.entries({ ...own, private_key, private_key_passphrase, subject }));
    const { bytes, linked } = currentBytes(args.name, file);
    const changes = bytes ? requestChanges(args, all, bytes) : newDict([['created', args.name]]);
    return settle(
      {
        name: args.name,
        what: 'certificate signing request',
        file,
        changes,
        exists: bytes !== undefined && readRequest(bytes) !== undefined,
        encoding,
        unlink: linked,
        make: () =>
          ctx.callWith('x509.create_csr', [private_key], { private_key_passphrase, encoding, subject, ...own }),
      },
      ctx,
    );
  });
}
