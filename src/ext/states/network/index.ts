// State module `network`: interfaces, their routes, and settings of the whole machine.
import {
  defineState,
  listTexts,
  messageOf,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { unifiedDiff } from 'halite/sdk/text';

const kwargs = p.kwargs({ doc: 'settings' });
const same = (a: readonly string[], b: readonly string[]): boolean => a.join('\0') === b.join('\0');

/** The difference as Salt joins it. */
function diffOf(old: readonly string[], now: readonly string[]): string {
  return unifiedDiff([...old], [...now])
    .split(/(?<=\n)/)
    .map((line, at) => (at < 3 ? line.replace(/\n$/, '') : line))
    .join('\n');
}

interface Words {
  /** Nothing to do. */
  readonly fine: string;
  readonly toAdd: string;
  readonly toUpdate: string;
  readonly added: string;
  readonly updated: string;
  /** Key and text in the changes when nothing existed before. */
  readonly key: string;
  readonly first: string;
}

/**
 * Compares lines before and after, and builds the result of a change; undefined when they are equal. (The functions that
 * returned the lines have already written them, unless it is a test.)
 */
async function compared(
  [old, now]: [string[], string[]],
  words: Words,
  ctx: StateContext,
  followUp: () => unknown = () => undefined,
): Promise<StateResult | undefined> {
  if (same(old, now)) return undefined;
  const isNew = old.length === 0 && now.length > 0;
  const changes = newDict([[words.key, isNew ? words.first : diffOf(old, now)]]);
  return ctx.change(changes, isNew ? words.added : words.updated, {
    test: isNew ? words.toAdd : `${words.toUpdate}:\n${diffOf(old, now)}`,
    testChanges: newDict(),
    apply: followUp,
  });
}

/** Whether an interface, or an address with this label, is up. */
async function isUp(name: string, ctx: StateContext): Promise<boolean> {
  const all = textKeyed(await ctx.call('network.interfaces'));
  if (name in all) return Boolean(textKeyed(all[name])['up']);
  return Object.values(all).some((found) =>
    ['secondary', 'inet', 'inet6'].some((key) => {
      const list = textKeyed(found)[key];
      return Array.isArray(list) && list.some((item) => textKeyed(item)['label'] === name);
    }),
  );
}

async function switchOver(name: string, type: string, enabled: boolean, done: StateResult, ctx: StateContext) {
  const up = await isUp(name, ctx);
  const changes = done.changes as PlainDict;
  if (enabled && up && Object.keys(changes).length > 0) {
    await ctx.call('ip.down', name, type);
    await ctx.call('ip.up', name, type);
    changes['status'] = `Interface ${name} restart to validate`;
  } else if (enabled && !up) {
    await ctx.call('ip.up', name, type);
    changes['status'] = `Interface ${name} is up`;
  } else if (!enabled && up) {
    await ctx.call('ip.down', name, type);
    changes['status'] = `Interface ${name} down`;
  }
  if (!(enabled && up)) await ctx.call('saltutil.refresh_grains');
}

const interfaceWords = (kind: string, name: string): Words => ({
  fine: `Interface ${name} is up to date.`,
  toAdd: `${kind} ${name} is set to be added.`,
  toUpdate: `${kind} ${name} is set to be updated`,
  added: `${kind} ${name} added.`,
  updated: `${kind} ${name} updated.`,
  key: kind === 'Interface' ? 'interface' : 'bond',
  first: kind === 'Interface' ? 'Added network interface.' : `Added bond ${name}.`,
});

/** Adds one result to another: changes together, the later comment. */
function joined(first: StateResult, second: StateResult | undefined): StateResult {
  if (!second) return first;
  const changes = newDict([...Object.entries(textKeyed(first.changes)), ...Object.entries(textKeyed(second.changes))]);
  return Object.assign(second, { changes });
}

const managed = state({
  doc: 'An interface with its configuration.',
  examples: [
    'eth0:\n  network.managed:\n    - type: eth\n    - proto: static\n    - ipaddr: 10.0.0.5\n    - netmask: 24',
  ],
  params: {
    name: p.string({ doc: 'the interface' }),
    enabled: p.bool({ default: true, doc: 'up, also at boot' }),
    type: p.string({ default: 'eth', doc: 'eth, bond, bridge, slave, vlan or source' }),
    noifupdown: p.scalar({ default: null, doc: 'neither start nor stop it' }),
    kwargs,
  },
  async run({ name, enabled, type, noifupdown, kwargs }, ctx) {
    const { addr, ...rest } = kwargs;
    // The functions of `ip` have a test mode of their own.
    const given = newDict([...Object.entries(rest), ['test', ctx.test]]);
    if (addr !== undefined) given['hwaddr'] ??= addr;
    try {
      const old = listTexts(await ctx.call('ip.get_interface', name));
      const now = listTexts(await ctx.callWith('ip.build_interface', [name, type, enabled], given));
      const words = interfaceWords('Interface', name);
      let done = (await compared([old, now], words, ctx)) ?? ctx.ok(words.fine);
      if (type === 'source') return done;
      if (type === 'bond') {
        const before = listTexts(await ctx.call('ip.get_bond', name));
        const after = listTexts(await ctx.callWith('ip.build_bond', [name], given));
        done = joined(done, await compared([before, after], interfaceWords('Bond interface', name), ctx));
      }
      // Interfaces are switched over whatever differs, and nothing is said of it under test.
      if (!ctx.test && noifupdown === null) await switchOver(name, type, enabled, done, ctx);
      return done;
    } catch (error) {
      return ctx.fail(messageOf(error));
    }
  },
});

const routes = state({
  doc: 'Routes of an interface.',
  examples: [
    'eth0:\n  network.routes:\n    - routes:\n      - ipaddr: 10.1.0.0\n        netmask: 16\n        gateway: 10.0.0.1',
  ],
  params: { name: p.string({ doc: 'the interface' }), kwargs },
  async run({ name, kwargs }, ctx) {
    const words: Words = {
      fine: `Interface ${name} routes are up to date.`,
      toAdd: `Interface ${name} routes are set to be added.`,
      toUpdate: `Interface ${name} routes are set to be updated`,
      added: `Interface ${name} routes added.`,
      updated: `Interface ${name} routes updated.`,
      key: 'network_routes',
      first: `Added interface ${name} routes.`,
    };
    return settings(words, ['ip.get_routes', 'ip.build_routes'], [name], kwargs, ctx);
  },
});

/** Writes settings and applies them when they changed. */
async function settings(
  words: Words,
  functions: readonly [get: string, build: string],
  args: Value[],
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<StateResult> {
  // The functions of `ip` have a test mode of their own.
  const given = (): PlainDict => newDict([...Object.entries(kwargs), ['test', ctx.test]]);
  try {
    const old = listTexts(await ctx.call(functions[0], ...args));
    const now = listTexts(await ctx.callWith(functions[1], args, given()));
    const done = await compared([old, now], words, ctx, () => ctx.callWith('ip.apply_network_settings', [], given()));
    return done ?? ctx.ok(words.fine);
  } catch (error) {
    return ctx.fail(messageOf(error));
  }
}

const system = state({
  doc: 'Settings of the whole machine.',
  examples: [
    'system:\n  network.system:\n    - enabled: true\n    - hostname: web1.example.com\n    - apply_hostname: true',
  ],
  params: { name: p.string({ doc: 'a name' }), kwargs },
  run({ kwargs }, ctx) {
    const fine = 'Global network settings are up to date.';
    const words: Words = {
      fine,
      toAdd: 'Global network settings are set to be added.',
      toUpdate: 'Global network settings are set to be updated',
      added: fine,
      updated: fine,
      key: 'network_settings',
      first: 'Added global network settings.',
    };
    return settings(words, ['ip.get_network_settings', 'ip.build_network_settings'], [], kwargs, ctx);
  },
});

export default defineState({
  name: 'network',
  doc: 'Interfaces, their routes, and settings of the whole machine.',
  available: needsFunction('ip.get_interface', 'ip module could not be loaded'),
  functions: { managed, routes, system },
});
