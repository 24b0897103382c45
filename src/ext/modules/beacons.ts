// Execution module `beacons`: which beacons are configured. Changes are kept in `beacons.conf` beside the minion's own file.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import {
  defineModule,
  dictGet,
  fn,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { pyStr } from '../../base/codec/python/index.ts';
import { dumpYaml, loadYaml } from '../../base/codec/yaml/index.ts';
import { pyEquals } from '../../base/util/index.ts';
import { readText } from './support/read.ts';
import { unifiedDiff } from './support/unified-diff.ts';
import { isTruthy } from './support/values.ts';

/** Kinds of beacons that make sense on Linux. */
const kinds =
  `adb avahi_announce bonjour_announce btmp cert_info diskusage glxinfo haproxy inotify journald load log memusage napalm
  network_info network_settings pkg proxy_example ps salt_monitor salt_proxy sensehat service sh status swapusage
  telegram_bot_msg twilio_txt_msg watchdog wtmp`.split(/\s+/);

const answer = (result: boolean, comment: string, more: PlainDict = newDict()): PlainDict =>
  newDict([['result', result], ['comment', comment], ...Object.entries(more)]);

const plain = (value: Value | undefined): PlainDict =>
  value !== undefined && isDict(value) && !(value instanceof Map) ? newDict(Object.entries(value)) : newDict();

function fileOf(ctx: ModuleContext): string {
  const include = dirname(pyStr(ctx.opts['default_include'] ?? 'minion.d/*.conf'));
  const base = dirname(pyStr(ctx.opts['conf_file'] ?? '/etc/salt/minion'));
  return isAbsolute(include) ? join(include, 'beacons.conf') : join(base, include, 'beacons.conf');
}

/** Those of the configuration; the file has the last word, since it may be newer than what was read at start. */
function own(ctx: ModuleContext): PlainDict {
  const text = readText(fileOf(ctx));
  if (text === undefined) return plain(ctx.opts['beacons']);
  const loaded = loadYaml(text);
  return isDict(loaded) ? plain(dictGet(loaded, 'beacons')) : newDict();
}

function configured(ctx: ModuleContext, options: { pillar: boolean; opts: boolean }): PlainDict {
  const fromPillar = options.pillar ? plain(dictGet(ctx.pillar, 'beacons')) : newDict();
  return newDict([...Object.entries(fromPillar), ...(options.opts ? Object.entries(own(ctx)) : [])]);
}

function keep(beacons: PlainDict, ctx: ModuleContext): string {
  const file = fileOf(ctx);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, dumpYaml(newDict([['beacons', beacons]])), { mode: 0o600 });
  return file;
}

/** Settings of a beacon as one map: they may be a list of maps. */
const settings = (beacon: Value | undefined): PlainDict =>
  Array.isArray(beacon) ? newDict(beacon.flatMap((item) => Object.entries(plain(item)))) : plain(beacon);

/** The lines of a configuration, for showing differences. */
const linesOf = (beacon: Value | undefined): string[] =>
  (Array.isArray(beacon) ? beacon : [beacon ?? null]).flatMap((item) =>
    Object.entries(plain(item)).map(([key, value]) => `${key}:${pyStr(value)}\n`),
  );

function switched(name: string, on: boolean, ctx: ModuleContext): PlainDict {
  const beacons = own(ctx);
  if (!(name in beacons)) return answer(false, `Beacon ${name} is not currently configured.`);
  const rest = Object.entries(settings(beacons[name])).filter(([key]) => key !== 'enabled');
  beacons[name] = [...rest, ['enabled', on] as const].map(([key, value]) => newDict([[key, value]]));
  keep(beacons, ctx);
  return answer(true, `${on ? 'Enabled' : 'Disabled'} beacon ${name} on minion.`);
}

const name = p.string({ doc: 'the beacon' });
const beacon_data = p.any({ doc: 'its settings: a list of maps' });
const kwargs = p.kwargs({ doc: 'test: only say what would be done' });
const return_yaml = p.bool({ default: true, doc: 'as text' });
const isTest = (given: PlainDict): boolean => isTruthy(given['test']);

const reading = {
  list: fn({
    doc: 'Configured beacons.',
    examples: ["salt '*' beacons.list"],
    params: {
      return_yaml,
      include_pillar: p.bool({ default: true, doc: 'those of the pillar' }),
      include_opts: p.bool({ default: true, doc: 'those of the configuration' }),
      kwargs,
    },
    run(args, ctx) {
      const beacons = configured(ctx, { pillar: args.include_pillar, opts: args.include_opts });
      return args.return_yaml ? dumpYaml(newDict([['beacons', beacons]])) : beacons;
    },
  }),
  list_available: fn({
    doc: 'Kinds of beacons that can be configured.',
    examples: ["salt '*' beacons.list_available"],
    params: { return_yaml, kwargs },
    run: (args) => (args.return_yaml ? dumpYaml(newDict([['beacons', [...kinds]]])) : [...kinds]),
  }),
};

