// Execution module `disk`: usage of filesystems and facts about block devices.
import {
  type ArgsOf,
  commandError,
  defineModule,
  dictOf,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  textList,
  type Value,
} from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { askTool, requireBinary, runTool, which } from 'halite/sdk/system';
import { lines, pyFloat, roundTo, words } from 'halite/sdk/text';
import { hdparmFunctions } from './shared/hdparm.ts';

function flagsOf(args: string | null, caller: string): string[] {
  if (!args) return [];
  if (!/^[aBhHiklPtTxv]+$/.test(args)) throw commandError(`Invalid flag passed to ${caller}`);
  return [`-${args}`];
}

/** Rows of `df -P`; a filesystem's name may contain blanks. */
export function parseDf(output: string): string[][] {
  return lines(output)
    .filter((line) => line !== '' && !line.startsWith('Filesystem'))
    .map((line) => {
      const columns = words(line);
      while (columns.length >= 2 && !/^\d+$/.test(columns[1] as string))
        columns.splice(0, 2, `${columns[0]} ${columns[1]}`);
      return columns;
    })
    .filter((columns) => columns.length >= 6);
}

const table = (rows: string[][], make: (columns: string[]) => Value): PlainDict =>
  newDict(rows.map((columns) => [columns[5] as string, make(columns)]));
const named = (columns: readonly string[], names: readonly (readonly [string, number])[]): PlainDict =>
  newDict(names.map(([name, index]) => [name, columns[index] ?? '']));

/** Attributes of block devices as blkid prints them. */
export function parseBlkid(output: string): PlainDict {
  const found = newDict();
  for (const line of lines(output).filter(Boolean)) {
    const colon = line.indexOf(':');
    const pairs = [...line.slice(colon + 1).matchAll(/(\S+?)="([^"]*)"/g)].map((match): [string, Value] => [
      match[1] as string,
      match[2] as string,
    ]);
    found[line.slice(0, colon)] = newDict(pairs);
  }
  return found;
}

const blockdevQuestions = [
  'getro',
  'getsz',
  'getss',
  'getpbsz',
  'getiomin',
  'getioopt',
  'getalignoff',
  'getmaxsect',
  'getsize',
  'getsize64',
  'getra',
  'getfra',
];

async function dump(device: string, wanted: Value, ctx: ModuleContext): Promise<Value> {
  const { retcode, stdout } = await runTool(ctx, 'blockdev', [...blockdevQuestions.map((name) => `--${name}`), device]);
  if (retcode !== 0) return false;
  const answers = lines(stdout).filter(Boolean);
  const found = newDict(blockdevQuestions.map((name, index) => [name, answers[index] ?? '']));
  return Array.isArray(wanted) && wanted.length > 0
    ? newDict(wanted.map((name) => [pyStr(name), found[pyStr(name)] ?? '']))
    : found;
}

const tunable: Readonly<Record<string, readonly [string, string, boolean]>> = {
  'read-ahead': ['setra', 'getra', true],
  'filesystem-read-ahead': ['setfra', 'getfra', true],
  'read-only': ['setro', 'getro', false],
  'read-write': ['setrw', 'getro', false],
};

async function tune(device: string, kwargs: PlainDict, ctx: ModuleContext): Promise<Value> {
  const options: string[] = [];
  const asked: string[] = [];
  const invalid: string[] = [];
  for (const [key, value] of Object.entries(kwargs).filter(([name]) => !name.startsWith('__'))) {
    const known = Object.hasOwn(tunable, key) ? tunable[key] : undefined;
    if (!known || (!known[2] && value !== true && value !== 'True')) invalid.push(`${key}=${pyStr(value)}`);
    else {
      options.push(`--${known[0]}`, ...(known[2] ? [pyStr(value)] : []));
      asked.push(known[1]);
    }
  }
  if (invalid.length > 0) throw invocationError(`Invalid keyword arguments: ${invalid.join(', ')}`);
  const { retcode, stderr } = await runTool(ctx, 'blockdev', [...options, device]);
  if (retcode !== 0) throw commandError(stderr.trim());
  return dump(device, asked, ctx);
}

async function filesystemType(device: string, ctx: ModuleContext): Promise<string> {
  if (which('lsblk')) {
    const type = lines((await askTool(ctx, 'lsblk', ['-o', 'fstype', device])).stdout)[1]?.trim();
    if (type) return type;
  }
  return which('df') ? (words(lines((await askTool(ctx, 'df', ['-T', device])).stdout)[1] ?? '')[1] ?? '') : '';
}

type FormatArgs = ArgsOf<typeof formatParams>;

