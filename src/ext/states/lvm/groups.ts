// `lvm.pv_*` and `lvm.vg_*`: physical volumes and the groups they form.

import {
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { realpathSync } from 'halite/sdk/fs';
import { plain } from '../shared/calls.ts';

const quiet = (): PlainDict => newDict([['quiet', true]]);
const kwargs = p.kwargs({ doc: 'further options of the tool' });

export const physicalPresent = state({
  doc: 'A device that is a physical volume.',
  examples: ['/dev/sdb1:\n  lvm.pv_present'],
  params: { name: p.path({ doc: 'the device' }), kwargs },
  async run({ name, kwargs }, ctx) {
    if (isTruthy(await ctx.callWith('lvm.pvdisplay', [name], quiet())))
      return ctx.ok(`Physical Volume ${name} already present`);
    return ctx.change(newDict(), '', {
      test: `Physical Volume ${name} is set to be created`,
      async apply() {
        const created = await ctx.callWith('lvm.pvcreate', [name], kwargs);
        return isTruthy(await ctx.call('lvm.pvdisplay', name))
          ? ctx.ok(`Created Physical Volume ${name}`, { changes: newDict([['created', created]]) })
          : ctx.fail(`Failed to create Physical Volume ${name}`);
      },
    });
  },
});

export const physicalAbsent = state({
  doc: 'A device that shall not be a physical volume.',
  examples: ['/dev/sdb1:\n  lvm.pv_absent'],
  params: { name: p.path({ doc: 'the device' }) },
  async run({ name }, ctx) {
    const there = async (): Promise<boolean> => isTruthy(await ctx.callWith('lvm.pvdisplay', [name], quiet()));
    if (!(await there())) return ctx.ok(`Physical Volume ${name} does not exist`);
    return ctx.change(newDict(), '', {
      test: `Physical Volume ${name} is set to be removed`,
      async apply() {
        const removed = await ctx.call('lvm.pvremove', name);
        if (await there()) return ctx.fail(`Failed to remove Physical Volume ${name}`);
        return ctx.ok(`Removed Physical Volume ${name}`, { changes: newDict([['removed', removed]]) });
      },
    });
  },
});

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** The group a device is part of; undefined when it is no physical volume. */
async function groupOf(device: string, ctx: StateContext): Promise<string | undefined> {
  const real = realPath(device);
  const found = plain(plain(await ctx.callWith('lvm.pvdisplay', [real], newDict([['real', true]])))[real]);
  return isTruthy(found) ? pyStr(found['Volume Group Name'] ?? '') : undefined;
}

/** Adds devices that belong to no group yet; says for the others where they belong. */
async function addDevices(name: string, devices: readonly string[], ctx: StateContext): Promise<StateResult> {
  const comments = [`Volume Group ${name} already present`];
  const changes = newDict();
  let result: boolean | null = true;
  for (const device of devices) {
    const group = await groupOf(device, ctx);
    if (group === name) comments.push(`${device} is part of Volume Group`);
    else if (group === '' || group === '#orphans_lvm2') {
      if (ctx.test) {
        comments.push(`${device} is set to be added`);
        result = result === false ? false : null;
        continue;
      }
      await ctx.call('lvm.vgextend', name, device);
      if ((await groupOf(device, ctx)) === name) changes[device] = `added to ${name}`;
      else {
        comments.push(`${device} could not be added`);
        result = false;
      }
    } else {
      comments.push(group === undefined ? `pv ${device} is not present` : `${device} is part of ${group}`);
      result = false;
    }
  }
  return ctx.result({ result, comment: comments.join('\n'), changes });
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
    return ctx.change(newDict(), '', {
      test: `Volume Group ${name} is set to be created`,
      async apply() {
        const given = typeof devices === 'string' ? deviceList(devices) : devices;
        const created = await ctx.callWith('lvm.vgcreate', [name, given], kwargs);
        return isTruthy(await ctx.call('lvm.vgdisplay', name))
          ? ctx.ok(`Created Volume Group ${name}`, { changes: newDict([['created', created]]) })
          : ctx.fail(`Failed to create Volume Group ${name}`);
      },
    });
  },
});

export const groupAbsent = state({
  doc: 'A volume group that shall not be there.',
  examples: ['data:\n  lvm.vg_absent'],
  params: { name: p.string({ doc: 'the group' }) },
  async run({ name }, ctx) {
    const there = async (): Promise<boolean> => isTruthy(await ctx.callWith('lvm.vgdisplay', [name], quiet()));
    if (!(await there())) return ctx.ok(`Volume Group ${name} already absent`);
    return ctx.change(newDict(), '', {
      test: `Volume Group ${name} is set to be removed`,
      async apply() {
        const removed = await ctx.call('lvm.vgremove', name);
        if (await there()) return ctx.fail(`Failed to remove Volume Group ${name}`);
        return ctx.ok(`Removed Volume Group ${name}`, { changes: newDict([['removed', removed]]) });
      },
    });
  },
});
