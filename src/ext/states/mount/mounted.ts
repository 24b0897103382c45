// `mount.mounted`: a filesystem that is mounted, with these options, from this device, also at boot. Its steps depend on
// each other (options, device, mount, fstab), so each step reports under test what it would do.

import {
  type ArgsOf,
  onlyReads,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { dirName, existsSync, realpathSync } from 'halite/sdk/fs';
import { pyRegex } from 'halite/sdk/text';
import { missingOptions, optionTexts } from './options.ts';

const params = {
  name: p.path({ doc: 'mount point' }),
  device: p.string({ doc: 'device, address, UUID=… or LABEL=…' }),
  fstype: p.string({ doc: 'kind of filesystem' }),
  mkmnt: p.bool({ default: false, doc: 'make the mount point' }),
  opts: p.oneOf(['string', 'list'], {
    default: 'defaults',
    nullable: true,
    doc: 'options: a list or text with commas',
  }),
  dump: p.scalar({ default: 0, nullable: true, doc: 'fifth field of fstab' }),
  pass_num: p.scalar({ default: 0, nullable: true, doc: 'order of checks at boot' }),
  config: p.path({ default: '/etc/fstab', doc: 'the table' }),
  persist: p.bool({ default: true, doc: 'also at boot' }),
  mount: p.bool({ default: true, doc: 'also now' }),
  user: p.scalar({ default: null, doc: 'mount as this user' }),
  match_on: p.oneOf(['string', 'list'], {
    default: 'auto',
    nullable: true,
    doc: 'fields that identify the line of fstab',
  }),
  device_name_regex: p.oneOf(['string', 'list'], {
    default: null,
    doc: 'expressions of other names the device may have',
  }),
  extra_mount_invisible_options: p.oneOf(['list', 'string'], {
    default: null,
    doc: 'options that never appear among the active ones',
  }),
  extra_mount_invisible_keys: p.oneOf(['list', 'string'], {
    default: null,
    doc: 'keys of options that never appear among the active ones',
  }),
  extra_mount_ignore_fs_keys: p.oneOf(['dict', 'list'], { default: null, doc: 'kind of filesystem → keys to ignore' }),
  extra_mount_translate_options: p.oneOf(['dict', 'list'], {
    default: null,
    doc: 'options that have another name among the active ones',
  }),
  hidden_opts: p.oneOf(['list', 'string'], { default: null, doc: 'options that never appear among the active ones' }),
  bind_mount_copy_active_opts: p.bool({ default: true, doc: 'bind mounts have the options of their source' }),
  kwargs: p.kwargs({ doc: 'accepted' }),
};
type Args = ArgsOf<typeof params>;

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};
const escaped = (path: string): string => path.replaceAll(' ', '\\040');

interface Work {
  readonly args: Args;
  readonly name: string;
  readonly real: string;
  /** The key among the active mounts. */
  readonly key: string;
  opts: string[];
  device: string;
  readonly result: StateResult;
  noteMount: boolean;
}

const activeMounts = async (ctx: StateContext): Promise<PlainDict> =>
  textKeyed(await ctx.callWith('mount.active', [], { extended: true }));

/** A bind mount shows the device and options of what it is bound to. */
function resolveBind(work: Work, active: PlainDict): string {
  const mounted = textKeyed(active[work.key]);
  const addOptions = (place: string): void => {
    const source = textKeyed(active[place]);
    if (work.args.bind_mount_copy_active_opts)
      work.opts = [
        ...new Set([...work.opts, ...optionTexts(source['opts']), ...optionTexts(source['superopts'])]),
      ].sort();
    mounted['opts'] = [...optionTexts(mounted['opts']), 'bind'];
  };
  let place = escaped(work.args.device);
  if (!pyStr(mounted['device'] ?? '').startsWith('/')) {
    if (place in active) addOptions(place);
    return pyStr(mounted['device'] ?? '');
  }
  while (!(place in active) && place !== '/' && place !== '') place = dirName(place.replaceAll('\\040', ' '));
  if (!(place in active)) return realPath(work.args.device);
  addOptions(place);
  return pyStr(textKeyed(active[place])['device'] ?? '');
}

/** The kernel's name of the device; a text when there is none. */
async function resolveDevice(
  work: Work,
  active: PlainDict,
  ctx: StateContext,
): Promise<{ device: string } | { problem: string }> {
  const { device } = work.args;
  const volume = /^\/dev\/([^/]+)\/([^/]+)$/.exec(device);
  const mapper = volume ? `/dev/mapper/${volume[1]?.replaceAll('-', '--')}-${volume[2]?.replaceAll('-', '--')}` : '';
  if (mapper && existsSync(mapper)) return { device: mapper };
  const fuse = /^\w+#(.+)/.exec(device);
  if (fuse) return { device: fuse[1] as string };
  if (device.startsWith('/'))
    return { device: work.opts.includes('bind') && work.key in active ? resolveBind(work, active) : realPath(device) };
  if (/^UUID=/i.test(device)) return { device: (device.split('=')[1] ?? '').replace(/^"+|"+$/g, '').toLowerCase() };
  if (/^LABEL=/i.test(device)) {
    const label = device.split('=')[1] ?? '';
    const find = ['blkid', '-t', `LABEL=${label}`];
    const out = textKeyed(await onlyReads(() => ctx.callWith('cmd.run_all', [find], { python_shell: false })));
    if (out['retcode'] !== 0) return { problem: `Unable to find device with label ${label}.` };
    return { device: pyStr(out['stdout'] ?? '').split(':')[0] ?? '' };
  }
  return { device };
}

