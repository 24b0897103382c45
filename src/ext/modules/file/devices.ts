// Functions of `file` for device files and pipes, and for files that processes have open.

import {
  dictOf,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyInt,
  pythonError,
  type Value,
} from 'halite/sdk';
import {
  dirName,
  expandUser,
  isDirectory,
  listDir,
  lstatOf,
  normalizeMode,
  normalPath,
  realpathSync,
  statOf,
} from 'halite/sdk/fs';
import { changeMode, changeOwner } from '../../shared/file/owner.ts';
import { makeFolders } from './moves.ts';

interface Node {
  readonly name: string;
  readonly type: 'c' | 'b' | 'p';
  readonly numbers: readonly number[];
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
}
const titles = { c: 'Character device', b: 'Block device', p: 'Fifo pipe' };

async function makeNode(node: Node, ctx: ModuleContext): Promise<PlainDict> {
  const created = `${titles[node.type]} ${node.name} created.`;
  const answer = (changes: PlainDict, comment: string, result: boolean | null): PlainDict =>
    newDict([
      ['name', node.name],
      ['changes', changes],
      ['comment', comment],
      ['result', result],
    ]);
  if (ctx.test) return answer(newDict([['new', created]]), '', null);
  if (lstatOf(node.name)) return answer(newDict(), `File ${node.name} exists and cannot be overwritten`, false);
  const mode = normalizeMode(node.mode) ?? '0660';
  const { retcode, stderr } = await ctx.exec('mknod', ['-m', mode, node.name, node.type, ...node.numbers.map(String)]);
  if (retcode !== 0) throw pythonError('OSError', stderr.trim());
  if (node.user !== null || node.group !== null) changeOwner(node.name, node.user ?? '', node.group);
  changeMode(node.name, mode);
  return answer(newDict([['new', created]]), '', true);
}

/** Major and minor number of a device; zeros for anything else. */
function deviceNumbers(path: string): [number, number] {
  const stats = statOf(path);
  if (!stats || !(stats.isCharacterDevice() || stats.isBlockDevice())) return [0, 0];
  const device = stats.rdev;
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn & 0xffffffffn);
  return [Number(major), Number(minor)];
}

function openFiles(byPid: boolean): Value {
  const files = new Map<string, Set<number>>();
  const processes = new Map<number, Set<string>>();
  for (const pid of listDir('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    const names = new Set<string>();
    for (const link of [...listDir(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`), `/proc/${pid}/exe`]) {
      try {
        const name = realpathSync(link);
        // A pipe has a path that is not a file; sockets and removed files have none.
        if (statOf(name)) names.add(name);
      } catch {
        // The process ended in between.
      }
    }
    processes.set(pid, names);
    for (const name of names) files.set(name, (files.get(name) ?? new Set()).add(pid));
  }
  if (byPid) return dictOf([...processes].map(([pid, names]) => [pid, [...names].sort()] as const));
  return dictOf([...files].map(([name, pids]) => [name, [...pids].sort((a, b) => a - b)] as const));
}

const name = p.path();
const ownerParams = {
  user: p.oneOf(['int', 'string'], { default: null }),
  group: p.oneOf(['int', 'string'], { default: null }),
  mode: p.string({ default: '0660' }),
};
const question = (doc: string, key: string, check: (path: string) => boolean) =>
  fn({ doc, examples: [`salt '*' file.${key} /dev/x`], params: { name }, run: (args) => check(expandUser(args.name)) });

export const deviceFunctions = {
  is_chrdev: question(
    'Whether a path is a character device.',
    'is_chrdev',
    (path) => statOf(path)?.isCharacterDevice() ?? false,
  ),
  is_blkdev: question(
    'Whether a path is a block device.',
    'is_blkdev',
    (path) => statOf(path)?.isBlockDevice() ?? false,
  ),
  is_fifo: question('Whether a path is a named pipe.', 'is_fifo', (path) => statOf(path)?.isFIFO() ?? false),
  get_devmm: fn({
    doc: 'Major and minor number of a device.',
    examples: ["salt '*' file.get_devmm /dev/null"],
    params: { name },
    run: (args) => deviceNumbers(expandUser(args.name)),
  }),
  mknod_chrdev: fn({
    doc: 'Creates a character device.',
    examples: ["salt '*' file.mknod_chrdev /dev/chr 180 31"],
    params: { name, major: p.int(), minor: p.int(), ...ownerParams },
    run: (args, ctx) =>
      makeNode(
        { ...args, name: expandUser(args.name), type: 'c', numbers: [pyInt(args.major), pyInt(args.minor)] },
        ctx,
      ),
  }),
  mknod_blkdev: fn({
    doc: 'Creates a block device.',
    examples: ["salt '*' file.mknod_blkdev /dev/blk 8 999"],
    params: { name, major: p.int(), minor: p.int(), ...ownerParams },
    run: (args, ctx) =>
      makeNode(
        { ...args, name: expandUser(args.name), type: 'b', numbers: [pyInt(args.major), pyInt(args.minor)] },
        ctx,
      ),
  }),
  mknod_fifo: fn({
    doc: 'Creates a named pipe.',
    examples: ["salt '*' file.mknod_fifo /dev/fifo"],
    params: { name, ...ownerParams },
    run: (args, ctx) => makeNode({ ...args, name: expandUser(args.name), type: 'p', numbers: [] }, ctx),
  }),
  mknod: fn({
    doc: 'Creates a character device (c), block device (b) or named pipe (p).',
    examples: ["salt '*' file.mknod /dev/chr c 180 31", "salt '*' file.mknod /dev/fifo p"],
    params: {
      name,
      ntype: p.string(),
      major: p.int({ default: 0 }),
      minor: p.int({ default: 0 }),
      user: p.oneOf(['int', 'string'], { default: null }),
      group: p.oneOf(['int', 'string'], { default: null }),
      mode: p.string({ default: '0600' }),
    },
    run(args, ctx) {
      const type = args.ntype;
      if (type !== 'c' && type !== 'b' && type !== 'p') {
        throw invocationError(
          `Node type unavailable: '${type}'. Available node types are character ('c'), block ('b'), and pipe ('p').`,
        );
      }
      const path = expandUser(args.name);
      const folder = normalPath(dirName(path));
      if (!isDirectory(folder)) makeFolders(folder, { user: args.user, group: args.group, mode: null });
      const numbers = type === 'p' ? [] : [pyInt(args.major), pyInt(args.minor)];
      return makeNode({ ...args, name: path, type, numbers }, ctx);
    },
  }),
  open_files: fn({
    doc: 'Deleted files that processes have open, with their process ids; with by_pid files by process id.',
    examples: ["salt '*' file.open_files", "salt '*' file.open_files by_pid=True"],
    params: { by_pid: p.bool({ default: false }) },
    run: (args) => openFiles(args.by_pid),
  }),
};
