// Wheel `key`: key management for programs; operators use salt-key.
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type Dict,
  defineWheel,
  HaliteError,
  type KeyState,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { globMatcher } from 'halite/sdk/text';

/** Salt's names for the four states. */
const folders: Readonly<Record<KeyState, string>> = {
  accepted: 'minions',
  pending: 'minions_pre',
  rejected: 'minions_rejected',
  denied: 'minions_denied',
};
const states = Object.keys(folders) as KeyState[];

async function matching(
  ctx: MasterContext,
  match: Value,
  among: readonly KeyState[] = states,
): Promise<Map<KeyState, string[]>> {
  const lists = await ctx.master.keys.list();
  const globs = (Array.isArray(match) ? match.map(String) : String(match).split(',')).map((glob) => globMatcher(glob));
  const found = new Map<KeyState, string[]>();
  for (const state of among) {
    const ids = lists[state].filter((id) => globs.some((matches) => matches(id)));
    if (ids.length > 0) found.set(state, ids);
  }
  return found;
}

const byFolder = (found: ReadonlyMap<KeyState, string[]>): PlainDict =>
  newDict([...found].map(([state, ids]) => [folders[state], ids]));
const only = (found: ReadonlyMap<KeyState, string[]>): string[] => [...found.values()].flat();

const match = p.oneOf(['string', 'list'], { doc: 'ids, as a glob, a comma list or a list' });
const include = {
  include_rejected: p.bool({ default: false, doc: 'rejected keys too' }),
  include_denied: p.bool({ default: false, doc: 'denied keys too' }),
  include_accepted: p.bool({ default: false, doc: 'accepted keys too' }),
};
function sources(args: {
  include_rejected?: boolean;
  include_denied?: boolean;
  include_accepted?: boolean;
}): KeyState[] {
  const wanted: KeyState[] = ['pending'];
  if (args.include_rejected) wanted.push('rejected');
  if (args.include_denied) wanted.push('denied');
  if (args.include_accepted) wanted.push('accepted');
  return wanted;
}

async function listAll(ctx: MasterContext): Promise<PlainDict> {
  const lists = await ctx.master.keys.list();
  const shown = newDict([['local', Object.keys(await ctx.master.keys.local())]]);
  for (const state of ['rejected', 'denied', 'pending', 'accepted'] as const) shown[folders[state]] = lists[state];
  return shown;
}

/** Ids in a map in the form of `list_all`. */
function idsIn(listed: Dict): string[] {
  const groups = listed instanceof Map ? [...listed.values()] : Object.values(listed);
  return groups.flatMap((ids) => (Array.isArray(ids) ? ids.map(String) : []));
}

/** A new key pair in the formats of minions: PKCS#1 and SPKI. */
async function makePair(bits: number): Promise<PlainDict> {
  if (bits < 2048) throw new HaliteError('call.arguments', `a key of ${bits} bits is too weak: at least 2048`);
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: bits,
    publicExponent: 65537,
  });
  return newDict([
    ['priv', privateKey.export({ format: 'pem', type: 'pkcs1' }) as string],
    ['pub', publicKey.export({ format: 'pem', type: 'spki' }) as string],
  ]);
}

async function fingerprints(ctx: MasterContext, found: ReadonlyMap<KeyState, string[]>): Promise<PlainDict> {
  const shown = newDict();
  for (const [state, ids] of found) {
    const group = newDict();
    for (const id of ids) group[id] = ctx.master.keys.fingerprint((await ctx.master.keys.read(state, id)) ?? '');
    shown[folders[state]] = group;
  }
  return shown;
}