/** Remounts because options differ. Returns a final result when that is not possible, or under test. */
const remount = (
  work: Work,
  options: readonly string[],
  would: string,
  ctx: StateContext,
): Promise<StateResult | undefined> =>
  withForecast<StateResult | undefined>(
    ctx,
    () => Object.assign(work.result, { result: null, comment: would }),
    () => remountNow(work, options, ctx),
  );

async function remountNow(work: Work, options: readonly string[], ctx: StateContext): Promise<StateResult | undefined> {
  const { args, real, opts, result } = work;
  const changed = `options (${options.join(',')}) changed`;
  const changes = result.changes as PlainDict;
  const how = { mkmnt: args.mkmnt, fstype: args.fstype, opts };
  work.noteMount = true;
  if (['nfs', 'cvfs'].includes(args.fstype) || args.fstype.startsWith('fuse')) {
    changes['umount'] = `Forced unmount and mount because ${changed}`;
    const gone = await ctx.call('mount.umount', real);
    if (gone !== true)
      return Object.assign(result, { result: false, comment: `Unable to unmount ${real}: ${pyStr(gone)}.` });
    result.result = (await ctx.callWith('mount.mount', [real, args.device], how)) as boolean;
    return undefined;
  }
  changes['umount'] = `Forced remount because ${changed}`;
  result.result = (await ctx.callWith('mount.remount', [real, args.device], how)) as boolean;
  work.opts = opts.filter((option) => option !== 'remount');
  return undefined;
}

async function checkOptions(work: Work, active: PlainDict, ctx: StateContext): Promise<StateResult | undefined> {
  const { args, opts } = work;
  if (opts.length === 0) return undefined;
  const missing = await missingOptions(opts, args.fstype, textKeyed(active[work.key]), args, ctx);
  if (missing.length > 0) {
    const done = await remount(
      work,
      missing,
      `Remount would be forced because options (${missing.join(',')}) changed`,
      ctx,
    );
    if (done) return done;
  }
  const before = textKeyed(await ctx.call('mount.read_mount_cache', work.real))['opts'];
  if (before === undefined) {
    work.noteMount = true;
    return undefined;
  }
  const gone = optionTexts(before).filter((option) => !work.opts.includes(option));
  if (gone.length === 0) return undefined;
  return remount(work, gone, `Remount would be forced because options (${gone.join(',')})changed`, ctx);
}

/** Unmounts another filesystem at this place. Returns the mounts after that. */
async function checkDevice(work: Work, active: PlainDict, ctx: StateContext): Promise<PlainDict | StateResult> {
  const { args, result } = work;
  const mounted = textKeyed(active[work.key]);
  const own = pyStr(mounted['device'] ?? '');
  const names = [own, realPath(own), mounted['alt_device'], mounted['device_uuid'], mounted['device_label']]
    .filter(Boolean)
    .map((name) => pyStr(name as Value));
  const known = [...new Set(names)];
  if (known.includes(work.device)) {
    result.comment = 'Target was already mounted';
    return active;
  }
  const alike = optionTexts(args.device_name_regex)
    .flatMap((regex) => known.filter((name) => pyRegex(regex).test(name)))
    .at(-1);
  if (alike) {
    result.comment = `An umount will not be forced because device matched device_name_regex: ${alike}`;
    return active;
  }
  // Under test the state ends here: what follows is found out from the mounts after the unmount.
  if (ctx.test) {
    Object.assign(result, {
      result: null,
      comment: `An umount would have been forced because devices do not match.  Watched: ${args.device}`,
    });
    return active;
  }
  const wanted = work.device === args.device ? args.device : `${args.device} (${work.device})`;
  (result.changes as PlainDict)['umount'] =
    `Forced unmount because devices don't match. Wanted: ${wanted}, current: ${names.join(', ')}`;
  await ctx.callWith('mount.umount', [work.real], { user: args.user });
  const now = await activeMounts(ctx);
  if (work.key in now) return Object.assign(result, { comment: 'Unable to unmount', result: null });
  work.noteMount = true;
  return now;
}

/** What would be said of what is not mounted yet. True when nothing follows. */
function forecastMount({ args, name, result }: Work): boolean {
  const there = existsSync(name);
  const { mount, mkmnt } = args;
  if (mount || !there) result.result = null;
  if (there) result.comment = `${name} would ${mount ? '' : 'not '}be mounted`;
  else if (mkmnt) result.comment = `${name} would be created${mount ? ' and mounted' : ', but not mounted'}`;
  else
    result.comment = `${name} does not exist and would ${mount ? 'not be created' : 'neither be created nor mounted'}`;
  return Boolean(mount);
}

