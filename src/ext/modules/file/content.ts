// Functions of `file` that read and write content as a whole.

import {
  asNumber,
  commandError,
  fn,
  HaliteError,
  invocationError,
  type PlainDict,
  p,
  pyInt,
  pyStr,
  type Value,
} from 'halite/sdk';
import {
  expandUser,
  globPaths,
  open,
  osReason,
  pathExists,
  readFile,
  truncate,
  utimes,
  withOsErrors,
  writeFile,
} from 'halite/sdk/fs';
import { keepLines, matchesGlob, pyRegexSearch, shellSplit } from 'halite/sdk/text';

/** Lines given as positional arguments, or as the keyword `args`. */
function linesOf(args: readonly Value[], kwargs: PlainDict): string[] {
  const named = kwargs['args'];
  const list = named === undefined ? args : Array.isArray(named) ? named : [named];
  return list.map((line) => pyStr(line));
}
const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

async function append(path: string, lines: readonly string[]): Promise<string> {
  await withOsErrors(path, async () => {
    const file = await open(path, 'r+');
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      const gap = size > 0 && last[0] !== 10 ? '\n' : '';
      await file.write(gap + joined(lines), size);
    } finally {
      await file.close();
    }
  });
  return `Wrote ${lines.length} lines to "${path}"`;
}

function timeOf(value: Value): number | undefined {
  if (value === null) return undefined;
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : asNumber(value);
  if (number === undefined) throw invocationError('atime and mtime must be integers');
  return number;
}

async function touch(path: string, atime: Value, mtime: Value): Promise<boolean> {
  try {
    if (!pathExists(path)) await (await open(path, 'a')).close();
    const [accessed, modified] = [timeOf(atime), timeOf(mtime)];
    const now = Date.now() / 1000;
    await utimes(path, accessed ?? now, modified ?? now);
  } catch (error) {
    throw error instanceof HaliteError ? error : commandError(osReason(error));
  }
  return pathExists(path);
}

/** The text, or None when the file is missing or unreadable. */
async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

const path = p.path();
const lineParams = { path, args: p.rest({ doc: 'lines' }), kwargs: p.kwargs({ doc: 'args: the lines as a list' }) };

