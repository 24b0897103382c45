// Runner `saltutil`: fetches extensions of users for the master itself from its own file server.
import {
  defineRunner,
  dictGet,
  HaliteError,
  isDict,
  type MasterContext,
  masterFn,
  newDict,
  p,
  type Value,
} from 'halite/sdk';

/** The names of `salt-run saltutil.sync_…`, and the folder of each kind (`salt://_pillar`, …). */
const kinds: readonly (readonly [string, string])[] = [
  ...['clouds', 'modules', 'states', 'grains', 'renderers', 'returners', 'output'].map((kind) => [kind, kind] as const),
  ['proxymodules', 'proxy'],
  ...['runners', 'wheel', 'engines', 'thorium', 'queues', 'pillar', 'utils', 'sdb', 'cache', 'fileserver', 'tops'].map(
    (kind) => [kind, kind] as const,
  ),
  ['tokens', 'tokens'],
  ...['serializers', 'executors', 'roster', 'wrapper'].map((kind) => [kind, kind] as const),
];

/** Salt uses the key `tokens` in the answer of sync_all, but the function has another name. */
const functionFor = (name: string): string => (name === 'tokens' ? 'sync_eauth_tokens' : `sync_${name}`);

const params = {
  saltenv: p.oneOf(['string', 'list'], { default: 'base', nullable: true, doc: 'environments of the file server' }),
  extmod_whitelist: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'fetch only these' }),
  extmod_blacklist: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'do not fetch these' }),
};

interface Args {
  readonly saltenv: Value;
  readonly extmod_whitelist: Value;
  readonly extmod_blacklist: Value;
}

/** Kind → names of new or changed files, and `problems` if there are any. */
async function sync(args: Args, folders: readonly string[], ctx: MasterContext): Promise<Value> {
  const kwargs = newDict(Object.entries({ ...args, refresh: false, kinds: [...folders] }));
  const outcome = await ctx.master.callModule('saltutil.sync_kinds', [], kwargs, {
    signal: ctx.signal,
    progress: () => undefined,
  });
  if (!isDict(outcome.return)) throw new HaliteError('call.failed', String(outcome.return));
  if (outcome.retcode !== 0) ctx.setRetcode(outcome.retcode);
  // Pillar threads are restarted so that they load the new files.
  await ctx.master.pillars.update('', {});
  return outcome.return;
}

const namesIn = (found: Value, folder: string): Value[] => {
  const list = (key: string): Value[] => {
    const value = isDict(found) ? dictGet(found, key) : undefined;
    return Array.isArray(value) ? value : [];
  };
  return [...list(folder), ...list('problems')];
};

export default defineRunner({
  name: 'saltutil',
  doc: 'Fetch extensions of users for the master.',
  functions: {
    sync_all: masterFn({
      doc: 'Fetches every kind of extension from the master’s file server into its extension_modules.',
      examples: ['salt-run saltutil.sync_all', 'salt-run saltutil.sync_all saltenv=dev'],
      params,
      async run(args, ctx) {
        // Salt 3006 omits wrappers here.
        const every = kinds.filter(([name]) => name !== 'wrapper');
        const found = await sync(
          args,
          every.map(([, folder]) => folder),
          ctx,
        );
        const all = newDict(every.map(([name, folder]): [string, Value] => [name, namesOf(found, folder)]));
        const problems = isDict(found) ? dictGet(found, 'problems') : undefined;
        if (problems !== undefined) all['problems'] = problems;
        return all;
      },
    }),
    ...Object.fromEntries(
      kinds.map(([name, folder]) => [
        functionFor(name),
        masterFn({
          doc: `Fetches ${name} from the master’s file server into its extension_modules.`,
          examples: [`salt-run saltutil.${functionFor(name)}`],
          params,
          run: async (args, ctx) => namesIn(await sync(args, [folder], ctx), folder),
        }),
      ]),
    ),
  },
});

function namesOf(found: Value, folder: string): Value {
  return (isDict(found) ? dictGet(found, folder) : undefined) ?? [];
}