/** Mounts it if it is not mounted yet. True when nothing remains to be done. */
async function mountNow(work: Work, ctx: StateContext): Promise<boolean> {
  const { args, name, result } = work;
  const there = existsSync(name);
  if (!args.mount) {
    if (!there && args.mkmnt) {
      await ctx.callWith('file.mkdir', [name], { user: args.user });
      result.comment = `${name} was created, not mounted`;
    } else result.comment = there ? `${name} not mounted` : `${name} not present and not mounted`;
    return false;
  }
  if (!there && !args.mkmnt) {
    Object.assign(result, { result: false, comment: 'Mount directory is not present' });
    return true;
  }
  const done = await ctx.callWith('mount.mount', [name, args.device, args.mkmnt, args.fstype, work.opts], {
    user: args.user,
  });
  work.noteMount = true;
  if (typeof done === 'string') {
    Object.assign(result, { result: false, comment: done });
    return true;
  }
  if (work.key in (await activeMounts(ctx))) {
    result.comment = 'Target was successfully mounted';
    (result.changes as PlainDict)['mount'] = true;
  }
  return false;
}

/** The entry of the fstab, as arguments of `mount.set_fstab`. */
const fstabEntry = ({ args, name, opts }: Work): Value[] => [
  ...[name, args.device, args.fstype, opts],
  ...[args.dump, args.pass_num, args.config],
];

async function forecastPersist(work: Work, ctx: StateContext): Promise<void> {
  const { args, name, result } = work;
  const status = await ctx.callWith('mount.set_fstab', fstabEntry(work), { test: true, match_on: args.match_on });
  if (status === 'present') {
    result.comment = `${result.comment}. Entry already exists in the fstab.`;
    return;
  }
  result.result = null;
  let comment = `Unable to detect fstab status for mount point ${name} due to unexpected output '${pyStr(status)}' from call to mount.set_fstab. This is most likely a bug.`;
  if (status === 'new')
    comment = args.mount
      ? `${name} is mounted, but needs to be written to the fstab in order to be made persistent.`
      : `${name} needs to be written to the fstab in order to be made persistent.`;
  else if (status === 'change')
    comment = args.mount
      ? `${name} is mounted, but its fstab entry must be updated.`
      : `The ${name} fstab entry must be updated.`;
  else result.result = false;
  result.comment = `${result.comment}. ${comment}`;
}

async function persist(work: Work, ctx: StateContext): Promise<void> {
  const { args, result } = work;
  const status = await ctx.callWith('mount.set_fstab', fstabEntry(work), { match_on: args.match_on });
  if (work.noteMount)
    await ctx.callWith('mount.write_mount_cache', [work.real, args.device], {
      mkmnt: args.mkmnt,
      fstype: args.fstype,
      mount_opts: work.opts,
    });
  const words: Readonly<Record<string, string>> = {
    present: 'Entry already exists in the fstab.',
    new: 'Added new entry to the fstab.',
    change: 'Updated the entry in the fstab.',
    'bad config': 'However, the fstab was not found.',
  };
  const text = words[pyStr(status)];
  if (text) result.comment = `${result.comment}. ${text}`;
  if (status === 'new') (result.changes as PlainDict)['persist'] = 'new';
  if (status === 'change') (result.changes as PlainDict)['persist'] = 'update';
  if (status === 'bad config') result.result = false;
}

async function run(args: Args, ctx: StateContext): Promise<StateResult> {
  for (const key of ['name', 'device', 'fstype'] as const)
    if (!args[key]) return ctx.fail(`Must provide ${key} to mount.mounted`);
  const name = args.name === '/' ? '/' : args.name.replace(/\/+$/, '');
  const real = realPath(name);
  const work: Work = {
    args,
    name,
    real,
    key: escaped(real),
    opts: optionTexts(args.opts),
    device: '',
    result: ctx.ok(''),
    noteMount: false,
  };
  const active = await activeMounts(ctx);
  const device = await resolveDevice(work, active, ctx);
  if ('problem' in device) return ctx.fail(device.problem);
  work.device = device.device;
  let now: PlainDict = active;
  if (work.key in active && args.mount) {
    const done = await checkOptions(work, active, ctx);
    if (done) return done;
    const left = await checkDevice(work, active, ctx);
    if ((left as unknown) === work.result) return work.result;
    now = left as PlainDict;
  }
  const mount = (): Promise<boolean> =>
    withForecast(
      ctx,
      () => forecastMount(work),
      () => mountNow(work, ctx),
    );
  if (!(work.key in now) && (await mount())) return work.result;
  if (args.persist)
    await withForecast(
      ctx,
      () => forecastPersist(work, ctx),
      () => persist(work, ctx),
    );
  return work.result;
}

export const mounted = state({
  doc: 'A filesystem that is mounted now and at boot.',
  examples: ['/mnt/sdb:\n  mount.mounted:\n    - device: /dev/sdb1\n    - fstype: ext4\n    - mkmnt: true'],
  params,
  run,
});
