// Execution module `mount`: mounted filesystems, swap, and fstab.

import { dirname, join, resolve } from 'node:path';
import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { dumpYaml, loadYaml } from 'halite/sdk/codec';
import { existsSync, mkdirSync, readFileSync, readText, realpathSync, statSync, writeFileSync } from 'halite/sdk/fs';
import { askTool, groupByName, runTool, userByName, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { readFstab, removeEntry, setEntry } from './fstab.ts';

/** Converts names of users and groups in options to numbers, and `\040` to an escaped blank. */
function plainOptions(text: string): string[] {
  return text.split(',').map((option) => {
    const [key, value] = option.split('=', 2);
    if (value === undefined || /^\d+$/.test(value)) return option.replaceAll('\\040', '\\ ');
    const id = key === 'uid' ? userByName(value)?.uid : key === 'gid' ? groupByName(value)?.gid : undefined;
    return id === undefined ? option.replaceAll('\\040', '\\ ') : `${key}=${id}`;
  });
}

/** Mount point → device, as `mount -l` prints it, because the kernel does not know all device names. */
async function listed(ctx: ModuleContext): Promise<Map<string, string>> {
  const { stdout } = await askTool(ctx, 'mount', ['-l']);
  return new Map(
    lines(stdout)
      .map((line) => words(line))
      .filter((row) => row.length >= 3)
      .map((row) => [row[2] as string, row[0] as string]),
  );
}

async function active(extended: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const names = await listed(ctx);
  const found = newDict();
  const info = extended ? readText('/proc/self/mountinfo') : undefined;
  if (info === undefined) {
    for (const row of lines(readText('/proc/self/mounts') ?? '').map(words)) {
      const [device = '', name = '', fstype = '', opts = ''] = row;
      found[name] = newDict([
        ['device', device],
        ['alt_device', names.get(name) ?? null],
        ['fstype', fstype],
        ['opts', plainOptions(opts)],
      ]);
    }
    return found;
  }
  const ids = (await ctx.registry.functionInfo('modules', 'disk.blkid'))
    ? ((await ctx.call('disk.blkid')) as PlainDict)
    : newDict();
  for (const row of lines(info).map(words)) {
    const at = row.indexOf('-');
    const [major = '', minor = ''] = (row[2] ?? '').split(':');
    const [fstype = '', device = '', superopts = ''] = row.slice(at + 1);
    const name = row[4] ?? '';
    const known = (ids[device] ?? {}) as { UUID?: Value; LABEL?: Value };
    found[name] = newDict([
      ['mountid', row[0] ?? ''],
      ['parentid', row[1] ?? ''],
      ['major', major],
      ['minor', minor],
      ['root', row[3] ?? ''],
      ['opts', plainOptions(row[5] ?? '')],
      ['fstype', fstype],
      ['device', device.replaceAll('\\040', '\\ ')],
      ['alt_device', names.get(name) ?? null],
      ['superopts', plainOptions(superopts)],
      ['device_uuid', known.UUID ? pyStr(known.UUID).toLowerCase() : null],
      ['device_label', known.LABEL ?? null],
    ]);
  }
  return found;
}

function swaps(): PlainDict {
  const rows = lines(readText('/proc/swaps') ?? '')
    .filter((line) => !line.startsWith('Filename'))
    .map(words);
  return newDict(
    rows.map(([name = '', type = '', size = '', used = '', priority = '']) => [
      name,
      newDict([
        ['type', type],
        ['size', size],
        ['used', used],
        ['priority', priority],
      ]),
    ]),
  );
}

const optionList = (opts: Value): string[] =>
  Array.isArray(opts) ? opts.map(pyStr) : opts === null ? [] : pyStr(opts).split(',');

/** Runs mount or umount, as another user on request; returns True or the error message. */
async function run(words: string[], user: Value, ctx: ModuleContext): Promise<Value> {
  const [tool = '', ...args] = words;
  if (user) {
    const out = (await ctx.callWith('cmd.run_all', [words], { runas: user, python_shell: false })) as PlainDict;
    return out['retcode'] === 0 ? true : (out['stderr'] ?? '');
  }
  const { retcode, stderr } = await runTool(ctx, tool, args);
  return retcode === 0 ? true : stderr.trimEnd();
}

interface MountRequest {
  readonly name: string;
  readonly device: Value;
  readonly mkmnt: boolean;
  readonly fstype: string;
  readonly opts: Value;
  readonly user: Value;
}

async function mount(request: MountRequest, ctx: ModuleContext): Promise<Value> {
  const { name, device, fstype, user } = request;
  if (!existsSync(name) && request.mkmnt) await ctx.callWith('file.mkdir', [name], { user });
  const opts = optionList(request.opts);
  const args = [...(opts.length > 0 ? ['-o', opts.join(',')] : []), ...(fstype ? ['-t', fstype] : [])];
  return run(['mount', ...(device ? [...args, '--', pyStr(device), name] : ['--', name])], user, ctx);
}

async function remount(request: MountRequest, ctx: ModuleContext): Promise<Value> {
  if (!(request.name in (await active(false, ctx)))) return mount(request, ctx);
  const opts = optionList(request.opts);
  if (!opts.includes('remount')) opts.push('remount');
  const type = request.fstype ? ['-t', request.fstype] : [];
  return run(['mount', '-o', opts.join(','), ...type, '--', pyStr(request.device), request.name], request.user, ctx);
}

const cacheFile = (ctx: ModuleContext): string =>
  join(pyStr(ctx.opts['cachedir'] ?? '/var/cache/salt/minion'), 'mounts');

function readCache(ctx: ModuleContext): PlainDict {
  try {
    const data = loadYaml(readFileSync(cacheFile(ctx), 'utf8')) as { mounts?: PlainDict } | null;
    return newDict(Object.entries(data?.mounts ?? {}));
  } catch {
    return newDict();
  }
}

function writeCache(mounts: PlainDict, ctx: ModuleContext): void {
  mkdirSync(dirname(cacheFile(ctx)), { recursive: true });
  writeFileSync(cacheFile(ctx), dumpYaml(newDict([['mounts', mounts]])), { mode: 0o600 });
}

function mountOf(path: string): string {
  let at = existsSync(path) ? realpathSync(path) : resolve(path);
  while (at !== '/' && (!existsSync(at) || statSync(at).dev === statSync(dirname(at)).dev)) at = dirname(at);
  return at;
}

const name = p.path({ doc: 'mount point' });
const config = p.path({ default: '/etc/fstab', doc: 'the table' });
const mountParams = {
  mkmnt: p.bool({ default: false, doc: 'make the mount point' }),
  fstype: p.string({ default: '' }),
  opts: p.strings({ default: 'defaults', split: ',', nullable: true }),
  user: p.string({ default: null, doc: 'mount as this user' }),
};

export default defineModule({
  name: 'mount',
  doc: 'Mounted filesystems, swap, and fstab.',
  available: () => process.platform === 'linux' || 'mount: only Linux is supported',
  reads: [
    'active',
    'fstab',
    'is_fuse_exec',
    'swaps',
    'is_mounted',
    'read_mount_cache',
    'get_mount_from_path',
    'get_device_from_path',
  ],
  functions: {
    active: fn({
      doc: 'Mounted filesystems.',
      examples: ["salt '*' mount.active"],
      params: { extended: p.bool({ default: false, doc: 'with ids and options of the filesystem' }) },
      run: (args, ctx) => active(args.extended, ctx),
    }),
    fstab: fn({
      doc: 'The content of fstab.',
      examples: ["salt '*' mount.fstab"],
      params: { config },
      run: (args) => readFstab(args.config),
    }),
    rm_fstab: fn({
      doc: 'Removes a line from fstab.',
      examples: ["salt '*' mount.rm_fstab /mnt/foo /dev/sdg"],
      params: { name, device: p.string({ nullable: true }), config },
      run: (args) => removeEntry(args.name, args.device, args.config),
    }),
    set_fstab: fn({
      doc: 'Adds or changes a line of fstab: new, change or present.',
      examples: ["salt '*' mount.set_fstab /mnt/foo /dev/sdz1 ext4"],
      params: {
        name,
        device: p.string(),
        fstype: p.string(),
        opts: p.strings({ default: 'defaults', split: ',', nullable: true }),
        dump: p.string({ default: 0 }),
        pass_num: p.string({ default: 0 }),
        config,
        test: p.bool({ default: false, doc: 'only report what would be done' }),
        match_on: p.oneOf(['string', 'list'], { default: 'auto', doc: 'keys that identify the line' }),
        not_change: p.bool({ default: false, doc: 'do not change an existing line' }),
        kwargs: p.kwargs(),
      },
      reads: ({ test }, ctx) => test || ctx.test,
      run(args, ctx) {
        const escaped = (text: string): string => text.replaceAll('\\ ', '\\040');
        const entry = {
          name: args.name,
          device: escaped(args.device),
          fstype: args.fstype,
          opts: escaped(optionList(args.opts).join(',')),
          dump: args.dump,
          pass_num: args.pass_num,
        };
        return setEntry(entry, {
          config: args.config,
          test: args.test || ctx.test,
          matchOn: args.match_on,
          keep: args.not_change,
        });
      },
    }),
    mount: fn({
      doc: 'Mounts a device: True, or an error message.',
      examples: ["salt '*' mount.mount /mnt/foo /dev/sdz1 True"],
      params: {
        name,
        device: p.string({ default: false, falsy: null }),
        ...mountParams,
        util: p.string({ default: 'mount', doc: 'only mount is supported' }),
      },
      run: (args, ctx) => (args.util === 'mount' ? mount(args, ctx) : false),
    }),
    remount: fn({
      doc: 'Remounts with other options.',
      examples: ["salt '*' mount.remount /mnt/foo /dev/sdz1 True"],
      params: { name, device: p.string({ falsy: null }), ...mountParams },
      run: (args, ctx) => remount(args, ctx),
    }),
    umount: fn({
      doc: 'Unmounts: True, or an error message.',
      examples: ["salt '*' mount.umount /mnt/foo"],
      params: {
        name,
        device: p.string({ default: null, falsy: null }),
        user: p.string({ default: null }),
        util: p.string({ default: 'mount', doc: 'only mount is supported' }),
      },
      async run(args, ctx): Promise<Value> {
        if (!(args.name in (await active(false, ctx)))) return `${args.name} does not have anything mounted`;
        return run(['umount', '--', args.device ? args.device : args.name], args.user, ctx);
      },
    }),
    is_fuse_exec: fn({
      doc: 'Whether a program uses FUSE.',
      examples: ["salt '*' mount.is_fuse_exec sshfs"],
      params: { cmd: p.string() },
      async run(args, ctx) {
        const path = which(args.cmd);
        return path !== null && (await askTool(ctx, 'ldd', [path])).stdout.includes('libfuse');
      },
    }),
    swaps: fn({ doc: 'Swap in use.', examples: ["salt '*' mount.swaps"], run: swaps }),
    swapon: fn({
      doc: 'Turns swap on.',
      examples: ["salt '*' mount.swapon /root/swapfile"],
      params: { name: p.path(), priority: p.string({ default: null, falsy: null }) },
      async run(args, ctx): Promise<Value> {
        const before = swaps()[args.name];
        if (before !== undefined)
          return newDict([
            ['stats', before],
            ['new', false],
          ]);
        await runTool(ctx, 'swapon', [...(args.priority ? ['-p', args.priority] : []), '--', args.name]);
        const after = swaps()[args.name];
        return after === undefined
          ? newDict()
          : newDict([
              ['stats', after],
              ['new', true],
            ]);
      },
    }),
    swapoff: fn({
      doc: 'Turns swap off; None when it was not on.',
      examples: ["salt '*' mount.swapoff /root/swapfile"],
      params: { name: p.path() },
      async run(args, ctx) {
        if (!(args.name in swaps())) return null;
        await runTool(ctx, 'swapoff', ['--', args.name]);
        return !(args.name in swaps());
      },
    }),
    is_mounted: fn({
      doc: 'Whether a filesystem is mounted there.',
      examples: ["salt '*' mount.is_mounted /mnt/share"],
      params: { name },
      run: async (args, ctx) => args.name in (await active(false, ctx)),
    }),
    read_mount_cache: fn({
      doc: 'How a filesystem was mounted by a state.',
      examples: ["salt '*' mount.read_mount_cache /mnt/share"],
      params: { name },
      run: (args, ctx) => readCache(ctx)[args.name] ?? newDict(),
    }),
    write_mount_cache: fn({
      doc: 'Records how a filesystem was mounted.',
      examples: ["salt '*' mount.write_mount_cache /mnt/share /dev/sda1 False ext4 defaults,nosuid"],
      params: {
        real_name: p.path(),
        device: p.scalar({ nullable: true }),
        mkmnt: p.scalar({ nullable: true }),
        fstype: p.scalar({ nullable: true }),
        mount_opts: p.oneOf(['string', 'list'], { nullable: true }),
      },
      run({ real_name, device, fstype, mkmnt, mount_opts: opts }, ctx) {
        writeCache(
          Object.assign(readCache(ctx), {
            [real_name]: newDict([
              ['device', device],
              ['fstype', fstype],
              ['mkmnt', mkmnt],
              ['opts', opts],
            ]),
          }),
          ctx,
        );
        return true;
      },
    }),
    delete_mount_cache: fn({
      doc: 'Removes the record of how a filesystem was mounted.',
      examples: ["salt '*' mount.delete_mount_cache /mnt/foo"],
      params: { real_name: p.path() },
      run(args, ctx) {
        const { [args.real_name]: gone, ...rest } = readCache(ctx);
        if (gone !== undefined) writeCache(newDict(Object.entries(rest)), ctx);
        return true;
      },
    }),
    get_mount_from_path: fn({
      doc: 'The mount point of a path.',
      examples: ["salt '*' mount.get_mount_from_path /opt/some/nested/path"],
      params: { path: p.path() },
      run: (args) => mountOf(args.path),
    }),
    get_device_from_path: fn({
      doc: 'The device of a path.',
      examples: ["salt '*' mount.get_device_from_path /"],
      params: { path: p.path() },
      run: async (args, ctx) =>
        ((await active(false, ctx))[mountOf(args.path)] as { device?: Value } | undefined)?.device ?? null,
    }),
  },
});