function formatOptions(args: FormatArgs): string[] {
  const isExt = args.fs_type.startsWith('ext');
  const isXfs = args.fs_type === 'xfs';
  const size = args.inode_size === null ? null : pyStr(args.inode_size);
  return [
    ...['-t', args.fs_type],
    ...(size !== null && isExt ? ['-i', size] : size !== null && isXfs ? ['-i', `size=${size}`] : []),
    ...(args.lazy_itable_init !== null && isExt ? ['-E', `lazy_itable_init=${pyStr(args.lazy_itable_init)}`] : []),
    ...(args.fs_type.endsWith('fat') && [12, 16, 32].includes(Number(args.fat)) ? ['-F', pyStr(args.fat)] : []),
    ...(args.force ? (isExt ? ['-F'] : isXfs ? ['-f'] : []) : []),
    args.device,
  ];
}

/** SMART attributes by number. */
export function parseSmart(output: string, attributes: Value, values: Value): Value {
  const rows = lines(output);
  const start = rows.findIndex((row) => row.startsWith('ID#'));
  const fields = words(rows[start] ?? '')
    .slice(1)
    .map((field) => field.toLowerCase());
  const wanted = Array.isArray(values) ? values.map((value) => pyStr(value)) : undefined;
  const found: [Value, Value][] = [];
  for (const row of start < 0 ? [] : rows.slice(start + 1)) {
    if (!/^\s*\d/.test(row)) break;
    const columns = words(row);
    const id = Number(columns[0]);
    if (Array.isArray(attributes) && !attributes.map(Number).includes(id)) continue;
    const data = newDict();
    for (const [index, field] of fields.entries()) {
      if (wanted && !wanted.includes(field)) continue;
      const text = index === fields.length - 1 ? columns.slice(index + 1).join(' ') : (columns[index + 1] ?? '');
      const numbers = text.split(' ');
      const isNumbers = numbers.every((part) => /^-?\d+$/.test(part));
      data[field] = !isNumbers ? text : numbers.length === 1 ? Number(text) : numbers.map(Number);
    }
    found.push([id, data]);
  }
  return dictOf(found);
}

/** Averages of iostat's reports, by device. */
export function parseIostat(output: string): PlainDict {
  const sums = new Map<string, { header: string[]; rows: number[][] }>();
  const add = (name: string, header: string[], columns: string[]): void => {
    const entry = sums.get(name) ?? { header, rows: [] };
    entry.rows.push(columns.map(Number));
    sums.set(name, entry);
  };
  let header: string[] = [];
  let isCpu = false;
  for (const columns of lines(output).map(words)) {
    if (columns[0] === 'avg-cpu:' || columns[0]?.replace(':', '') === 'Device') {
      header = columns.slice(1);
      isCpu = columns[0] === 'avg-cpu:';
    } else if (columns.length === 0) header = [];
    else if (header.length > 0) add(isCpu ? 'sys' : (columns[0] as string), header, isCpu ? columns : columns.slice(1));
  }
  const average = (rows: number[][], index: number): number =>
    rows.reduce((sum, row) => sum + (row[index] ?? 0), 0) / rows.length;
  return newDict(
    [...sums].map(([name, { header: names, rows }]) => [
      name,
      newDict(names.map((key, index) => [key, pyFloat(roundTo(average(rows, index), 2))])),
    ]),
  );
}

const flags = p.string({ default: null, doc: 'letters of options for df' });
const device = p.string({ doc: 'path of the block device' });

const formatParams = {
  device,
  fs_type: p.string({ default: 'ext4' }),
  inode_size: p.string({ default: null }),
  lazy_itable_init: p.string({ default: null }),
  fat: p.string({ default: null, doc: '12, 16 or 32' }),
  force: p.bool({ default: false }),
};

