// Functions of `saltutil` that update the minion's extensions, grains and pillar.

import { join } from 'node:path';
import {
  cleanKwargs,
  commandError,
  dictEntries,
  fn,
  invocationError,
  isDict,
  isTruthy,
  type ModuleContext,
  type ModuleFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type SyncReport,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { isDirectory, listDir, readdir } from 'halite/sdk/fs';

const common = {
  saltenv: p.oneOf(['string', 'list'], {
    default: null,
    falsy: null,
    doc: 'file server environments; those of the top file when not given',
  }),
  refresh: p.bool({ default: true, doc: 'load the fetched files' }),
  extmod_whitelist: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'fetch only these' }),
  extmod_blacklist: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'do not fetch these' }),
};
const withPillarCache = { ...common, clean_pillar_cache: p.bool({ default: false }) };
const notAtOnce = { ...common, refresh: p.bool({ default: false, doc: 'load the fetched files' }) };

interface SyncArgs {
  readonly saltenv: Value;
  readonly extmod_whitelist: Value;
  readonly extmod_blacklist: Value;
}

/** The environments to fetch from: the given ones, or those of the top file for this minion. */
async function environmentsOf(told: Value, ctx: ModuleContext): Promise<string[]> {
  if (Array.isArray(told)) return told.map(String);
  if (isTruthy(told))
    return pyStr(told)
      .split(',')
      .map((env) => env.trim());
  const top = await ctx.call('state.show_top').catch(() => null);
  const named = isDict(top) ? dictEntries(top).filter(([, list]) => Array.isArray(list)) : [];
  return named.length > 0 ? named.map(([env]) => pyStr(env)) : ['base'];
}

/** Fetches kinds of extensions; job processes are restarted only when something changed. */
async function fetchKinds(
  kinds: readonly string[],
  args: SyncArgs,
  refresh: boolean,
  ctx: ModuleContext,
): Promise<SyncReport> {
  const report = await ctx.files.syncExtensions(kinds, {
    saltenv: await environmentsOf(args.saltenv, ctx),
    whitelist: args.extmod_whitelist,
    blacklist: args.extmod_blacklist,
  });
  if (refresh && report.touched) await ctx.minion.reloadExtensions();
  // Without this a skipped file would go unnoticed.
  if (report.problems.length > 0) ctx.setRetcode(1);
  return report;
}

/** Names of the extensions of one kind that are new or changed, then what could not be fetched and why. */
async function fetchKind(kind: string, args: SyncArgs, refresh: boolean, ctx: ModuleContext): Promise<string[]> {
  const { synced, problems } = await fetchKinds([kind], args, refresh, ctx);
  return [...(synced[kind] ?? []), ...problems];
}

const syncOf = (kind: string, what: string, refreshes: boolean): ModuleFunction =>
  fn({
    doc: `Fetches ${what} of users from the file server and returns the names of those that are new or changed.`,
    examples: [`salt '*' saltutil.sync_${kind === 'proxy' ? 'proxymodules' : kind}`],
    params: refreshes ? common : notAtOnce,
    run: (args, ctx) => fetchKind(kind, args, args.refresh, ctx),
  });

/** The order of `sync_all`, and the folder each kind is in. */
const allKinds: readonly (readonly [string, string])[] = [
  ...(
    ['clouds', 'beacons', 'modules', 'states', 'sdb', 'grains', 'renderers', 'returners', 'output', 'utils'] as const
  ).map((kind) => [kind, kind] as const),
  ...(['log_handlers', 'executors'] as const).map((kind) => [kind, kind] as const),
  ['proxymodules', 'proxy'],
  ...(['engines', 'thorium', 'serializers', 'matchers'] as const).map((kind) => [kind, kind] as const),
];

type KindFolders = readonly (readonly [name: string, folder: string])[];

const usualKinds = (ctx: ModuleContext): KindFolders => [
  ...allKinds,
  ...(ctx.opts['file_client'] === 'local' ? [['pillar', 'pillar'] as const] : []),
];

async function syncAll(args: SyncArgs, kinds: KindFolders, refresh: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const report = await fetchKinds(
    kinds.map(([, kind]) => kind),
    args,
    refresh,
    ctx,
  );
  const found = newDict(kinds.map(([name, kind]): [string, Value] => [name, [...(report.synced[kind] ?? [])]]));
  if (report.problems.length > 0) found['problems'] = [...report.problems];
  return found;
}

async function refreshAll(ctx: ModuleContext): Promise<void> {
  await ctx.minion.refreshGrains();
  await ctx.minion.refreshPillar();
}

const output = syncOf('output', 'outputters', true);

