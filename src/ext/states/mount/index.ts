// State module `mount`: filesystems and swap, now and at boot.
import { basename } from 'node:path';
import {
  defineState,
  dictEntries,
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
  withForecast,
} from 'halite/sdk';
import { readlinkSync } from 'halite/sdk/fs';
import { mounted } from './mounted.ts';

const config = p.path({ default: '/etc/fstab', doc: 'the table' });

function swapDevice(name: string): string {
  try {
    const target = readlinkSync(name);
    return target.startsWith('/') ? target : `/dev/${basename(target)}`;
  } catch {
    return name;
  }
}

/** Writes swap into fstab, and adds the outcome to the result. */
async function persistSwap(name: string, path: string, result: StateResult, ctx: StateContext): Promise<void> {
  const table = textKeyed(await ctx.call('mount.fstab', path));
  const none = textKeyed(table['none']);
  if (none['device'] === name && none['fstype'] !== 'swap') return;
  const status = await ctx.call('mount.set_fstab', 'none', name, 'swap', ['defaults'], 0, 0, path);
  const changes = result.changes as PlainDict;
  if (status === 'new') {
    changes['persist'] = 'new';
    result.comment += '. Added new entry to the fstab.';
  } else if (status === 'change') {
    changes['persist'] = 'update';
    result.comment += '. Updated the entry in the fstab.';
  } else if (status === 'bad config') {
    result.result = false;
    result.comment += '. However, the fstab was not found.';
  }
}

const swap = state({
  doc: 'Swap that is in use, now and at boot.',
  examples: ['/root/swapfile:\n  mount.swap'],
  params: { name: p.path({ doc: 'device or file' }), persist: p.bool({ default: true, doc: 'also at boot' }), config },
  async run({ name, persist, config: path }, ctx) {
    const device = swapDevice(name);
    const now = textKeyed(await ctx.call('mount.swaps'));
    const result = await resource(ctx, {
      find: async (again) => (again ? textKeyed(await ctx.call('mount.swaps')) : now)[device] ?? null,
      compare: (found) => found === null,
      change: () => ctx.call('mount.swapon', device),
      recheck: true,
      changes: ({ after }) => textKeyed(after),
      right: `Swap ${name} already active`,
      would: `Swap ${name} is set to be activated`,
      done: `Swap ${name} activated`,
      failed: `Swap ${name} failed to activate`,
    });
    if (!persist) return result;
    const foreseen = async (): Promise<StateResult> => {
      const table = textKeyed(await ctx.call('mount.fstab', path));
      if (!(name in table) && !Object.values(table).some((entry) => textKeyed(entry)['device'] === name)) {
        result.result = null;
        if (name in now) result.comment = `Swap ${name} is set to be added to the fstab and to be activated`;
      }
      return result;
    };
    return withForecast(ctx, foreseen, async () => {
      await persistSwap(name, path, result, ctx);
      return result;
    });
  },
});