export default defineModule({
  name: 'disk',
  doc: 'Usage of filesystems and facts about block devices.',
  available: () => process.platform === 'linux' || 'disk: only Linux is supported',
  reads: [
    'usage',
    'inodeusage',
    'percent',
    'blkid',
    'dump',
    'fstype',
    'get_fstype_from_path',
    'smart_attributes',
    'hdparms',
    'hpa',
    'iostat',
  ],
  functions: {
    usage: fn({
      doc: 'Size, used and free space of mounted filesystems.',
      examples: ["salt '*' disk.usage"],
      params: { args: flags },
      async run({ args }, ctx) {
        const { stdout } = await askTool(ctx, 'df', ['-P', ...flagsOf(args, 'disk.usage')]);
        const names = [
          ['filesystem', 0],
          ['1K-blocks', 1],
          ['used', 2],
          ['available', 3],
          ['capacity', 4],
        ] as const;
        return table(parseDf(stdout), (columns) => named(columns, names));
      },
    }),
    inodeusage: fn({
      doc: 'Used and free inodes of mounted filesystems.',
      examples: ["salt '*' disk.inodeusage"],
      params: { args: flags },
      async run({ args }, ctx) {
        const { stdout } = await askTool(ctx, 'df', ['-iP', ...flagsOf(args, 'disk.inodeusage')]);
        const rows = lines(stdout)
          .filter((line) => line !== '' && !line.startsWith('Filesystem'))
          .map(words);
        const names = [
          ['inodes', 1],
          ['used', 2],
          ['free', 3],
          ['use', 4],
          ['filesystem', 0],
        ] as const;
        return table(rows, (columns) => named(columns, names));
      },
    }),
    percent: fn({
      doc: 'Usage of mounted filesystems in percent; with a mount point only of that one.',
      examples: ["salt '*' disk.percent /var"],
      params: { args: p.string({ default: null, doc: 'a mount point' }) },
      async run({ args }, ctx) {
        const found = table(parseDf((await askTool(ctx, 'df', ['-P'])).stdout), (columns) => columns[4] ?? '');
        return args ? (found[args] ?? newDict()) : found;
      },
    }),
    blkid: fn({
      doc: 'Attributes of block devices: all, one device, or those with a token (`TYPE=ext4`).',
      examples: ["salt '*' disk.blkid", "salt '*' disk.blkid /dev/sda"],
      params: { device: p.string({ default: null }), token: p.string({ default: null }) },
      async run(args, ctx) {
        const options = args.device ? [args.device] : args.token ? ['-t', args.token] : [];
        const { retcode, stdout } = await runTool(ctx, requireBinary('blkid'), options);
        return retcode > 0 ? newDict() : parseBlkid(stdout);
      },
    }),
    dump: fn({
      doc: 'The output of blockdev for a device; False on failure.',
      examples: ["salt '*' disk.dump /dev/sda1"],
      params: { device, args: p.list({ default: null, doc: 'only these answers' }) },
      run: ({ device: path, args }, ctx) => dump(path, args, ctx),
    }),
    tune: fn({
      doc: 'Sets read-ahead, filesystem-read-ahead, read-only or read-write of a device.',
      examples: ["salt '*' disk.tune /dev/sda1 read-ahead=1024 read-write=True"],
      params: { device, kwargs: p.kwargs() },
      run: ({ device: path, kwargs }, ctx) => tune(path, kwargs, ctx),
    }),
    wipe: fn({
      doc: 'Removes the filesystem information of a device.',
      examples: ["salt '*' disk.wipe /dev/sda1"],
      params: { device },
      run: async (args, ctx) => (await runTool(ctx, 'wipefs', ['-a', args.device])).retcode === 0,
    }),
    resize2fs: fn({
      doc: 'Enlarges an ext filesystem to the size of its device.',
      examples: ["salt '*' disk.resize2fs /dev/sda1"],
      params: { device },
      run: async (args, ctx) => ((await runTool(ctx, 'resize2fs', [args.device])).retcode === 0 ? true : null),
    }),
    format: fn({
      doc: 'Creates a filesystem on a device.',
      examples: ["salt '*' disk.format /dev/sdX1"],
      params: formatParams,
      async run(args, ctx) {
        const made = await askTool(ctx, 'mkfs', formatOptions(args));
        const synced = await askTool(ctx, 'sync', []);
        return made.retcode === 0 && synced.retcode === 0;
      },
    }),
    fstype: fn({
      doc: 'The filesystem on a device.',
      examples: ["salt '*' disk.fstype /dev/sdX1"],
      params: { device },
      run: (args, ctx) => filesystemType(args.device, ctx),
    }),
    get_fstype_from_path: fn({
      doc: 'The filesystem of a path.',
      examples: ["salt '*' disk.get_fstype_from_path /root"],
      params: { path: p.path() },
      run({ path }) {
        const mounts = lines(readText('/proc/mounts') ?? '').map(words);
        const holding = mounts.filter(
          ([, point = '']) => path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`),
        );
        const best = holding.sort((a, b) => (b[1] ?? '').length - (a[1] ?? '').length)[0];
        return best?.[2] ?? '';
      },
    }),
    smart_attributes: fn({
      doc: 'SMART attributes of a disk by number; needs smartctl.',
      examples: ["salt '*' disk.smart_attributes /dev/sda"],
      params: {
        dev: p.string(),
        attributes: p.list({ default: null }),
        values: p.strings({ default: null, split: ',' }),
      },
      async run({ dev, attributes, values }, ctx) {
        const { retcode, stdout, stderr } = await runTool(ctx, 'smartctl', [
          '--attributes',
          dev.startsWith('/dev/') ? dev : `/dev/${dev}`,
        ]);
        if (retcode !== 0) throw commandError(stderr.trim());
        return parseSmart(stdout, attributes, values);
      },
    }),
    ...hdparmFunctions,
    iostat: fn({
      doc: 'Averages of several reports of iostat.',
      examples: ["salt '*' disk.iostat 1 5 disks=sda"],
      params: {
        interval: p.int({ default: 1 }),
        count: p.int({ default: 5 }),
        disks: p.strings({ default: null, split: ',' }),
      },
      async run({ interval, count, disks }, ctx) {
        const wanted =
          disks === null
            ? ['-x', String(interval), String(count)]
            : ['-xd', String(interval), String(count), ...textList(disks)];
        return parseIostat((await askTool(ctx, requireBinary('iostat'), wanted)).stdout);
      },
    }),
  },
});
