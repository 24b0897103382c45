// State module `blockdev`: block devices with a filesystem on them, and their settings.

import { setTimeout as delay } from 'node:timers/promises';
import {
  defineState,
  needsFunction,
  newDict,
  onlyReads,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  state,
  textKeyed,
} from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';

const name = p.path({ doc: 'the device' });

const settings: Readonly<Record<string, string>> = {
  'read-ahead': 'getra',
  'filesystem-read-ahead': 'getfra',
  'read-only': 'getro',
  'read-write': 'getro',
};

/** Old and new value of a setting, in Salt's form. */
function described(key: string, wanted: unknown, old: string, now: string): string {
  const title = (yes: boolean): string => (yes ? 'True' : 'False');
  if (typeof wanted !== 'boolean' && key !== 'read-write') return `Changed from ${old} to ${now}`;
  const [before, after] = typeof wanted === 'boolean' ? [old === '1', now === '1'] : [old !== '', now !== ''];
  return key === 'read-write'
    ? `Changed from ${title(!before)} to ${title(!after)}`
    : `Changed from ${title(before)} to ${title(after)}`;
}

const tuned = state({
  doc: 'Settings of a block device.',
  examples: ['/dev/vg/data:\n  blockdev.tuned:\n    - read-ahead: 1024\n    - read-write: true'],
  params: { name, kwargs: p.kwargs({ doc: 'read-ahead, filesystem-read-ahead, read-only, read-write' }) },
  async run({ name, kwargs }, ctx) {
    if (!(await ctx.call('file.is_blkdev', name)))
      return ctx.fail(`Changes to ${name} cannot be applied. Not a block device.`);
    return ctx.change(newDict(), '', {
      test: `Changes to ${name} will be applied `,
      async apply() {
        const before = textKeyed(await ctx.call('disk.dump', name));
        const after = textKeyed(await ctx.callWith('disk.tune', [name], kwargs));
        if (Object.keys(after).length === 0) return ctx.fail(`Failed to modify block device ${name}`);
        const changes: PlainDict = newDict();
        for (const [key, wanted] of Object.entries(kwargs)) {
          const field = settings[key];
          const [old, now] = [pyStr(before[field ?? ''] ?? ''), pyStr(after[field ?? ''] ?? '')];
          if (field && old !== now) changes[key] = described(key, wanted, old, now);
        }
        return Object.keys(changes).length > 0
          ? ctx.ok(`Block device ${name} successfully modified `, { changes })
          : ctx.ok(`Block device ${name} already in correct state`);
      },
    });
  },
});

async function filesystemOf(device: string, ctx: StateContext): Promise<string> {
  const command = ['blkid', '-o', 'value', '-s', 'TYPE', device];
  const said = await onlyReads(() => ctx.callWith('cmd.run', [command], newDict([['ignore_retcode', true]])));
  return pyStr(said || '');
}

/** The type of the filesystem after udev has detected it; tried ten times. */
async function filesystemAfter(device: string, ctx: StateContext): Promise<string> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const found = await filesystemOf(device, ctx);
    if (found) return found;
    await delay(3000, undefined, { signal: ctx.signal });
  }
  return '';
}

const formatted = state({
  doc: 'A block device with a filesystem on it.',
  examples: ['/dev/vg/data:\n  blockdev.formatted:\n    - fs_type: ext4'],
  params: {
    name,
    fs_type: p.string({ default: 'ext4', doc: 'kind of filesystem' }),
    force: p.bool({ default: false, doc: 'also over existing data' }),
    kwargs: p.kwargs({ doc: 'inode_size, lazy_itable_init, fat: as for disk.format' }),
  },
  async run({ name, fs_type: type, force, kwargs }, ctx) {
    if (!existsSync(name)) return ctx.fail(`${name} does not exist`);
    if ((await filesystemOf(name, ctx)) === type) return ctx.ok(`${name} already formatted with ${type}`);
    if (!which(`mkfs.${type}`)) return ctx.fail(`Invalid fs_type: ${type}`);
    return ctx.change(newDict(), '', {
      test: `Changes to ${name} will be applied `,
      async apply() {
        await ctx.callWith('disk.format', [name, type], newDict([['force', force], ...Object.entries(kwargs)]));
        const now = await filesystemAfter(name, ctx);
        if (now !== type) return ctx.fail(`Failed to format ${name}`);
        // Salt also shows the new type as the old one.
        const changes = newDict([
          ['new', type],
          ['old', now],
        ]);
        return ctx.ok(`${name} has been formatted with ${type}`, { changes });
      },
    });
  },
});

export default defineState({
  name: 'blockdev',
  doc: 'Block devices with a filesystem on them, and their settings.',
  available: needsFunction('disk.tune', 'Cannot load the blockdev state module: disk execution module not found'),
  functions: { tuned, formatted },
});
