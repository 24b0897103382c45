// Execution module `lvm`: logical volumes.
import { defineModule, fn, isTruthy, newDict, p } from 'halite/sdk';
import { askTool, which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import {
  changePhysical,
  deviceList,
  extendGroup,
  makeGroup,
  makeLogical,
  makePhysical,
  removeGroup,
  removeLogical,
  resizeLogical,
} from './change.ts';
import { display } from './display.ts';

const quiet = p.bool({ default: false, doc: 'a missing one is not a failure' });
const devices = p.strings({ split: ',', falsy: null, doc: 'devices: a list, or text with commas' });
const override = p.bool({ default: true, doc: 'skip those that need no change' });
const yes = p.bool({ default: true, doc: 'answer questions with yes' });
const force = p.bool({ default: false, doc: 'answer questions with yes' });
const vgname = p.string({ doc: 'the volume group' });
const kwargs = p.kwargs({ doc: 'further options of the tool' });
const bothNeeded = 'Error: vgname and device(s) are both required';

const resizeParams = {
  size: p.string({ default: null, falsy: null, doc: 'new size' }),
  lvpath: p.string({ default: null, doc: 'path of the volume' }),
  extents: p.string({ default: null, falsy: null, doc: 'new size in extents' }),
  force,
  resizefs: p.bool({ default: false, doc: 'the filesystem too' }),
};

const reading = {
  version: fn({
    doc: 'Version of the tools.',
    examples: ["salt '*' lvm.version"],
    run: async (_, ctx) =>
      (lines((await askTool(ctx, 'lvm', ['version'])).stdout)[0] ?? '').split(': ')[1]?.trim() ?? '',
  }),
  fullversion: fn({
    doc: 'Versions of tools, library and driver.',
    examples: ["salt '*' lvm.fullversion"],
    run: async (_, ctx) =>
      newDict(
        lines((await askTool(ctx, 'lvm', ['version'])).stdout).map((line) => {
          const [key = '', value = ''] = line.split(':');
          return [key.trim(), value.trim()];
        }),
      ),
  }),
  pvdisplay: fn({
    doc: 'Physical volumes.',
    examples: ["salt '*' lvm.pvdisplay"],
    params: { pvname: p.string({ default: '' }), real: p.bool({ default: false, doc: 'by their real paths' }), quiet },
    run: (args, ctx) => display('pv', args.pvname, args, ctx),
  }),
  vgdisplay: fn({
    doc: 'Volume groups.',
    examples: ["salt '*' lvm.vgdisplay"],
    params: { vgname: p.string({ default: '' }), quiet },
    run: (args, ctx) => display('vg', args.vgname, args, ctx),
  }),
  lvdisplay: fn({
    doc: 'Logical volumes.',
    examples: ["salt '*' lvm.lvdisplay"],
    params: { lvname: p.string({ default: '' }), quiet },
    run: (args, ctx) => display('lv', args.lvname, args, ctx),
  }),
};

const physical = {
  pvcreate: fn({
    doc: 'Makes physical volumes.',
    examples: ["salt '*' lvm.pvcreate /dev/sdb1,/dev/sdb2"],
    params: { devices, override, force: yes, kwargs },
    run: (args, ctx) =>
      isTruthy(args.devices)
        ? makePhysical(deviceList(args.devices), args, ctx)
        : 'Error: at least one device is required',
  }),
  pvremove: fn({
    doc: 'Removes physical volumes.',
    examples: ["salt '*' lvm.pvremove /dev/sdb1"],
    params: { devices, override, force: yes },
    run: (args, ctx) => changePhysical('pvremove', deviceList(args.devices), args, ctx),
  }),
  pvresize: fn({
    doc: 'Resizes physical volumes to the size of their devices.',
    examples: ["salt '*' lvm.pvresize /dev/sdb1"],
    params: { devices, override, force: yes },
    run: (args, ctx) => changePhysical('pvresize', deviceList(args.devices), args, ctx),
  }),
};

const groups = {
  vgcreate: fn({
    doc: 'Creates a volume group.',
    examples: ["salt '*' lvm.vgcreate data /dev/sdb1,/dev/sdb2"],
    params: { vgname, devices, force, kwargs },
    run: (args, ctx) =>
      args.vgname && isTruthy(args.devices)
        ? makeGroup(args.vgname, deviceList(args.devices), args.force, args.kwargs, ctx)
        : bothNeeded,
  }),
  vgextend: fn({
    doc: 'Adds devices to a volume group.',
    examples: ["salt '*' lvm.vgextend data /dev/sdb1"],
    params: { vgname, devices, force },
    run: (args, ctx) =>
      args.vgname && isTruthy(args.devices)
        ? extendGroup(args.vgname, deviceList(args.devices), args.force, ctx)
        : bothNeeded,
  }),
  vgremove: fn({
    doc: 'Removes a volume group.',
    examples: ["salt '*' lvm.vgremove data"],
    params: { vgname, force: yes },
    run: (args, ctx) => removeGroup(args.vgname, args.force, ctx),
  }),
};

const logical = {
  lvcreate: fn({
    doc: 'Creates a logical volume.',
    examples: ["salt '*' lvm.lvcreate www data size=10G"],
    params: {
      lvname: p.string({ doc: 'its name' }),
      vgname,
      size: p.string({ default: null, falsy: null, doc: 'size' }),
      extents: p.string({ default: null, falsy: null, doc: 'size in extents' }),
      snapshot: p.string({ default: null, doc: 'of this volume' }),
      pv: p.string({ default: null, doc: 'on this physical volume' }),
      thinvolume: p.bool({ default: false, doc: 'in a thin pool' }),
      thinpool: p.bool({ default: false, doc: 'a thin pool' }),
      force,
      kwargs,
    },
    run: (args, ctx) => makeLogical(args, ctx),
  }),
  lvremove: fn({
    doc: 'Removes a logical volume.',
    examples: ["salt '*' lvm.lvremove www data force=True"],
    params: { lvname: p.string({ doc: 'its name' }), vgname, force: yes },
    run: (args, ctx) => removeLogical(args.lvname, args.vgname, args.force, ctx),
  }),
  lvresize: fn({
    doc: 'Changes the size of a logical volume.',
    examples: ["salt '*' lvm.lvresize +12M /dev/data/www"],
    params: resizeParams,
    run: (args, ctx) => resizeLogical('lvresize', args.lvpath ?? '', args, ctx),
  }),
  lvextend: fn({
    doc: 'Enlarges a logical volume.',
    examples: ["salt '*' lvm.lvextend +12M /dev/data/www"],
    params: resizeParams,
    run: (args, ctx) => resizeLogical('lvextend', args.lvpath ?? '', args, ctx),
  }),
};

export default defineModule({
  name: 'linux_lvm',
  virtualName: 'lvm',
  doc: 'Logical volumes.',
  available: () =>
    which('lvm') !== null || 'The linux_lvm execution module cannot be loaded: the lvm binary is not in the path.',
  reads: ['version', 'fullversion', 'pvdisplay', 'vgdisplay', 'lvdisplay'],
  functions: { ...reading, ...physical, ...groups, ...logical },
});
