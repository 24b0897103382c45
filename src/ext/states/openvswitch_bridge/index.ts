// State module `openvswitch_bridge`: bridges of a virtual switch.
import { defineState, isTruthy, needsFunction, newDict, p, state, type Value } from 'halite/sdk';

const name = p.string({ doc: 'the bridge' });
const change = (bridge: string, before: string, after: string) =>
  newDict([[bridge, newDict(Object.entries({ old: before, new: after }))]]);

const present = state({
  doc: 'A bridge, or a part of one for a VLAN.',
  examples: ['br0:\n  openvswitch_bridge.present'],
  params: {
    name,
    parent: p.any({ default: null, doc: 'the bridge it is a part of' }),
    vlan: p.any({ default: null, doc: 'the VLAN' }),
  },
  async run(args, ctx) {
    const { name: bridge, parent, vlan } = args;
    if (isTruthy(await ctx.call('openvswitch.bridge_exists', bridge))) {
      const orNone = (value: Value, none: Value): Value => (value === none ? null : value);
      const above = orNone(await ctx.call('openvswitch.bridge_to_parent', bridge), bridge);
      const tag = orNone(await ctx.call('openvswitch.bridge_to_vlan', bridge), 0);
      return above === parent && tag === vlan
        ? ctx.ok(`Bridge ${bridge} already exists.`)
        : ctx.fail(`Bridge ${bridge} already exists, but has a different parent or VLAN ID.`);
    }
    const changes = change(bridge, `Bridge ${bridge} does not exist.`, `Bridge ${bridge} created`);
    return ctx.change(changes, `Bridge ${bridge} created.`, {
      test: `Bridge ${bridge} created.`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.callWith('openvswitch.bridge_create', [bridge], { parent, vlan }))
          ? undefined
          : ctx.fail(`Unable to create bridge: ${bridge}.`),
    });
  },
});

const absent = state({
  doc: 'A bridge that shall not be there.',
  examples: ['br0:\n  openvswitch_bridge.absent'],
  params: { name },
  async run({ name: bridge }, ctx) {
    if (!isTruthy(await ctx.call('openvswitch.bridge_exists', bridge)))
      return ctx.ok(`Bridge ${bridge} does not exist.`);
    const changes = change(bridge, `Bridge ${bridge} exists.`, `Bridge ${bridge} deleted.`);
    return ctx.change(changes, `Bridge ${bridge} deleted.`, {
      test: `Bridge ${bridge} deleted.`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.call('openvswitch.bridge_delete', bridge))
          ? undefined
          : ctx.fail(`Unable to delete bridge: ${bridge}.`),
    });
  },
});

export default defineState({
  name: 'openvswitch_bridge',
  doc: 'Bridges of a virtual switch.',
  available: needsFunction('openvswitch.bridge_create', 'openvswitch module could not be loaded'),
  functions: { present, absent },
});
