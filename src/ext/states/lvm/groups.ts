// `lvm.pv_*` and `lvm.vg_*`: physical volumes and the groups they form.
import {
  changeSet,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { realpathSync } from 'halite/sdk/fs';

const quiet = (): PlainDict => newDict([['quiet', true]]);
const kwargs = p.kwargs({ doc: 'further options of the tool' });

export const physicalPresent = state({
  doc: 'A device that is a physical volume.',
  examples: ['/dev/sdb1:\n  lvm.pv_present'],
  params: { name: p.path({ doc: 'the device' }), kwargs },
  run: ({ name, kwargs }, ctx) =>
    resource(ctx, {
      find: (again) => ctx.callWith('lvm.pvdisplay', [name], again ? {} : quiet()),
      change: () => ctx.callWith('lvm.pvcreate', [name], kwargs),
      recheck: true,
      changes: ({ answer }) => ({ created: answer }),
      right: `Physical Volume ${name} already present`,
      would: `Physical Volume ${name} is set to be created`,
      done: `Created Physical Volume ${name}`,
      failed: `Failed to create Physical Volume ${name}`,
    }),
});

export const physicalAbsent = state({
  doc: 'A device that must not be a physical volume.',
  examples: ['/dev/sdb1:\n  lvm.pv_absent'],
  params: { name: p.path({ doc: 'the device' }) },
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: () => ctx.callWith('lvm.pvdisplay', [name], quiet()),
      wanted: false,
      change: () => ctx.call('lvm.pvremove', name),
      recheck: true,
      changes: ({ answer }) => ({ removed: answer }),
      right: `Physical Volume ${name} does not exist`,
      would: `Physical Volume ${name} is set to be removed`,
      done: `Removed Physical Volume ${name}`,
      failed: `Failed to remove Physical Volume ${name}`,
    }),
});

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** The volume group of a device; undefined when it is not a physical volume. */
async function groupOf(device: string, ctx: StateContext): Promise<string | undefined> {
  const real = realPath(device);
  const found = textKeyed(textKeyed(await ctx.callWith('lvm.pvdisplay', [real], newDict([['real', true]])))[real]);
  return isTruthy(found) ? pyStr(found['Volume Group Name'] ?? '') : undefined;
}

/** Adds devices that belong to no group; the comment names the group of the others. */
function addDevices(name: string, devices: readonly string[], ctx: StateContext): Promise<StateResult> {
  return changeSet(ctx, {
    async each(set) {
      set.comments.push(`Volume Group ${name} already present`);
      for (const device of devices) {
        const group = await groupOf(device, ctx);
        if (group === name) set.comments.push(`${device} is part of Volume Group`);
        else if (group === '' || group === '#orphans_lvm2')
          await set.part({
            changes: { [device]: `added to ${name}` },
            testChanges: {},
            async change() {
              await ctx.call('lvm.vgextend', name, device);
              return (await groupOf(device, ctx)) === name;
            },
            would: `${device} is set to be added`,
            failed: `${device} could not be added`,
          });
        else set.fail(group === undefined ? `pv ${device} is not present` : `${device} is part of ${group}`);
      }
    },
  });
}

const deviceList = (devices: Value): string[] =>
  Array.isArray(devices) ? devices.map(pyStr) : devices === null ? [] : pyStr(devices).split(',');

export const groupPresent = state({
  doc: 'A volume group of devices.',
  examples: ['data:\n  lvm.vg_present:\n    - devices: [/dev/sdb1, /dev/sdb2]'],
  params: {
    name: p.string({ doc: 'the group' }),
    devices: p.oneOf(['string', 'list'], { default: null, doc: 'devices: a list, or text with commas' }),
    kwargs,
  },
  async run({ name, devices, kwargs }, ctx) {
    if (isTruthy(await ctx.callWith('lvm.vgdisplay', [name], quiet())))
      return addDevices(name, deviceList(devices), ctx);
    return resource(ctx, {
      find: (again) => again && ctx.call('lvm.vgdisplay', name),
      change: () =>
        ctx.callWith('lvm.vgcreate', [name, typeof devices === 'string' ? deviceList(devices) : devices], kwargs),
      recheck: true,
      changes: ({ answer }) => ({ created: answer }),
      right: '',
      would: `Volume Group ${name} is set to be created`,
      done: `Created Volume Group ${name}`,
      failed: `Failed to create Volume Group ${name}`,
    });
  },
});

export const groupAbsent = state({
  doc: 'A volume group that must not exist.',
  examples: ['data:\n  lvm.vg_absent'],
  params: { name: p.string({ doc: 'the group' }) },
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: () => ctx.callWith('lvm.vgdisplay', [name], quiet()),
      wanted: false,
      change: () => ctx.call('lvm.vgremove', name),
      recheck: true,
      changes: ({ answer }) => ({ removed: answer }),
      right: `Volume Group ${name} already absent`,
      would: `Volume Group ${name} is set to be removed`,
      done: `Removed Volume Group ${name}`,
      failed: `Failed to remove Volume Group ${name}`,
    }),
});
