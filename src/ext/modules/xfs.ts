// Execution module `xfs`: XFS file systems.
import {
  commandError,
  defineModule,
  fn,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { lines } from 'halite/sdk/text';
import { type Answer, command } from './shared/command.ts';

function checked(answer: Answer): string {
  if (answer.retcode !== 0 && answer.stderr) throw commandError(answer.stderr);
  return answer.stdout;
}

/** `name=value` pairs of one line; a value may contain spaces, and an empty name belongs to the previous pair. */
function pairs(line: string): [string, string][] {
  const text = line.replace(/^=\s*/, '').replaceAll(' = ', '=*** ').replaceAll(' =', '=');
  const words: string[] = [];
  for (const word of text.split(' ')) {
    if (words.length === 0 || word.includes('=')) words.push(word);
    else words.push(`${words.pop()} ${word}`);
  }
  return words.map((word) => [word.split('=')[0] ?? '', word.split('=')[1] ?? '']);
}

/** What mkfs.xfs and xfs_info print, by section. */
export function parseInfo(text: string): PlainDict {
  const found: Record<string, PlainDict> = newDict() as Record<string, PlainDict>;
  let section = '';
  for (const raw of text.split('\n')) {
    const line = raw.replace(/\s+/g, ' ').trim().replaceAll(', ', ' ');
    if (!line.includes('=')) continue;
    const list = pairs(line);
    if (!line.startsWith('=')) {
      const [name = '', value = ''] = list.shift() ?? [];
      section = name;
      found[section] = newDict([['section', value === '***' ? name : value]]);
    }
    found[section] ??= newDict();
    for (const [name, value] of list) (found[section] as PlainDict)[name] = value;
  }
  return newDict(Object.entries(found));
}

function mounts(): Map<string, PlainDict> {
  const found = new Map<string, PlainDict>();
  for (const line of lines(readText('/proc/mounts') ?? '')) {
    const [device = '', mount_point = '', kind, options = ''] = line.split(' ');
    if (kind === 'xfs') found.set(device, newDict(Object.entries({ mount_point, options: options.split(',') })));
  }
  return found;
}

/** What blkid exports, of XFS only. */
function parseBlkid(text: string): PlainDict {
  const found = newDict();
  const mounted = mounts();
  for (const block of text.split('\n\n').filter((part) => part.trim())) {
    const facts = newDict();
    for (const line of lines(block.trim())) {
      const at = line.indexOf('=');
      if (at > 0) facts[line.slice(0, at).toLowerCase()] = line.slice(at + 1);
    }
    const { type, devname, ...rest } = facts;
    if (type !== 'xfs') continue;
    const device = pyStr(devname ?? '');
    found[device] = newDict([
      ...Object.entries({ ...rest, label: rest['label'] ?? null }),
      ...Object.entries(mounted.get(device) ?? {}),
    ]);
  }
  return found;
}

const device = p.string({ doc: 'the device' });

/** Options with values for one switch: `size=4096,log=12`. */
const switched = (flag: string, options: string | null): string[] =>
  isTruthy(options) && pyStr(options).includes('=') ? [flag, pyStr(options)] : [];

async function modify(args: { device: string; label: Value; lazy_counting: Value; uuid: Value }, ctx: ModuleContext) {
  const { label, lazy_counting: lazy, uuid } = args;
  if (!isTruthy(label) && lazy === null && uuid === null)
    throw commandError(`Nothing specified for modification for "${args.device}" device`);
  const argv = [
    ...(isTruthy(label) ? ['-L', pyStr(label)] : []),
    ...(lazy === null ? [] : ['-c', lazy === false ? '0' : '1']),
    ...(uuid === false ? ['-U', 'nil'] : isTruthy(uuid) ? ['-U', 'generate'] : []),
  ];
  checked(await command(ctx, ['xfs_admin', ...argv, args.device]));
  return parseBlkid(checked(await command(ctx, ['blkid', '-o', 'export', args.device])));
}

export default defineModule({
  name: 'xfs',
  doc: 'XFS file systems.',
  reads: ['info', 'devices'],
  functions: {
    mkfs: fn({
      doc: 'Creates a file system; the data on the device is lost.',
      examples: ["salt '*' xfs.mkfs /dev/sda1 label=data"],
      params: {
        device,
        label: p.string({ default: null, falsy: null, doc: 'its name' }),
        ssize: p.string({ default: null, falsy: null, doc: 'size of a sector' }),
        noforce: p.truthy({ default: null, doc: 'fail when the device already has one' }),
        bso: p.string({ default: null, falsy: null, doc: 'options of blocks' }),
        gmo: p.string({ default: null, falsy: null, doc: 'options of metadata' }),
        ino: p.string({ default: null, falsy: null, doc: 'options of inodes' }),
        lso: p.string({ default: null, falsy: null, doc: 'options of the log' }),
        rso: p.string({ default: null, falsy: null, doc: 'options of the real-time part' }),
        nmo: p.string({ default: null, falsy: null, doc: 'options of names' }),
        dso: p.string({ default: null, falsy: null, doc: 'options of data' }),
      },
      async run(args, ctx) {
        const argv = [
          ...(isTruthy(args.label) ? ['-L', pyStr(args.label)] : []),
          ...(isTruthy(args.ssize) ? ['-s', pyStr(args.ssize)] : []),
          ...[switched('-b', args.bso), switched('-m', args.gmo), switched('-n', args.nmo)].flat(),
          ...[switched('-i', args.ino), switched('-d', args.dso), switched('-l', args.lso)].flat(),
          ...switched('-r', args.rso),
          ...(args.noforce ? [] : ['-f']),
        ];
        return parseInfo(checked(await command(ctx, ['mkfs.xfs', ...argv, args.device])));
      },
    }),
    info: fn({
      doc: 'The layout of a file system.',
      examples: ["salt '*' xfs.info /dev/sda1"],
      params: { device },
      async run(args, ctx) {
        const done = await command(ctx, ['xfs_info', args.device]);
        if (done.stderr) throw commandError(done.stderr.replaceAll('xfs_info:', '').trim());
        return parseInfo(done.stdout);
      },
    }),
    devices: fn({
      doc: 'Devices with an XFS file system, and their mount points.',
      examples: ["salt '*' xfs.devices"],
      run: async (_, ctx) => parseBlkid(checked(await command(ctx, ['blkid', '-o', 'export']))),
    }),
    modify: fn({
      doc: 'Changes label, lazy counters or UUID of a file system.',
      examples: ["salt '*' xfs.modify /dev/sda1 label=data"],
      params: {
        device,
        label: p.string({ default: null, falsy: null, doc: 'its name' }),
        lazy_counting: p.oneOf(['bool', 'string'], { default: null, doc: 'lazy counters' }),
        uuid: p.oneOf(['bool', 'string'], { default: null, doc: 'true: a new one; false: none' }),
      },
      run: modify,
    }),
    defragment: fn({
      doc: 'Defragments a file system.',
      examples: ["salt '*' xfs.defragment /dev/sda1"],
      params: { device },
      async run(args, ctx) {
        if (args.device === '/') throw commandError('Root is not a device.');
        if (!mounts().has(args.device)) throw commandError(`Device "${args.device}" is not mounted`);
        return newDict([['log', checked(await command(ctx, ['xfs_fsr', args.device]))]]);
      },
    }),
  },
});