const unmounted = state({
  doc: 'A filesystem that must not be mounted.',
  examples: ['/mnt/sdb:\n  mount.unmounted:\n    - persist: true'],
  params: {
    name: p.path({ doc: 'mount point' }),
    device: p.scalar({ default: null, doc: 'only this device' }),
    config,
    persist: p.bool({ default: false, doc: 'also remove it from fstab' }),
    user: p.scalar({ default: null, doc: 'unmount as this user' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run({ name, device, config: path, persist, user }, ctx) {
    if (!name) return ctx.fail('Must provide name to mount.unmounted');
    const active = textKeyed(await ctx.callWith('mount.active', [], { extended: true }));
    const result = ctx.ok('Target was already unmounted');
    const changes = result.changes as PlainDict;
    if (name.replaceAll(' ', '\\040') in active) {
      // Under test only the first of two steps that would change something is told, as in Salt.
      if (ctx.test) return ctx.result({ result: null, comment: `Mount point ${name} is mounted but should not be` });
      const done = await ctx.callWith('mount.umount', device ? [name, device] : [name], { user });
      if (typeof done === 'string') Object.assign(result, { result: false, comment: done });
      else if (done === true) {
        result.comment = 'Target was successfully unmounted';
        changes['umount'] = true;
      } else result.comment = 'Execute set to False, Target was not unmounted';
      await ctx.call('mount.delete_mount_cache', name);
    }
    if (!persist) return result;
    const entry = textKeyed(await ctx.call('mount.fstab', path))[name];
    if (entry === undefined) result.comment += '. fstab entry not found';
    else if (device && textKeyed(entry)['device'] !== device)
      result.comment += `. fstab entry for device ${pyStr(device)} not found`;
    else if (ctx.test) {
      return ctx.result({
        result: null,
        comment: `Mount point ${name} is unmounted but needs to be purged from ${path} to be made persistent`,
      });
    } else if ((await ctx.call('mount.rm_fstab', name, device, path)) === true) {
      result.comment += '. Removed target from fstab';
      changes['persist'] = 'purged';
    } else Object.assign(result, { result: false, comment: `${result.comment}. Failed to persist purge` });
    return result;
  },
});

/** A device by another of its names: `uuid`, `label`, `partuuid`, `device`. */
async function converted(device: string, by: Value, ctx: StateContext): Promise<string | undefined> {
  const kind = by ? pyStr(by) : '';
  if (!kind || (kind === 'device' && device.startsWith('/')) || device.startsWith(`${kind.toUpperCase()}=`))
    return device;
  const ids = textKeyed(
    device.startsWith('/')
      ? await ctx.call('disk.blkid', device)
      : await ctx.callWith('disk.blkid', [], { token: device }),
  );
  const found = dictEntries(ids);
  if (found.length !== 1) return undefined;
  const [name, about] = found[0] as [Value, Value];
  return kind === 'device' ? pyStr(name) : `${kind.toUpperCase()}=${pyStr(textKeyed(about)[kind.toUpperCase()] ?? '')}`;
}

const fstabParams = {
  name: p.string({ doc: 'device' }),
  fs_file: p.path({ doc: 'mount point' }),
  fs_vfstype: p.string({ doc: 'kind of filesystem' }),
  fs_mntops: p.oneOf(['string', 'list'], { default: 'defaults', nullable: true, doc: 'options' }),
  fs_freq: p.scalar({ default: 0, nullable: true, doc: 'fifth field of fstab' }),
  fs_passno: p.scalar({ default: 0, nullable: true, doc: 'order of checks at boot' }),
  mount_by: p.scalar({ default: null, doc: 'how to identify the device: device, label, uuid, partlabel, partuuid' }),
  config,
  mount: p.bool({ default: true, doc: 'also mount it now' }),
  match_on: p.oneOf(['string', 'list'], {
    default: 'auto',
    nullable: true,
    doc: 'fields that identify the line of fstab',
  }),
  not_change: p.bool({ default: false, doc: 'do not change an existing line' }),
  fs_mount: p.ignored({ default: true, doc: 'AIX only' }),
};
const pointOf = (path: string): string => (path === '/' ? '/' : path.replace(/\/+$/, ''));

const fstab_present = state({
  doc: 'A line in fstab.',
  examples: ['/dev/sdb1:\n  mount.fstab_present:\n    - fs_file: /mnt/sdb\n    - fs_vfstype: ext4'],
  params: fstabParams,
  async run(args, ctx) {
    const point = pointOf(args.fs_file);
    const device = await converted(args.name, args.mount_by, ctx);
    if (!device) return ctx.fail([`Device ${args.name} cannot be converted to ${pyStr(args.mount_by)}`]);
    const order = newDict(
      Object.entries({
        name: point,
        device,
        fstype: args.fs_vfstype,
        opts: args.fs_mntops,
        dump: args.fs_freq,
        pass_num: args.fs_passno,
        config: args.config,
        match_on: args.match_on,
        not_change: args.not_change,
      }),
    );
    const foreseen = async (): Promise<StateResult> => {
      const status = await ctx.callWith('mount.set_fstab', [], { ...order, test: true });
      const will = (comment: string[], result: boolean | null = null): StateResult => ctx.result({ result, comment });
      if (status === 'present') return will([`${point} entry is already in ${args.config}.`], true);
      if (status === 'change') return will([`${point} entry will be updated in ${args.config}.`]);
      if (status === 'new')
        return will([
          `${point} entry will be written in ${args.config}.`,
          ...(args.mount ? [`Will mount ${args.name} on ${point}`] : []),
        ]);
      return will([`${point} entry cannot be created in ${args.config}: ${pyStr(status)}.`], false);
    };
    return withForecast(ctx, foreseen, async () => {
      const status = await ctx.callWith('mount.set_fstab', [], order);
      const changes = newDict([['persist', status]]);
      if (status === 'present') return ctx.ok([`${point} entry was already in ${args.config}.`]);
      if (status === 'change') return ctx.ok([`${point} entry updated in ${args.config}.`], { changes });
      if (status !== 'new') return ctx.fail([`${point} entry cannot be changed in ${args.config}: ${pyStr(status)}.`]);
      const comment = [`${point} entry added in ${args.config}.`];
      if (!args.mount) return ctx.ok(comment, { changes });
      const done = await ctx.call('mount.mount', point);
      const failed = typeof done === 'string';
      comment.push(
        failed ? `Error while mounting ${done.slice(done.indexOf(':') + 1)}` : `Mounted ${args.name} on ${point}`,
      );
      return ctx.result({ result: !failed, comment, changes });
    });
  },
});

const fstab_absent = state({
  doc: 'A line that must not be in fstab.',
  examples: ['/dev/sdb1:\n  mount.fstab_absent:\n    - fs_file: /mnt/sdb'],
  params: { name: fstabParams.name, fs_file: fstabParams.fs_file, mount_by: fstabParams.mount_by, config },
  async run(args, ctx) {
    const point = pointOf(args.fs_file);
    const device = await converted(args.name, args.mount_by, ctx);
    return resource(ctx, {
      find: async () => point in textKeyed(await ctx.call('mount.fstab', args.config)),
      wanted: false,
      change: async () =>
        (await ctx.callWith('mount.rm_fstab', [], { name: point, device: device ?? null, config: args.config })) ===
        true,
      changes: () => ({ persist: 'removed' }),
      right: [`${point} entry is already missing in ${args.config}.`],
      would: [`${point} entry will be removed from ${args.config}.`],
      done: [`${point} entry removed from ${args.config}.`],
      failed: [`${point} entry failed when removing from ${args.config}.`],
    });
  },
});

const modWatch = state({
  doc: 'Remounts because a watched state changed.',
  params: { name: p.path(), user: p.scalar({ default: null }), kwargs: p.kwargs() },
  async run({ name, user, kwargs }, ctx) {
    const fun = ctx.watchedFunction ?? pyStr(kwargs['sfun'] ?? '');
    if (fun !== 'mounted') return ctx.ok(`Watch not supported in ${fun} at this time`);
    return ctx.change(newDict(), `${name} remounted`, {
      test: `${name} would be remounted`,
      async apply() {
        const { device = null, fstype = null, opts = 'defaults' } = kwargs;
        const done = await ctx.callWith('mount.remount', [name, device, false, fstype, opts], { user });
        return done === true ? ctx.ok(`${name} remounted`) : ctx.fail(`${name} failed to remount: ${pyStr(done)}`);
      },
    });
  },
});

export default defineState({
  name: 'mount',
  doc: 'Filesystems and swap, now and at boot.',
  functions: { mounted, unmounted, swap, fstab_present, fstab_absent },
  modWatch,
});