export const contentFunctions = {
  read: fn({
    doc: 'The content of a file.',
    examples: ["salt '*' file.read /path/to/file"],
    params: { path, binary: p.bool({ default: false, doc: 'as bytes' }) },
    run: (args) =>
      withOsErrors(args.path, async (): Promise<Value> => {
        const content = await readFile(args.path);
        return args.binary ? new Uint8Array(content) : content.toString('utf8');
      }),
  }),
  write: fn({
    doc: 'Writes lines into a file, which is replaced.',
    examples: [`salt '*' file.write /etc/motd args='["Welcome to this machine."]'`],
    params: lineParams,
    async run(args) {
      const target = expandUser(args.path);
      const lines = linesOf(args.args, args.kwargs);
      await withOsErrors(target, () => writeFile(target, joined(lines)));
      return `Wrote ${lines.length} lines to "${target}"`;
    },
  }),
  append: fn({
    doc: 'Adds lines at the end of a file.',
    examples: [`salt '*' file.append /etc/motd "Welcome to this machine."`],
    params: lineParams,
    run: (args) => append(expandUser(args.path), linesOf(args.args, args.kwargs)),
  }),
  prepend: fn({
    doc: 'Adds lines at the beginning of a file.',
    examples: [`salt '*' file.prepend /etc/motd "first line"`],
    params: lineParams,
    async run(args) {
      const target = expandUser(args.path);
      const lines = linesOf(args.args, args.kwargs);
      const before = (await textOf(target)) ?? '';
      await withOsErrors(target, () => writeFile(target, joined(lines) + before));
      return `Prepended ${lines.length} lines to "${target}"`;
    },
  }),
  touch: fn({
    doc: 'Creates an empty file, or sets the times of an existing one.',
    examples: ["salt '*' file.touch /var/log/emptyfile"],
    params: { name: p.path(), atime: p.scalar({ default: null }), mtime: p.scalar({ default: null }) },
    run: (args) => touch(expandUser(args.name), args.atime, args.mtime),
  }),
  truncate: fn({
    doc: 'Truncates or extends a file to a number of bytes.',
    examples: ["salt '*' file.truncate /path/to/file 512"],
    params: { path, length: p.int({ fractions: 'cut' }) },
    async run(args) {
      const target = expandUser(args.path);
      await withOsErrors(target, async () => {
        if (!pathExists(target)) throw Object.assign(new Error(target), { code: 'ENOENT' });
        await truncate(target, pyInt(args.length));
      });
      return null;
    },
  }),
  seek_read: fn({
    doc: 'Some bytes of a file from an offset on.',
    examples: ["salt '*' file.seek_read /path/to/file 4096 0"],
    params: { path, size: p.int({ fractions: 'cut' }), offset: p.int({ fractions: 'cut' }) },
    run(args) {
      const target = expandUser(args.path);
      return withOsErrors(target, async () => {
        const file = await open(target, 'r');
        try {
          const wanted = Buffer.alloc(Math.min(pyInt(args.size), 64 * 1024 * 1024));
          const { bytesRead } = await file.read(wanted, 0, wanted.length, pyInt(args.offset));
          return wanted.subarray(0, bytesRead).toString('utf8');
        } finally {
          await file.close();
        }
      });
    },
  }),
  seek_write: fn({
    doc: 'Writes into a file at an offset; the number of bytes written.',
    examples: ["salt '*' file.seek_write /path/to/file 'some data' 4096"],
    params: { path, data: p.scalar(), offset: p.int({ fractions: 'cut' }) },
    run(args) {
      const target = expandUser(args.path);
      return withOsErrors(target, async () => {
        const file = await open(target, 'r+');
        try {
          const data = args.data instanceof Uint8Array ? args.data : Buffer.from(pyStr(args.data));
          const { bytesWritten } = await file.write(data, 0, data.length, pyInt(args.offset));
          await file.sync();
          return bytesWritten;
        } finally {
          await file.close();
        }
      });
    },
  }),
  contains: fn({
    doc: 'Whether a file contains a text.',
    examples: ["salt '*' file.contains /etc/crontab 'mymaintenance.sh'"],
    params: { path, text: p.string() },
    run: async (args) => (await textOf(expandUser(args.path)))?.includes(args.text.trim()) ?? false,
  }),
  contains_regex: fn({
    doc: 'Whether a regular expression matches a line of a file; lchar are characters to remove at the start of lines.',
    examples: ["salt '*' file.contains_regex /etc/crontab '^SHELL'"],
    params: { path, regex: p.string(), lchar: p.string({ default: '' }) },
    async run(args) {
      const text = await textOf(expandUser(args.path));
      if (text === undefined) return false;
      const pattern = pyRegexSearch(args.regex);
      const stripped = (line: string): string => {
        let start = 0;
        while (start < line.length && args.lchar.includes(line.charAt(start))) start++;
        return line.slice(start);
      };
      return keepLines(text).some((line) => pattern.test(args.lchar ? stripped(line) : line));
    },
  }),
  contains_glob: fn({
    doc: 'Whether a glob matches the content of a file.',
    examples: ["salt '*' file.contains_glob /etc/foobar '*listen*'"],
    params: { path, glob_expr: p.string() },
    async run(args) {
      const text = await textOf(expandUser(args.path));
      return text !== undefined && text !== '' && matchesGlob(text, args.glob_expr);
    },
  }),
  grep: fn({
    doc: 'Runs grep on files (globs allowed) and returns what cmd.run_all does.',
    examples: [
      "salt '*' file.grep /etc/passwd nobody",
      `salt '*' file.grep /etc/sysconfig/network-scripts/ifcfg-eth0 ipaddr -- -i`,
    ],
    params: { path, pattern: p.string(), opts: p.rest({ doc: 'options of grep, one per argument' }) },
    run(args, ctx) {
      const options = args.opts.flatMap((option) => {
        const words = shellSplit(pyStr(option));
        if (words.length > 1) {
          throw invocationError(
            `Passing multiple command line arguments in a single string is not supported, please pass the following arguments separately: ${pyStr(option)}`,
          );
        }
        return words;
      });
      const target = expandUser(args.path);
      const found = globPaths(target);
      return ctx.call('cmd.run_all', ['grep', ...options, args.pattern, ...(found.length > 0 ? found : [target])]);
    },
  }),
};
