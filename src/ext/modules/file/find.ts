// `file.find`: walks folders and prints, deletes or runs a command for every matching path.
import { createHash } from 'node:crypto';
import { fn, type ModuleContext, type PlainDict, p, pyInt, pyStr, pythonError, type Value } from 'halite/sdk';
import {
  type BigIntStats,
  baseName,
  createReadStream,
  expandUser,
  globPaths,
  joinPath,
  lstatOf,
  readdirSync,
  readFileSync,
  rmSync,
  statOf,
} from 'halite/sdk/fs';
import { groupById, groupByName, userById, userByName } from 'halite/sdk/system';
import { pyRegex, pyRegexSearch, shellSplit, words } from 'halite/sdk/text';

interface Candidate {
  readonly path: string;
  readonly name: string;
  stats(): BigIntStats | undefined;
}
type Test = (candidate: Candidate) => boolean;
type Action = (candidate: Candidate, ctx: ModuleContext) => Value | undefined | Promise<Value | undefined>;

const typeLetters: Readonly<Record<string, (stats: BigIntStats) => boolean>> = {
  b: (s) => s.isBlockDevice(),
  c: (s) => s.isCharacterDevice(),
  d: (s) => s.isDirectory(),
  f: (s) => s.isFile(),
  l: (s) => s.isSymbolicLink(),
  p: (s) => s.isFIFO(),
  s: (s) => s.isSocket(),
};
const letterOf = (stats: BigIntStats): string =>
  Object.entries(typeLetters).find(([, fits]) => fits(stats))?.[0] ?? '?';

const fail = (message: string): never => {
  throw pythonError('ValueError', message);
};

/** Salt's own kind of glob: `?` is one character or none. */
function nameTest(value: string, flags: string): Test {
  const pattern = pyRegex(`${value.replaceAll('.', '\\.').replaceAll('?', '.?').replaceAll('*', '.*')}$`, flags);
  return ({ name }) => pattern.test(name);
}

function regexTest(value: string, flags: string): Test {
  try {
    const pattern = pyRegex(value, flags);
    return ({ name }) => pattern.test(name);
  } catch {
    return fail(`invalid regular expression: "${value}"`);
  }
}

function typeTest(value: string): Test {
  const letters = [...value.replaceAll(',', '').replace(/\s/g, '')];
  for (const letter of letters) if (!Object.hasOwn(typeLetters, letter)) fail(`invalid file type "${letter}"`);
  return (candidate) => {
    const stats = candidate.stats();
    return stats !== undefined && letters.some((letter) => typeLetters[letter]?.(stats));
  };
}

function idTest(value: string, what: 'user' | 'group'): Test {
  const ids = words(value.replaceAll(',', ' ')).map((name) => {
    if (/^\d+$/.test(name)) return Number(name);
    const id = what === 'user' ? userByName(name)?.uid : groupByName(name)?.gid;
    return id ?? fail(`no such ${what} "${name}"`);
  });
  return (candidate) => {
    const stats = candidate.stats();
    return stats !== undefined && ids.includes(Number(what === 'user' ? stats.uid : stats.gid));
  };
}

const sizeUnits: Readonly<Record<string, number>> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

function sizeTest(value: string): Test {
  const match = /^\s*([-+]?)\s*(\d+(?:\.\d*)?)\s*([bkmgtBKMGT]?)\s*$/.exec(value);
  if (!match) return fail(`invalid size: "${value}"`);
  const unit = sizeUnits[(match[3] as string).toLowerCase()] ?? 1;
  const size = Math.trunc(Number(match[2]) * unit);
  const [least, most] =
    match[1] === '-' ? [0, size] : match[1] === '+' ? [size, Number.POSITIVE_INFINITY] : [size, size + unit - 1];
  return (candidate) => {
    const bytes = Number(candidate.stats()?.size ?? -1);
    return bytes >= least && bytes <= most;
  };
}

