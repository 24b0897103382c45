// `firewalld.present`: a zone with all its settings.
import {
  type ArgsOf,
  type ChangeSet,
  changeSet,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { readable } from '../shared/calls.ts';

const prune = p.bool({ default: false, doc: 'remove those that are not named' });
const params = {
  name: p.string({ doc: 'the zone' }),
  block_icmp: p.oneOf(['list', 'string'], { default: null, doc: 'kinds of ICMP messages to block' }),
  prune_block_icmp: prune,
  default: p.oneOf(['list', 'string'], { default: null, doc: 'make it the default zone' }),
  masquerade: p.bool({ default: false, doc: 'enable masquerading' }),
  ports: p.oneOf(['list', 'string'], { default: null, doc: 'ports with protocol: 22/tcp' }),
  prune_ports: prune,
  port_fwd: p.oneOf(['list', 'string'], { default: null, doc: 'ports to forward: port:toport:protocol[:address]' }),
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

/** One kind of setting of a zone. */
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

async function bring(kind: Kind, set: ChangeSet): Promise<void> {
  if (kind.wanted.length === 0 && !kind.prune) return;
  const current = await kind.current();
  const fresh = kind.wanted.filter((item) => !includes(current, item));
  const stale = kind.prune ? current.filter((item) => !includes(kind.wanted, item)) : [];
  for (const item of fresh) await set.part({ change: () => kind.add(item) });
  for (const item of stale) await set.part({ change: () => kind.remove(item) });
  if (fresh.length === 0 && stale.length === 0) return;
  set.changes[kind.key] = { old: current, new: kind.prune ? [...kind.wanted] : [...current, ...fresh] };
}

const givenList = (value: Value): Value[] => (Array.isArray(value) ? value : value ? [value] : []);

/** `port:toport:protocol[:address]`, with the keys of firewalld.list_port_fwd. */
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
  const parts = textKeyed(item);
  return ['Source port', 'Destination port', 'Protocol', 'Destination address'].map((key) => parts[key] ?? '');
};

async function validIcmp(args: Args, ctx: StateContext): Promise<Value[]> {
  const asked = givenList(args.block_icmp);
  if (asked.length === 0) return [];
  const known = givenList(await ctx.callWith('firewalld.get_icmp_types', [], newDict([['permanent', true]])));
  for (const item of asked) if (!includes(known, item)) ctx.log.error(`${pyStr(item)} is an invalid ICMP type`);
  return asked.filter((item) => includes(known, item));
}

type Further = readonly (readonly [string, Value])[];
const unforced: Further = [['force_masquerade', false]];

/** Kinds whose functions take the zone and the value: key, argument and the functions that list, add and remove. */
const simple = [
  ['icmp_types', 'block_icmp', ['list_icmp_block', 'block_icmp', 'allow_icmp']],
  ['ports', 'ports', ['list_ports', 'add_port', 'remove_port']],
  ['port_fwd', 'port_fwd', ['list_port_fwd', 'add_port_fwd', 'remove_port_fwd']],
  ['services', 'services', ['list_services', 'add_service', 'remove_service']],
  ['interfaces', 'interfaces', ['get_interfaces', 'add_interface', 'remove_interface']],
  ['sources', 'sources', ['get_sources', 'add_source', 'remove_source']],
  ['rich_rules', 'rich_rules', ['get_rich_rules', 'add_rich_rule', 'remove_rich_rule']],
] as const;

/** All kinds, in Salt's order. */
function kinds(args: Args, icmp: readonly Value[], isThere: boolean, ctx: StateContext): Kind[] {
  const zone = args.name;
  const call = (fun: string, items: readonly Value[], more: Further = []): Promise<Value> =>
    ctx.callWith(`firewalld.${fun}`, items, newDict([['permanent', true], ...more]));
  return simple.map(([key, argument, [list, add, remove]]) => {
    const given = givenList(args[argument]);
    // The functions for services have the zone as second argument, and forwarded ports have several parts.
    const place = (item: Value): Value[] =>
      key === 'services' ? [item, zone] : key === 'port_fwd' ? [zone, ...forwardArguments(item)] : [zone, item];
    const more = key === 'ports' || key === 'port_fwd' ? unforced : [];
    return {
      key,
      wanted: key === 'icmp_types' ? icmp : key === 'port_fwd' ? given.map(forward) : given,
      prune: args[`prune_${argument}`],
      current: async () => (isThere ? givenList(await call(list, [zone])) : []),
      add: (item) => call(add, place(item), more),
      remove: (item) => call(remove, place(item)),
    };
  });
}

async function bringMasquerade(args: Args, isThere: boolean, set: ChangeSet, ctx: StateContext): Promise<void> {
  const lasting = newDict([['permanent', true]]);
  const now = isThere && Boolean(await ctx.callWith('firewalld.get_masquerade', [args.name], lasting));
  if (now === args.masquerade) return;
  const fun = args.masquerade ? 'firewalld.add_masquerade' : 'firewalld.remove_masquerade';
  await set.part({
    changes: { masquerade: { old: '', new: `Masquerading successfully ${args.masquerade ? 'set' : 'disabled'}.` } },
    change: () => ctx.callWith(fun, [args.name], lasting),
  });
}

async function bringAll(args: Args, set: ChangeSet, ctx: StateContext): Promise<void> {
  const { name } = args;
  const zones = givenList(await ctx.callWith('firewalld.get_zones', [], newDict([['permanent', true]])));
  const known = includes(zones, name);
  if (!known)
    await set.part({
      changes: { [name]: { old: zones, new: name } },
      change: () => ctx.call('firewalld.new_zone', name),
    });
  // Under test a new zone does not exist yet and cannot be queried.
  const isThere = known || !ctx.test;
  const [icmp, ...others] = kinds(args, await validIcmp(args, ctx), isThere, ctx);
  if (icmp) await bring(icmp, set);
  const old = args.default ? await ctx.call('firewalld.default_zone') : name;
  if (old !== name)
    await set.part({
      changes: { default: { old, new: name } },
      change: () => ctx.call('firewalld.set_default_zone', name),
    });
  await bringMasquerade(args, isThere, set, ctx);
  for (const kind of others) await bring(kind, set);
}

export const zonePresent = state({
  doc: 'A zone with its services, ports, forwardings and blocks.',
  examples: [
    'public:\n  firewalld.present:\n    - services: [ssh]\n    - ports: [8080/tcp]\n    - prune_services: true',
  ],
  params,
  run: (args, ctx) =>
    changeSet(ctx, {
      async each(set) {
        try {
          await bringAll(args, set, ctx);
        } finally {
          if (set.isChanged) await set.run(() => ctx.call('firewalld.reload_rules'));
        }
      },
      right: `'${args.name}' is already in the desired state.`,
      would: (changes) => `Configuration for '${args.name}' will change:\n${readable(changes)}`,
      done: `'${args.name}' was configured.`,
      hidden: true,
      error: (message) => `Error: ${message}`,
    }),
});