const writing = {
  add: fn({
    doc: 'Configures a beacon.',
    examples: [`salt '*' beacons.add ps "[{'processes': {'salt-master': 'stopped'}}]"`],
    params: { name, beacon_data, kwargs },
    run({ name, beacon_data: data, kwargs }, ctx) {
      if (name in configured(ctx, { pillar: true, opts: true }))
        return answer(true, `Beacon ${name} is already configured.`);
      const kind = pyStr(settings(data)['beacon_module'] ?? name);
      if (!kinds.includes(kind)) return answer(false, `Beacon "${kind}" is not available.`);
      if (isTest(kwargs)) return answer(true, `Beacon: ${name} would be added.`);
      keep(newDict([...Object.entries(own(ctx)), [name, data]]), ctx);
      return answer(true, `Added beacon: ${name}.`);
    },
  }),
  modify: fn({
    doc: 'Changes the settings of a beacon.',
    examples: [`salt '*' beacons.modify ps "[{'processes': {'salt-master': 'running'}}]"`],
    params: { name, beacon_data, kwargs },
    run({ name, beacon_data: data, kwargs }, ctx) {
      const current = configured(ctx, { pillar: true, opts: true })[name];
      if (current === undefined) return answer(true, `Beacon ${name} is not configured.`);
      if (isTest(kwargs)) return answer(true, `Beacon: ${name} would be modified.`, newDict([['changes', newDict()]]));
      if (pyEquals(current, data)) return answer(true, `Job ${name} in correct state`);
      keep(newDict([...Object.entries(own(ctx)), [name, data]]), ctx);
      const diff = unifiedDiff(linesOf(current), linesOf(data));
      return answer(true, `Modified beacon: ${name}.`, newDict([['changes', newDict([['diff', diff]])]]));
    },
  }),
  delete: fn({
    doc: 'Removes a beacon.',
    examples: ["salt '*' beacons.delete ps"],
    params: { name, kwargs },
    run({ name, kwargs }, ctx) {
      if (isTest(kwargs)) return answer(true, `Beacon: ${name} would be deleted.`);
      const { [name]: gone, ...rest } = own(ctx);
      if (gone === undefined) return answer(false, `Failed to delete beacon ${name}.`);
      keep(newDict(Object.entries(rest)), ctx);
      return answer(true, `Deleted beacon: ${name}.`);
    },
  }),
  reset: fn({
    doc: 'Removes all beacons of the configuration.',
    examples: ["salt '*' beacons.reset"],
    params: { kwargs },
    run({ kwargs }, ctx) {
      if (isTest(kwargs)) return answer(true, 'Beacons would be reset.');
      keep(newDict(), ctx);
      return answer(true, 'Beacon configuration reset.');
    },
  }),
  save: fn({
    doc: 'Writes the configured beacons to a file read at start.',
    examples: ["salt '*' beacons.save"],
    params: { kwargs },
    run: (_, ctx) => answer(true, `Beacons saved to ${keep(own(ctx), ctx)}.`),
  }),
};

const switching = {
  enable: fn({
    doc: 'Lets all beacons work.',
    examples: ["salt '*' beacons.enable"],
    params: { kwargs },
    run({ kwargs }, ctx) {
      if (isTest(kwargs)) return answer(true, 'Beacons would be enabled.');
      keep(newDict([...Object.entries(own(ctx)), ['enabled', true]]), ctx);
      return answer(true, 'Enabled beacons on minion.');
    },
  }),
  disable: fn({
    doc: 'Lets no beacon work.',
    examples: ["salt '*' beacons.disable"],
    params: { kwargs },
    run({ kwargs }, ctx) {
      if (isTest(kwargs)) return answer(true, 'Beacons would be disabled.');
      keep(newDict([...Object.entries(own(ctx)), ['enabled', false]]), ctx);
      return answer(true, 'Disabled beacons on minion.');
    },
  }),
  enable_beacon: fn({
    doc: 'Lets a beacon work.',
    examples: ["salt '*' beacons.enable_beacon ps"],
    params: { name, kwargs },
    run: ({ name, kwargs }, ctx) =>
      isTest(kwargs) ? answer(true, `Beacon ${name} would be enabled.`) : switched(name, true, ctx),
  }),
  disable_beacon: fn({
    doc: 'Lets a beacon work no longer.',
    examples: ["salt '*' beacons.disable_beacon ps"],
    params: { name, kwargs },
    run: ({ name, kwargs }, ctx) =>
      isTest(kwargs) ? answer(true, `Beacon ${name} would be disabled.`) : switched(name, false, ctx),
  }),
};

export default defineModule({
  name: 'beacons',
  doc: 'Which beacons are configured.',
  functions: { ...reading, ...writing, ...switching },
});
