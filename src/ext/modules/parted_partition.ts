// Execution module `partition`: partitions of disks, with parted.

import { commandError, defineModule, fn, type ModuleContext, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import { statSync } from 'halite/sdk/fs';
import { runTool, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

const units = ['s', 'B', 'kB', 'MB', 'MiB', 'GB', 'GiB', 'TB', 'TiB', '%', 'cyl', 'chs', 'compact'];
const diskFlags = ['cylinder_alignment', 'pmbr_boot', 'implicit_partition_table'];
const flags =
  'boot root swap hidden raid lvm lba hp-service palo prep msftres bios_grub atvrecv diag legacy_boot msftdata irst esp type'.split(
    ' ',
  );
const labels = ['aix', 'amiga', 'bsd', 'dvh', 'gpt', 'loop', 'mac', 'msdos', 'pc98', 'sun'];
const filesystems = 'btrfs ext2 ext3 ext4 fat fat32 fat16 linux-swap reiserfs hfs hfs+ hfsx NTFS ntfs ufs xfs'.split(
  ' ',
);

const isDevice = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isBlockDevice() ?? false;

function needDevice(path: string): string {
  if (!isDevice(path)) throw commandError('Invalid device passed to partition module.');
  return path;
}

function needOneOf(value: string, valid: readonly string[], what: string): string {
  if (!valid.includes(value)) throw commandError(`Invalid ${what}`);
  return value;
}

function needNumber(value: string, where: string): string {
  if (!/^\s*\d+\s*$/.test(pyStr(value))) throw commandError(`Invalid minor number passed to partition.${where}`);
  return pyStr(value).trim();
}

function needBoundary(value: string): string {
  const unit = /^[\d.]+(\D*)$/.exec(pyStr(value))?.[1];
  if (unit === undefined || (unit !== '' && !units.includes(unit)))
    throw commandError(`Invalid partition boundary passed: "${pyStr(value)}"`);
  return pyStr(value);
}

async function run(tool: string, args: readonly string[], ctx: ModuleContext): Promise<string[]> {
  const { stdout, stderr } = await runTool(ctx, tool, args);
  return lines(`${stdout}${stderr}`.trimEnd());
}
const parted = (args: readonly string[], ctx: ModuleContext): Promise<string[]> =>
  run('parted', ['-m', '-s', ...args], ctx);

const infoFields = [
  'disk',
  'size',
  'interface',
  'logical sector',
  'physical sector',
  'partition table',
  'model',
  'disk flags',
];

/** The output of `parted -m print`. */
export function parseParted(text: readonly string[], unit: string | null): PlainDict {
  const failed = (): Error => commandError('Problem encountered while parsing output from parted');
  let info: PlainDict | undefined;
  const partitions = newDict();
  for (const line of text) {
    if (line === 'BYT;' || line === 'CHS;' || line === 'CYL;') continue;
    const columns = line.replace(/;+$/, '').split(':');
    if (!info) {
      if (columns.length < 7 || columns.length > 8) throw failed();
      info = newDict(columns.map((value, at) => [infoFields[at] ?? '', value]));
      continue;
    }
    const isFree = columns.at(-1) === 'free';
    if (isFree) columns.pop();
    const fields = [
      'number',
      'start',
      'end',
      ...(unit === 'chs' ? [] : ['size']),
      ...(isFree ? [] : ['file system', 'name', 'flags']),
    ];
    if (fields.length !== columns.length) throw failed();
    partitions[columns[0] ?? ''] = newDict(fields.map((field, at) => [field, columns[at] ?? '']));
  }
  return newDict(Object.entries({ info: info ?? newDict(), partitions }));
}

const device = p.path({ doc: 'the disk' });
const minor = p.string({ doc: 'number of the partition' });
const flag = p.string({ doc: 'the flag' });
const state = p.string({ doc: 'on or off' });
const fs_type = p.string({ default: null, doc: 'kind of filesystem' });
const start = p.string({ default: null, doc: 'beginning' });
const end = p.string({ default: null, doc: 'end' });

const makePart = fn({
  doc: 'Creates a partition.',
  examples: ["salt '*' partition.mkpart /dev/sdb primary start=0 end=639"],
  params: { device, part_type: p.string({ doc: 'primary, logical or extended' }), fs_type, start, end },
  run({ device, part_type, fs_type, start, end }, ctx) {
    needDevice(device);
    needOneOf(part_type, ['primary', 'logical', 'extended'], 'part_type passed to partition.mkpart');
    if (fs_type) needOneOf(fs_type, filesystems, 'fs_type passed to partition.mkpart');
    const bounds =
      start !== null && end !== null
        ? [needBoundary(start), needBoundary(end)]
        : [pyStr(start ?? ''), pyStr(end ?? '')];
    const args = ['--', device, 'mkpart', part_type, ...(fs_type ? [fs_type] : []), ...bounds];
    return parted(args, ctx);
  },
});

const reading = {
  list: fn({
    doc: 'Partitions of a disk.',
    examples: ["salt '*' partition.list /dev/sda unit=s"],
    params: { device, unit: p.string({ default: null, doc: 'unit of sizes' }) },
    async run({ device, unit }, ctx) {
      needDevice(device);
      if (unit) needOneOf(unit, units, 'unit passed to partition.part_list');
      return parseParted(await parted([device, ...(unit ? ['unit', unit] : []), 'print'], ctx), unit);
    },
  }),
  exists: fn({
    doc: 'Whether a disk exists.',
    examples: ["salt '*' partition.exists /dev/sdb1"],
    params: { device: p.path({ default: '', doc: 'the disk' }) },
    run: (args) => args.device !== '' && isDevice(args.device),
  }),
  get_block_device: fn({
    doc: 'Disks without a filesystem of their own.',
    examples: ["salt '*' partition.get_block_device"],
    run: async (_, ctx) => run('lsblk', ['-n', '-io', 'KNAME', '-d', '-e', '1,7,11', '-l'], ctx),
  }),
  align_check: fn({
    doc: 'Whether a partition is aligned.',
    examples: ["salt '*' partition.align_check /dev/sda minimal 1"],
    params: { device, part_type: p.string({ doc: 'minimal or optimal' }), partition: minor },
    run({ device, part_type, partition }, ctx) {
      needDevice(device);
      needOneOf(part_type, ['minimal', 'optimal'], 'part_type passed to partition.align_check');
      return run('parted', ['-m', device, 'align-check', part_type, needNumber(partition, 'align_check')], ctx);
    },
  }),
  system_types: fn({
    doc: 'Kinds of partitions and their numbers.',
    examples: ["salt '*' partition.system_types"],
    run: async (_, ctx) =>
      newDict(
        (await run('sfdisk', ['-T'], ctx))
          .filter((line) => line.trim() !== '' && !line.startsWith('Id'))
          .map((line) => [words(line)[0] ?? '', words(line)[1] ?? '']),
      ),
  }),
};

const writing = {
  probe: fn({
    doc: 'Makes the kernel read partition tables again.',
    examples: ["salt '*' partition.probe /dev/sda"],
    params: { devices: p.rest({ doc: 'disks; all without' }) },
    run: (args, ctx) => run('partprobe', ['--', ...args.devices.map((path) => needDevice(pyStr(path)))], ctx),
  }),
  mklabel: fn({
    doc: 'Writes an empty partition table.',
    examples: ["salt '*' partition.mklabel /dev/sdb msdos"],
    params: { device, label_type: p.string({ doc: 'kind of table' }) },
    run: (args, ctx) =>
      parted(
        [args.device, 'mklabel', needOneOf(args.label_type, labels, 'label_type passed to partition.mklabel')],
        ctx,
      ),
  }),
  mkpart: makePart,
  mkpartfs: makePart,
  mkfs: fn({
    doc: 'Creates a filesystem.',
    examples: ["salt '*' partition.mkfs /dev/sda2 ext4"],
    params: { device, fs_type: p.string({ doc: 'kind of filesystem' }) },
    run(args, ctx) {
      needDevice(args.device);
      const type = needOneOf(args.fs_type, filesystems, 'fs_type passed to partition.mkfs').toLowerCase();
      const tool = type === 'linux-swap' ? 'mkswap' : `mkfs.${type}`;
      return which(tool) ? run(tool, [args.device], ctx) : `Error: ${tool} is unavailable.`;
    },
  }),
  name: fn({
    doc: 'Names a partition.',
    examples: ["salt '*' partition.name /dev/sda 1 'My Documents'"],
    params: { device, partition: minor, name: p.string({ doc: 'the name' }) },
    run(args, ctx) {
      if (!/^[\w -]*$/.test(args.name)) throw commandError('Invalid characters passed to partition.name');
      return parted([needDevice(args.device), 'name', needNumber(args.partition, 'name'), `'${args.name}'`], ctx);
    },
  }),
  rm: fn({
    doc: 'Removes a partition.',
    examples: ["salt '*' partition.rm /dev/sda 5"],
    params: { device, minor },
    run: (args, ctx) => parted([needDevice(args.device), 'rm', needNumber(args.minor, 'rm')], ctx),
  }),
  set: fn({
    doc: 'Sets a flag of a partition.',
    examples: ["salt '*' partition.set /dev/sda 1 boot on"],
    params: { device, minor, flag, state },
    run(args, ctx) {
      const on = needOneOf(args.state, ['on', 'off'], 'state passed to partition.set');
      const name = needOneOf(args.flag, flags, 'flag passed to partition.set');
      return parted([needDevice(args.device), 'set', needNumber(args.minor, 'set'), name, on], ctx);
    },
  }),
  toggle: fn({
    doc: 'Toggles a flag of a partition.',
    examples: ["salt '*' partition.toggle /dev/sda 1 boot"],
    params: { device, partition: minor, flag },
    run(args, ctx) {
      const name = needOneOf(args.flag, flags, 'flag passed to partition.toggle');
      return parted([needDevice(args.device), 'toggle', needNumber(args.partition, 'toggle'), name], ctx);
    },
  }),
  disk_set: fn({
    doc: 'Sets a flag of a disk.',
    examples: ["salt '*' partition.disk_set /dev/sda pmbr_boot on"],
    params: { device, flag, state },
    run(args, ctx) {
      const on = needOneOf(args.state, ['on', 'off'], 'state passed to partition.disk_set');
      const name = needOneOf(args.flag, diskFlags, 'flag passed to partition.disk_set');
      return parted([needDevice(args.device), 'disk_set', name, on], ctx);
    },
  }),
};

export default defineModule({
  name: 'parted_partition',
  virtualName: 'partition',
  doc: 'Partitions of disks.',
  available() {
    const missing = ['parted', 'lsblk', 'partprobe'].find((tool) => which(tool) === null);
    return missing === undefined || `The parted execution module failed to load ${missing} binary is not in the path.`;
  },
  reads: ['list', 'exists', 'get_block_device', 'align_check', 'system_types'],
  functions: { ...reading, ...writing },
});