export const syncFunctions = {
  sync_all: fn({
    doc: 'Fetches every kind of user extension from the file server and loads what is new.',
    examples: [
      "salt '*' saltutil.sync_all",
      `salt '*' saltutil.sync_all extmod_whitelist={'modules': ['custom_module']}`,
    ],
    params: withPillarCache,
    async run(args, ctx) {
      const found = await syncAll(args, usualKinds(ctx), args.refresh, ctx);
      if (args.refresh) await refreshAll(ctx);
      return found;
    },
  }),
  sync_kinds: fn({
    doc: 'Fetches some kinds of user extensions, named by their folders without the underscore; the runner of the same name uses it.',
    examples: ["salt '*' saltutil.sync_kinds '[modules, runners]'"],
    params: { kinds: p.list({ doc: 'which kinds' }), ...notAtOnce },
    run(args, ctx) {
      const kinds = args.kinds.map((kind) => [pyStr(kind), pyStr(kind)] as const);
      return syncAll(args, kinds, args.refresh, ctx);
    },
  }),
  sync_grains: fn({
    doc: 'Fetches grain collectors of users from the file server, collects grains and pillar again.',
    examples: ["salt '*' saltutil.sync_grains"],
    params: withPillarCache,
    async run(args, ctx) {
      const names = await fetchKind('grains', args, args.refresh, ctx);
      if (args.refresh) await refreshAll(ctx);
      return names;
    },
  }),
  sync_pillar: fn({
    doc: 'Fetches external pillars of users; only for minions without a master.',
    examples: ['salt-call --local saltutil.sync_pillar'],
    params: withPillarCache,
    async run(args, ctx) {
      if (ctx.opts['file_client'] !== 'local')
        throw commandError('Pillar modules can only be synced to masterless minions');
      const names = await fetchKind('pillar', args, args.refresh, ctx);
      if (args.refresh) await ctx.minion.refreshPillar();
      return names;
    },
  }),
  sync_sdb: fn({
    doc: 'Fetches sdb modules of users from the file server.',
    examples: ["salt '*' saltutil.sync_sdb"],
    params: {
      saltenv: common.saltenv,
      extmod_whitelist: common.extmod_whitelist,
      extmod_blacklist: common.extmod_blacklist,
    },
    run: (args, ctx) => fetchKind('sdb', args, true, ctx),
  }),
  sync_modules: syncOf('modules', 'execution modules', true),
  sync_states: syncOf('states', 'state modules', true),
  sync_beacons: syncOf('beacons', 'beacons', true),
  sync_renderers: syncOf('renderers', 'renderers', true),
  sync_returners: syncOf('returners', 'returners', true),
  sync_clouds: syncOf('clouds', 'cloud modules', true),
  sync_utils: syncOf('utils', 'utility modules', true),
  sync_serializers: syncOf('serializers', 'serializers', true),
  sync_log_handlers: syncOf('log_handlers', 'log handlers', true),
  sync_executors: syncOf('executors', 'executors', true),
  sync_proxymodules: syncOf('proxy', 'proxy modules', false),
  sync_matchers: syncOf('matchers', 'matchers', false),
  sync_engines: syncOf('engines', 'engines', false),
  sync_thorium: syncOf('thorium', 'thorium modules', false),
  sync_tops: syncOf('tops', 'master tops', true),
  sync_wrapper: syncOf('wrapper', 'salt-ssh wrappers', true),
  sync_output: output,
  sync_outputters: output,
  list_extmods: fn({
    doc: 'Names of the fetched user extensions, by kind.',
    examples: ["salt '*' saltutil.list_extmods"],
    async run(_, ctx) {
      const root = pyStr(ctx.opts['extension_modules'] || join(pyStr(ctx.opts['cachedir'] ?? ''), 'extmods'));
      const found = newDict();
      for (const kind of listDir(root).filter((name) => isDirectory(join(root, name)))) {
        const files = await readdir(join(root, kind), { recursive: true, withFileTypes: true });
        found[kind] = [
          ...new Set(files.filter((file) => file.isFile()).map((file) => file.name.split('.')[0] as string)),
        ];
      }
      return found;
    },
  }),
};

const refreshPillar = (name: string) =>
  fn({
    doc: 'Requests this minion’s pillar from the master and stores it.',
    examples: [`salt '*' saltutil.${name}`, `salt '*' saltutil.${name} wait=True timeout=60`],
    params: {
      wait: p.bool({ default: false, doc: 'accepted; the function always waits for the pillar' }),
      timeout: p.float({ default: 30 }),
      clean_cache: p.bool({ default: true }),
    },
    run: (_, ctx) => ctx.minion.refreshPillar(),
  });

export const refreshFunctions = {
  refresh_pillar: refreshPillar('refresh_pillar'),
  pillar_refresh: refreshPillar('pillar_refresh'),
  refresh_grains: fn({
    doc: 'Collects the grains again, and the pillar unless refresh_pillar=False.',
    examples: ["salt '*' saltutil.refresh_grains"],
    params: { kwargs: p.kwargs({ doc: 'refresh_pillar, clean_pillar_cache' }) },
    async run({ kwargs }, ctx) {
      const { refresh_pillar = true, clean_pillar_cache: _, ...unknown } = cleanKwargs(kwargs);
      const bad = Object.entries(unknown).map(([key, value]) => `${key}=${dumpJson(value)}`);
      if (bad.length > 0) throw invocationError(`The following keyword arguments are not valid: ${bad.join(', ')}`);
      await ctx.minion.refreshGrains();
      if (isTruthy(refresh_pillar)) await ctx.minion.refreshPillar();
      return true;
    },
  }),
  refresh_modules: fn({
    doc: 'Makes new jobs load the extensions and grains again.',
    examples: ["salt '*' saltutil.refresh_modules"],
    params: { kwargs: p.kwargs({ doc: 'async: accepted' }) },
    async run(_, ctx) {
      await ctx.minion.reloadExtensions();
      await ctx.minion.refreshGrains();
      return true;
    },
  }),
  refresh_beacons: fn({
    doc: 'Makes the minion load its beacons again.',
    examples: ["salt '*' saltutil.refresh_beacons"],
    async run(_, ctx) {
      await ctx.minion.reloadExtensions();
      return true;
    },
  }),
  refresh_matchers: fn({
    doc: 'Makes the minion load its matchers again.',
    examples: ["salt '*' saltutil.refresh_matchers"],
    async run(_, ctx) {
      await ctx.minion.reloadExtensions();
      return true;
    },
  }),
};
