// State module `openvswitch_port`: ports and tunnels of a virtual switch.
import {
  type ArgsOf,
  defineState,
  isDict,
  isTruthy,
  listTexts,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  pythonError,
  resource,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';

const name = p.string({ doc: 'the port' });
const params = {
  name,
  bridge: p.string({ doc: 'its bridge' }),
  tunnel_type: p.scalar({ default: null, doc: 'vlan, vxlan or gre' }),
  id: p.scalar({ default: null, doc: 'the VLAN, or key of the tunnel' }),
  remote: p.scalar({ default: null, doc: 'address of the other end' }),
  dst_port: p.scalar({ default: null, doc: 'port of the other end' }),
  internal: p.bool({ default: false, doc: 'an internal interface' }),
};
type Args = ArgsOf<typeof params>;

const change = (port: string, before: string, after: string): PlainDict =>
  newDict([[port, newDict(Object.entries({ old: before, new: after }))]]);

/** The texts and functions of one kind of port. */
interface Plan {
  /** Why it is impossible, or that it is already done. */
  check(): Promise<StateResult | undefined>;
  readonly created: string;
  readonly notCreated: string;
  readonly changes: PlainDict;
  create(): Promise<Value>;
}

function vlanPlan(args: Args, ports: readonly string[], ctx: StateContext): Plan {
  const { name: port, bridge, id, internal } = args;
  const what = `port ${port} with access to VLAN ${pyStr(id)}`;
  return {
    async check() {
      const tag = listTexts(await ctx.call('openvswitch.port_get_tag', port));
      const interfaces = await ctx.call('network.interfaces');
      if (Number(id) < 0 || Number(id) > 4095) return ctx.fail('VLANs id must be between 0 and 4095.');
      if (!internal && !(isDict(interfaces) && Object.keys(interfaces).includes(port)))
        return ctx.fail(`Could not find network interface ${port}.`);
      if (ports.includes(port) && tag.length > 0 && Number(tag[0]) === id)
        return ctx.ok(`Port ${port} with access to VLAN ${pyStr(id)} already exists on bridge ${bridge}.`);
      return undefined;
    },
    created: `Created ${what} on bridge ${bridge}.`,
    notCreated: `Unable to create ${what} on bridge ${bridge}.`,
    changes: change(
      port,
      `No port named ${port} with access to VLAN ${pyStr(id)} present on bridge ${bridge} present.`,
      `Created ${what} on bridge ${bridge}.`,
    ),
    create: () => ctx.call('openvswitch.port_create_vlan', bridge, port, id, internal),
  };
}

function tunnelPlan(args: Args, kind: 'gre' | 'vxlan', ports: readonly string[], ctx: StateContext): Plan {
  const { name: port, bridge, id, remote } = args;
  const [word, bits] = kind === 'gre' ? ['GRE', 32] : ['VXLAN', 64];
  const to = Number(args.dst_port ?? 0);
  const withPort = kind === 'vxlan' && to > 0 && to <= 65535;
  const end = `${bridge}${withPort ? ` (dst_port${to})` : ''}`;
  const what = `${word} tunnel interface ${port} with remote ip ${pyStr(remote)} and key ${pyStr(id)} on bridge ${end}`;
  return {
    async check() {
      const options = listTexts(await ctx.call('openvswitch.interface_get_options', port));
      const type = listTexts(await ctx.call('openvswitch.interface_get_type', port));
      if (Number(id) < 0 || Number(id) > 2 ** bits)
        return ctx.fail(`Id of ${word} tunnel must be an unsigned ${bits}-bit integer.`);
      if (!(await ctx.call('dig.check_ip', remote))) return ctx.fail('Remote is not valid ip address.');
      const wanted = `{${withPort ? `dst_port="${to}", ` : ''}key="${pyStr(id)}", remote_ip="${pyStr(remote)}"}`;
      if (ports.includes(port) && type[0] === kind && options[0] === wanted)
        return ctx.ok(
          `${word} tunnel interface ${port} with rempte ip ${pyStr(remote)} and key ${pyStr(id)} already exists on bridge ${end}.`,
        );
      return undefined;
    },
    // Two spaces, as in Salt's text.
    created: `Created ${what.replace(' and key', '  and key')}.`,
    notCreated: `Unable to create ${what}.`,
    changes: change(port, `No ${what} present.`, `Created ${what}.`),
    create: () =>
      kind === 'gre'
        ? ctx.call('openvswitch.port_create_gre', bridge, port, id, remote)
        : ctx.call('openvswitch.port_create_vxlan', bridge, port, id, remote, args.dst_port),
  };
}

function plainPlan({ name: port, bridge, internal }: Args, ctx: StateContext): Plan {
  return {
    check: async () => undefined,
    created: `Port ${port} created on bridge ${bridge}.`,
    notCreated: `Unable to create port ${port} on bridge ${bridge}.`,
    changes: change(port, `No port named ${port} present.`, `Created port ${port} on bridge ${bridge}.`),
    create: () => ctx.callWith('openvswitch.port_add', [bridge, port], { internal }),
  };
}

/** An existing port, which may have to become an internal port. */
async function existing({ name: port, bridge, internal }: Args, ctx: StateContext): Promise<StateResult> {
  const type = listTexts(await ctx.call('openvswitch.interface_get_type', port));
  if (!internal || (type.length === 1 && type[0] === 'internal')) return ctx.ok(`Port ${port} already exists.`);
  const done = `Port ${port} already exists, but interface type has been changed to internal.`;
  // Under test Salt reports this change as if nothing had to be done.
  const foreseen = (): StateResult => ctx.ok(done);
  return withForecast(ctx, foreseen, async () => {
    if (!(await ctx.callWith('openvswitch.port_add', [bridge, port], { may_exist: true, internal })))
      return ctx.fail(`Port ${port} already exists, but the interface type could not be changed to internal.`);
    return ctx.ok(done, { changes: newDict([['internal', { old: false, new: true }]]) });
  });
}

const present = state({
  doc: 'A port of a bridge, or a tunnel.',
  examples: ['eth1:\n  openvswitch_port.present:\n    - bridge: br0'],
  params,
  async run(args, ctx) {
    const kind = args.tunnel_type;
    if (kind && !['vlan', 'vxlan', 'gre'].includes(pyStr(kind)))
      throw pythonError(
        'TypeError',
        "The optional type argument must be one of these values: ('vlan', 'vxlan', 'gre').",
      );
    if (!isTruthy(await ctx.call('openvswitch.bridge_exists', args.bridge)))
      // Under test an earlier state may create it.
      return ctx.result({ result: ctx.test ? null : false, comment: `Bridge ${args.bridge} does not exist.` });
    const ports = listTexts(await ctx.call('openvswitch.port_list', args.bridge));
    if (!kind && ports.includes(args.name)) return existing(args, ctx);
    const plan =
      kind === 'vlan'
        ? vlanPlan(args, ports, ctx)
        : kind === 'gre' || kind === 'vxlan'
          ? tunnelPlan(args, kind, ports, ctx)
          : plainPlan(args, ctx);
    const settled = await plan.check();
    if (settled) return settled;
    return resource(ctx, {
      change: plan.create,
      changes: () => plan.changes,
      would: plan.created,
      done: plan.created,
      failed: plan.notCreated,
    });
  },
});

const absent = state({
  doc: 'A port that must not exist.',
  examples: ['eth1:\n  openvswitch_port.absent:\n    - bridge: br0'],
  params: { name, bridge: p.scalar({ default: null, doc: 'its bridge; any otherwise' }) },
  async run({ name: port, bridge }, ctx) {
    if (bridge && !isTruthy(await ctx.call('openvswitch.bridge_exists', bridge)))
      return ctx.result({ result: ctx.test ? null : false, comment: `Bridge ${pyStr(bridge)} does not exist.` });
    if (bridge && !listTexts(await ctx.call('openvswitch.port_list', bridge)).includes(port))
      return ctx.ok(`Port ${port} does not exist on bridge ${pyStr(bridge)}.`);
    return resource(ctx, {
      change: () => ctx.callWith('openvswitch.port_remove', [], { br: bridge || null, port }),
      changes: () => change(port, `Port named ${port} may exist.`, `Deleted port ${port}.`),
      would: `Port ${port} deleted.`,
      done: `Port ${port} deleted.`,
      failed: `Unable to delete port ${port}.`,
    });
  },
});

export default defineState({
  name: 'openvswitch_port',
  doc: 'Ports and tunnels of a virtual switch.',
  available: needsFunction('openvswitch.port_add', 'openvswitch module could not be loaded'),
  functions: { present, absent },
});
