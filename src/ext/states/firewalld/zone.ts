// `firewalld.present`: a zone with all that it lets in, passes on and blocks.
import {
  type ArgsOf,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { isExpected, plain, readable } from '../shared/calls.ts';

const prune = p.bool({ default: false, doc: 'remove those that are not named' });
const params = {
  name: p.string({ doc: 'the zone' }),
  block_icmp: p.oneOf(['list', 'string'], { default: null, doc: 'kinds of ICMP messages to block' }),
  prune_block_icmp: prune,
  default: p.oneOf(['list', 'string'], { default: null, doc: 'make it the default zone' }),
  masquerade: p.bool({ default: false, doc: 'hide the addresses behind it' }),
  ports: p.oneOf(['list', 'string'], { default: null, doc: 'ports with protocol: 22/tcp' }),
  prune_ports: prune,
  port_fwd: p.oneOf(['list', 'string'], { default: null, doc: 'ports to pass on: here:there:protocol[:address]' }),
  prune_port_fwd: prune,
  services: p.oneOf(['list', 'string'], { default: null, doc: 'services' }),
  prune_services: prune,
  interfaces: p.oneOf(['list', 'string'], { default: null, doc: 'interfaces' }),
  prune_interfaces: prune,
  sources: p.oneOf(['list', 'string'], { default: null, doc: 'source addresses' }),
  prune_sources: prune,
  rich_rules: p.oneOf(['list', 'string'], { default: null, doc: 'rules in the rich language' }),
  prune_rich_rules: prune,
};
type Args = ArgsOf<typeof params>;

/** One kind of thing a zone has several of. */
interface Kind {
  /** Key in the changes. */
  readonly key: string;
  readonly wanted: readonly Value[];
  readonly prune: boolean;
  current(): Promise<Value[]>;
  add(item: Value): Promise<Value>;
  remove(item: Value): Promise<Value>;
}

const includes = (items: readonly Value[], item: Value): boolean => items.some((other) => pyEquals(other, item));

async function bring(kind: Kind, changes: PlainDict, ctx: StateContext): Promise<void> {
  if (kind.wanted.length === 0 && !kind.prune) return;
  const current = await kind.current();
  const fresh = kind.wanted.filter((item) => !includes(current, item));
  const stale = kind.prune ? current.filter((item) => !includes(kind.wanted, item)) : [];
  if (!ctx.test) {
    for (const item of fresh) await kind.add(item);
    for (const item of stale) await kind.remove(item);
  }
  if (fresh.length === 0 && stale.length === 0) return;
  const now = kind.prune ? [...kind.wanted] : [...current, ...fresh];
  changes[kind.key] = newDict(Object.entries({ old: current, new: now }));
}

const asList = (value: Value): Value[] => (Array.isArray(value) ? value : value ? [value] : []);

/** `here:there:protocol[:address]` as firewalld.list_port_fwd names the parts. */
function forward(mapping: Value): PlainDict {
  const [source = '', destination = '', protocol = '', address = ''] = pyStr(mapping).split(':');
  return newDict(
    Object.entries({
      'Source port': source,
      'Destination port': destination,
      Protocol: protocol,
      'Destination address': address,
    }),
  );
}

const forwardArguments = (item: Value): Value[] => {
  const parts = plain(item);
  return ['Source port', 'Destination port', 'Protocol', 'Destination address'].map((key) => parts[key] ?? '');
};

async function validIcmp(args: Args, ctx: StateContext): Promise<Value[]> {
  const asked = asList(args.block_icmp);
  if (asked.length === 0) return [];
  const known = asList(await ctx.callWith('firewalld.get_icmp_types', [], newDict([['permanent', true]])));
  for (const item of asked) if (!includes(known, item)) ctx.log.error(`${pyStr(item)} is an invalid ICMP type`);
  return asked.filter((item) => includes(known, item));
}

type Further = readonly (readonly [string, Value])[];
const unforced: Further = [['force_masquerade', false]];

/** Kinds whose functions take the zone and the thing: key, argument and the functions that list, add and remove. */
const simple = [
  ['icmp_types', 'block_icmp', ['list_icmp_block', 'block_icmp', 'allow_icmp']],
  ['ports', 'ports', ['list_ports', 'add_port', 'remove_port']],
  ['port_fwd', 'port_fwd', ['list_port_fwd', 'add_port_fwd', 'remove_port_fwd']],
  ['services', 'services', ['list_services', 'add_service', 'remove_service']],
  ['interfaces', 'interfaces', ['get_interfaces', 'add_interface', 'remove_interface']],
  ['sources', 'sources', ['get_sources', 'add_source', 'remove_source']],
  ['rich_rules', 'rich_rules', ['get_rich_rules', 'add_rich_rule', 'remove_rich_rule']],
] as const;

/** All kinds, in the order Salt goes through them. */
function kinds(args: Args, icmp: readonly Value[], isThere: boolean, ctx: StateContext): Kind[] {
  const zone = args.name;
  const call = (fun: string, items: readonly Value[], more: Further = []): Promise<Value> =>
    ctx.callWith(`firewalld.${fun}`, items, newDict([['permanent', true], ...more]));
  return simple.map(([key, argument, [list, add, remove]]) => {
    const given = asList(args[argument]);
    // Services are named before the zone, and forwarded ports have several parts.
    const place = (item: Value): Value[] =>
      key === 'services' ? [item, zone] : key === 'port_fwd' ? [zone, ...forwardArguments(item)] : [zone, item];
    const more = key === 'ports' || key === 'port_fwd' ? unforced : [];
    return {
      key,
      wanted: key === 'icmp_types' ? icmp : key === 'port_fwd' ? given.map(forward) : given,
      prune: args[`prune_${argument}`],
      current: async () => (isThere ? asList(await call(list, [zone])) : []),
      add: (item) => call(add, place(item), more),
      remove: (item) => call(remove, place(item)),
    };
  });
}

async function bringMasquerade(args: Args, isThere: boolean, changes: PlainDict, ctx: StateContext): Promise<void> {
  const lasting = newDict([['permanent', true]]);
  const now = isThere && Boolean(await ctx.callWith('firewalld.get_masquerade', [args.name], lasting));
  if (now === args.masquerade) return;
  const fun = args.masquerade ? 'firewalld.add_masquerade' : 'firewalld.remove_masquerade';
  if (!ctx.test) await ctx.callWith(fun, [args.name], newDict([['permanent', true]]));
  const done = `Masquerading successfully ${args.masquerade ? 'set' : 'disabled'}.`;
  changes['masquerade'] = newDict(Object.entries({ old: '', new: done }));
}

async function bringAll(args: Args, changes: PlainDict, ctx: StateContext): Promise<void> {
  const { name } = args;
  const zones = asList(await ctx.callWith('firewalld.get_zones', [], newDict([['permanent', true]])));
  const known = includes(zones, name);
  if (!known) {
    if (!ctx.test) await ctx.call('firewalld.new_zone', name);
    changes[name] = newDict(Object.entries({ old: zones, new: name }));
  }
  const isThere = known || !ctx.test;
  const [icmp, ...others] = kinds(args, await validIcmp(args, ctx), isThere, ctx);
  if (icmp) await bring(icmp, changes, ctx);
  if (args.default) {
    const old = await ctx.call('firewalld.default_zone');
    if (old !== name) {
      if (!ctx.test) await ctx.call('firewalld.set_default_zone', name);
      changes['default'] = newDict(Object.entries({ old, new: name }));
    }
  }
  await bringMasquerade(args, isThere, changes, ctx);
  for (const kind of others) await bring(kind, changes, ctx);
}

export const zonePresent = state({
  doc: 'A zone with all that it lets in, passes on and blocks.',
  examples: [
    'public:\n  firewalld.present:\n    - services: [ssh]\n    - ports: [8080/tcp]\n    - prune_services: true',
  ],
  params,
  async run(args, ctx): Promise<StateResult> {
    const changes = newDict();
    let failure: string | undefined;
    try {
      await bringAll(args, changes, ctx);
    } catch (error) {
      if (!isExpected(error)) throw error;
      failure = `Error: ${messageOf(error)}`;
    }
    const any = Object.keys(changes).length > 0;
    if (any && !ctx.test) await ctx.call('firewalld.reload_rules');
    if (failure !== undefined) return ctx.fail(failure, { changes });
    if (!any) return ctx.ok(`'${args.name}' is already in the desired state.`);
    if (!ctx.test) return ctx.ok(`'${args.name}' was configured.`, { changes });
    return ctx.result({
      result: null,
      comment: `Configuration for '${args.name}' will change:\n${readable(changes)}`,
    });
  },
});