const timeUnits: readonly (readonly [string, number])[] = [
  ['w', 604800],
  ['d', 86400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
];

function mtimeTest(value: string): Test {
  const units = timeUnits.map(([letter]) => `(?:(\\d+(?:\\.\\d*)?)\\s*${letter})?\\s*`).join('');
  const match = new RegExp(`^\\s*([-+]?)\\s*${units}$`, 'i').exec(value);
  if (!match) return fail(`invalid time interval: '${value}'`);
  let seconds = 0;
  let resolution = 1;
  for (const [index, [, unit]] of timeUnits.entries()) {
    const count = match[index + 2];
    if (count === undefined) continue;
    seconds += Number(count) * unit;
    resolution = unit;
  }
  const limit = Date.now() / 1000 - Math.trunc(seconds / resolution) * resolution;
  const newer = match[1] === '-';
  return (candidate) => {
    const modified = Math.floor(Number(candidate.stats()?.mtimeMs ?? 0n) / 1000);
    return newer ? modified >= limit : modified <= limit;
  };
}

function grepTest(value: string): Test {
  try {
    const pattern = pyRegexSearch(value);
    return (candidate) =>
      (candidate.stats()?.isFile() ?? false) && pattern.test(readFileSync(candidate.path, 'latin1'));
  } catch {
    return fail(`invalid regular expression: "${value}"`);
  }
}

const tests: Readonly<Record<string, (value: string) => Test>> = {
  name: (value) => nameTest(value, ''),
  iname: (value) => nameTest(value, 'i'),
  regex: (value) => regexTest(value, ''),
  iregex: (value) => regexTest(value, 'i'),
  type: typeTest,
  owner: (value) => idTest(value, 'user'),
  group: (value) => idTest(value, 'group'),
  size: sizeTest,
  mtime: mtimeTest,
  grep: grepTest,
  delete: (value) => typeTest(value.includes('a') ? 'bcdpfls' : value),
};

async function md5(path: string): Promise<string> {
  const hash = createHash('md5');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

async function printed(field: string, candidate: Candidate): Promise<Value | undefined> {
  const stats = candidate.stats();
  if (field === 'path') return candidate.path;
  if (field === 'name') return baseName(candidate.path);
  if (!stats) return undefined;
  if (field === 'size') return Number(stats.size);
  if (field === 'type') return letterOf(stats);
  if (field === 'mode') return Number(stats.mode) & 0o777;
  if (field === 'mtime') return Math.floor(Number(stats.mtimeNs / 1_000_000_000n));
  if (field === 'user') return userById(Number(stats.uid))?.name ?? Number(stats.uid);
  if (field === 'group') return groupById(Number(stats.gid))?.name ?? Number(stats.gid);
  if (field === 'md5') return stats.isFile() ? md5(candidate.path) : '';
  return undefined;
}

function printAction(value: string): Action {
  const fields = words(value.replaceAll(',', ' '));
  return async (candidate) => {
    const found: Value[] = [];
    for (const field of fields.length > 0 ? fields : ['path']) {
      const item = await printed(field, candidate);
      if (item !== undefined) found.push(item);
    }
    return found.length === 1 ? found[0] : found;
  };
}

const deleteAction =
  (test: boolean): Action =>
  ({ path }) => {
    if (test) return path;
    try {
      rmSync(path, { recursive: true });
      return path;
    } catch {
      return undefined;
    }
  };

function execAction(value: string): Action {
  return async ({ path }, ctx) => {
    // The name is inserted after the line is split into words, so that no file name can become options or other words.
    const [program = '', ...args] = shellSplit(value).map((word) => word.replaceAll('{}', path));
    try {
      const { stdout } = await ctx.exec(program, args);
      return `${value.replaceAll('{}', path)}:\n${stdout}\n`;
    } catch {
      return `${path}: Failed`;
    }
  };
}

interface Search {
  readonly tests: Test[];
  readonly actions: Action[];
  readonly mindepth: number;
  readonly maxdepth: number;
}

function searchOf(options: PlainDict): Search {
  const { mindepth = 0, maxdepth = null, test = false, ...rest } = options;
  const search = { tests: [] as Test[], actions: [] as Action[] };
  for (const [key, given] of Object.entries(rest)) {
    if (key.startsWith('_')) continue;
    if (!given) fail(`missing value for "${key}" option`);
    const value = pyStr(given);
    const make = Object.hasOwn(tests, key) ? tests[key] : undefined;
    if (make) search.tests.push(make(value));
    else if (key !== 'print' && key !== 'exec') fail(`invalid option "${key}"`);
    if (key === 'print') search.actions.push(printAction(value));
    else if (key === 'delete') search.actions.push(deleteAction(test === true));
    else if (key === 'exec') search.actions.push(execAction(value));
  }
  if (search.actions.length === 0) search.actions.push(printAction(''));
  return {
    ...search,
    mindepth: pyInt(mindepth),
    maxdepth: maxdepth === null ? Number.POSITIVE_INFINITY : pyInt(maxdepth),
  };
}

function candidateOf(path: string): Candidate {
  let known: BigIntStats | undefined;
  return {
    path,
    name: baseName(path),
    stats() {
      known ??= statOf(path) ?? lstatOf(path);
      return known;
    },
  };
}

function* below(folder: string, depth: number, search: Search): Generator<string> {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  const paths = names.map((name) => joinPath(folder, name));
  if (depth >= search.mindepth) yield* paths;
  if (depth >= search.maxdepth) return;
  for (const path of paths) if (lstatOf(path)?.isDirectory()) yield* below(path, depth + 1, search);
}

async function find(start: string, search: Search, ctx: ModuleContext): Promise<Value[]> {
  const found: Value[] = [];
  const consider = async (path: string): Promise<void> => {
    const candidate = candidateOf(path);
    if (!search.tests.every((test) => test(candidate))) return;
    for (const action of search.actions) {
      const result = await action(candidate, ctx);
      if (result !== undefined) found.push(result);
    }
  };
  if (search.mindepth < 1) await consider(start);
  if (search.maxdepth < 1) return found;
  // The list is completed before any action, so that deleting does not affect the walk.
  for (const path of [...below(start, 1, search)]) await consider(path);
  return found;
}

export const findFunctions = {
  find: fn({
    doc: [
      'Paths below a folder (a glob is allowed) that fit all criteria: name, iname, regex, iregex, type (letters bcdflps), owner, group,',
      'size ([-+]n with b, k, m, g, t), mtime (1w3d6h, with - for newer), grep, mindepth, maxdepth.',
      'Without an action their paths; `print` chooses group, md5, mode, mtime, name, path, size, type, user; `delete` removes them;',
      '`exec` runs a command with {} for the path.',
    ].join('\n'),
    examples: [
      "salt '*' file.find / type=f name=\\*.bak size=+10m",
      "salt '*' file.find /var mtime=+30d size=+10m print=path,size,mtime",
      "salt '*' file.find /var/log name=\\*.[0-9] mtime=+30d size=+10m delete",
    ],
    params: { path: p.path(), args: p.rest({ doc: '`delete` or `print`' }), kwargs: p.kwargs() },
    async run({ path, args, kwargs }, ctx) {
      const options = { ...kwargs };
      if (args.includes('delete')) options['delete'] = 'f';
      else if (args.includes('print')) options['print'] = 'path';
      let search: Search;
      try {
        search = searchOf(options);
      } catch (error) {
        if (error instanceof Error && error.name === 'ValueError') return `error: ${error.message}`;
        throw error;
      }
      const found: Value[] = [];
      for (const start of globPaths(expandUser(path))) found.push(...(await find(start, search, ctx)));
      return found.sort(inOrder);
    },
  }),
};

/** Python's order of texts, numbers, and lists of them. */
function inOrder(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < Math.min(a.length, b.length); at++) {
      const order = inOrder(a[at] as Value, b[at] as Value);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  const [left, right] = [pyStr(a), pyStr(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
