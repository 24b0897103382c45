// State module `openvswitch_bridge`: bridges of a virtual switch.
import { defineState, isTruthy, needsFunction, newDict, p, resource, state, type Value } from 'halite/sdk';

const name = p.string({ doc: 'the bridge' });
const change = (bridge: string, before: string, after: string) =>
  newDict([[bridge, newDict(Object.entries({ old: before, new: after }))]]);

const present = state({
  doc: 'A bridge, or a fake bridge for a VLAN.',
  examples: ['br0:\n  openvswitch_bridge.present'],
  params: {
    name,
    parent: p.scalar({ default: null, doc: 'the parent bridge' }),
    vlan: p.scalar({ default: null, doc: 'the VLAN' }),
  },
  run({ name: bridge, parent, vlan }, ctx) {
    const orNone = (value: Value, none: Value): Value => (value === none ? null : value);
    return resource(ctx, {
      async find() {
        if (!isTruthy(await ctx.call('openvswitch.bridge_exists', bridge))) return undefined;
        const above = orNone(await ctx.call('openvswitch.bridge_to_parent', bridge), bridge);
        const tag = orNone(await ctx.call('openvswitch.bridge_to_vlan', bridge), 0);
        return above === parent && tag === vlan ? 'as wanted' : 'other';
      },
      refuse: (found) =>
        found === 'other' ? `Bridge ${bridge} already exists, but has a different parent or VLAN ID.` : undefined,
      change: () => ctx.callWith('openvswitch.bridge_create', [bridge], { parent, vlan }),
      changes: () => change(bridge, `Bridge ${bridge} does not exist.`, `Bridge ${bridge} created`),
      right: `Bridge ${bridge} already exists.`,
      would: `Bridge ${bridge} created.`,
      done: `Bridge ${bridge} created.`,
      failed: `Unable to create bridge: ${bridge}.`,
    });
  },
});

const absent = state({
  doc: 'A bridge that must not exist.',
  examples: ['br0:\n  openvswitch_bridge.absent'],
  params: { name },
  run: ({ name: bridge }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('openvswitch.bridge_exists', bridge),
      wanted: false,
      change: () => ctx.call('openvswitch.bridge_delete', bridge),
      changes: () => change(bridge, `Bridge ${bridge} exists.`, `Bridge ${bridge} deleted.`),
      right: `Bridge ${bridge} does not exist.`,
      would: `Bridge ${bridge} deleted.`,
      done: `Bridge ${bridge} deleted.`,
      failed: `Unable to delete bridge: ${bridge}.`,
    }),
});

export default defineState({
  name: 'openvswitch_bridge',
  doc: 'Bridges of a virtual switch.',
  available: needsFunction('openvswitch.bridge_create', 'openvswitch module could not be loaded'),
  functions: { present, absent },
});