/** A pattern fits the master's own files, too; a name or a list means minions. */
function ownFitting(wanted: unknown): (name: string) => boolean {
  return typeof wanted === 'string' && /[*?[]/.test(wanted) ? globMatcher(wanted) : () => false;
}

async function ownFingerprints(ctx: MasterContext, fits: (name: string) => boolean): Promise<PlainDict> {
  const own = Object.entries(await ctx.master.keys.local()).filter(([name]) => fits(name));
  return newDict(own.map(([name, pem]) => [name, ctx.master.keys.fingerprint(pem)]));
}

export default defineWheel({
  name: 'key',
  doc: 'Accept, reject, delete and show minion keys.',
  functions: {
    list_all: masterFn({
      doc: 'All keys by state, with the master’s own key files.',
      run: (_args, ctx) => listAll(ctx),
    }),
    list: masterFn({
      doc: 'Keys in one state.',
      params: { match: p.oneOf(['string', 'list'], { doc: 'accepted, pre (or unaccepted), rejected, denied or all' }) },
      async run({ match: wanted }, ctx) {
        const word = String(wanted);
        const lists = await ctx.master.keys.list();
        if (word.startsWith('acc')) return newDict([[folders.accepted, lists.accepted]]);
        if (word.startsWith('pre') || word.startsWith('un')) return newDict([[folders.pending, lists.pending]]);
        if (word.startsWith('rej')) return newDict([[folders.rejected, lists.rejected]]);
        if (word.startsWith('den')) return newDict([[folders.denied, lists.denied]]);
        if (word.startsWith('all')) return await listAll(ctx);
        return newDict();
      },
    }),
    name_match: masterFn({
      doc: 'Keys that match, by state.',
      params: { match },
      run: async ({ match: wanted }, ctx) => byFolder(await matching(ctx, wanted)),
    }),
    accept: masterFn({
      doc: 'Accept pending keys that match.',
      params: { match, include_rejected: include.include_rejected, include_denied: include.include_denied },
      async run(args, ctx) {
        const from = sources(args);
        const done = await ctx.master.keys.accept(only(await matching(ctx, args.match, from)), from);
        return newDict(done.length > 0 ? [[folders.accepted, done]] : []);
      },
    }),
    reject: masterFn({
      doc: 'Reject pending keys that match.',
      params: { match, include_accepted: include.include_accepted, include_denied: include.include_denied },
      async run(args, ctx) {
        const from = sources(args);
        const done = await ctx.master.keys.reject(only(await matching(ctx, args.match, from)), from);
        return newDict(done.length > 0 ? [[folders.rejected, done]] : []);
      },
    }),
    delete: masterFn({
      doc: 'Delete keys that match, in any state.',
      params: { match },
      async run({ match: wanted }, ctx) {
        const found = await matching(ctx, wanted);
        await ctx.master.keys.remove([...new Set(only(found))]);
        return newDict();
      },
    }),
    accept_dict: masterFn({
      doc: 'Accept the keys listed by folder, as `list_all` shows them.',
      params: { match: p.dict({ doc: 'folder → ids' }), ...include },
      run: async (args, ctx) =>
        newDict([[folders.accepted, await ctx.master.keys.accept(idsIn(args.match), sources(args))]]),
    }),
    reject_dict: masterFn({
      doc: 'Reject the keys listed by folder.',
      params: { match: p.dict({ doc: 'folder → ids' }), ...include },
      run: async (args, ctx) =>
        newDict([[folders.rejected, await ctx.master.keys.reject(idsIn(args.match), sources(args))]]),
    }),
    delete_dict: masterFn({
      doc: 'Delete the keys listed by folder.',
      params: { match: p.dict({ doc: 'folder → ids' }) },
      async run({ match: listed }, ctx) {
        await ctx.master.keys.remove(idsIn(listed));
        return newDict();
      },
    }),
    gen: masterFn({
      doc: 'Create a key pair for a minion and return both keys; nothing is stored.',
      params: {
        id_: p.string({ default: null, doc: 'accepted for compatibility' }),
        keysize: p.int({ default: 2048, doc: 'bits' }),
      },
      run: ({ keysize }) => makePair(keysize),
    }),
    gen_accept: masterFn({
      doc: 'Create a key pair for a minion, accept it immediately and return both keys.',
      params: {
        id_: p.string({ doc: 'the id it is for' }),
        keysize: p.int({ default: 2048, doc: 'bits' }),
        force: p.bool({ default: false, doc: 'also when this id has an accepted key' }),
      },
      async run({ id_, keysize, force }, ctx) {
        if (!force && (await ctx.master.keys.read('accepted', id_)) !== undefined) return newDict();
        const pair = await makePair(keysize);
        await ctx.master.keys.write('accepted', id_, String(pair['pub']));
        return pair;
      },
    }),
    key_str: masterFn({
      doc: 'The public keys that match, as text.',
      params: { match },
      async run({ match: wanted }, ctx) {
        const shown = newDict();
        for (const [state, ids] of await matching(ctx, wanted)) {
          const group = newDict();
          for (const id of ids) group[id] = (await ctx.master.keys.read(state, id)) ?? '';
          shown[folders[state]] = group;
        }
        return shown;
      },
    }),
    finger: masterFn({
      doc: 'Fingerprints of the keys that match.',
      params: { match },
      async run({ match: wanted }, ctx) {
        const shown = await fingerprints(ctx, await matching(ctx, wanted));
        const own = await ownFingerprints(ctx, ownFitting(wanted));
        return Object.keys(own).length > 0 ? newDict([['local', own], ...Object.entries(shown)]) : shown;
      },
    }),
    finger_master: masterFn({
      doc: 'Fingerprints of the master’s own keys.',
      async run(_args, ctx) {
        return newDict([['local', await ownFingerprints(ctx, (name) => name.endsWith('.pub'))]]);
      },
    }),
  },
});
