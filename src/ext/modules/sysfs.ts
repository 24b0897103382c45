// Execution module `sysfs`: reads and writes values of the kernel below /sys.

import { join, relative, resolve } from 'node:path';
import { defineModule, fn, newDict, type PlainDict, PyFloat, p, pyStr, type Value } from 'halite/sdk';
import {
  baseName,
  constants,
  isDirectory,
  readdirSync,
  readFile,
  realpathSync,
  statOf,
  writeFileSync,
} from 'halite/sdk/fs';

/** The real path of a key; undefined when it is missing or outside of /sys. */
function targetOf(key: string): string | undefined {
  try {
    const path = realpathSync(resolve('/sys', key.startsWith('/sys') ? key : key.replace(/^\/+/, '')));
    return path === '/sys' || path.startsWith('/sys/') ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Numbers as numbers, other values as text; an empty value is False. */
async function readValue(path: string): Promise<Value> {
  try {
    // Some files are pipes: reading must not wait for a writer.
    const text = (await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NONBLOCK })).trim();
    if (text === '') return false;
    if (/^[-+]?\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
    return /^[-+]?(\d+\.\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? new PyFloat(Number(text)) : text;
  } catch {
    return false;
  }
}

interface Interfaces {
  readonly r: string[];
  readonly w: string[];
  readonly rw: string[];
}

/** Files below a folder by their permissions; links are not followed. */
function interfacesOf(root: string): Interfaces {
  const found: Interfaces = { r: [], w: [], rw: [] };
  const walk = (folder: string): void => {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const stats = entry.isDirectory() ? undefined : statOf(path);
      if (!stats?.isFile()) continue;
      const kind = `${stats.mode & 0o400n ? 'r' : ''}${stats.mode & 0o200n ? 'w' : ''}` as keyof Interfaces | '';
      if (kind) found[kind].push(relative(root, path));
    }
    for (const entry of entries) if (entry.isDirectory()) walk(join(folder, entry.name));
  };
  walk(root);
  return found;
}

/** Every value below a folder, nested as the folders are. */
async function readFolder(root: string): Promise<PlainDict> {
  const { r, rw } = interfacesOf(root);
  const result = newDict();
  for (const name of [...r, ...rw]) {
    const value = await readValue(join(root, name));
    if (value === false) continue;
    const folders = name.split('/');
    const last = folders.pop() as string;
    let at = result;
    for (const folder of folders) {
      at[folder] ??= newDict();
      at = at[folder] as PlainDict;
    }
    at[last] = value;
  }
  return result;
}

async function read(key: Value, root: string): Promise<Value> {
  if (Array.isArray(key)) {
    const found = newDict();
    for (const name of key.map(pyStr)) {
      const value = await read(join(root, name), '');
      if (value !== false) found[name] = value;
    }
    return found;
  }
  const path = targetOf(join(root, pyStr(key)));
  if (path === undefined) return false;
  return isDirectory(path) ? readFolder(path) : readValue(path);
}

function write(key: string, value: string): boolean {
  const path = targetOf(key);
  if (path === undefined) return false;
  try {
    writeFileSync(path, `${pyStr(value)}\n`, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}

const key = p.string({ doc: 'a path below /sys' });

export default defineModule({
  name: 'sysfs',
  doc: 'Kernel values below /sys.',
  available: () => process.platform === 'linux' || 'Only available on Linux systems.',
  reads: ['attr', 'read', 'target', 'interfaces'],
  functions: {
    attr: fn({
      doc: 'Reads or writes a value; for a folder returns its path.',
      examples: ["salt '*' sysfs.attr block/sda/queue/logical_block_size"],
      params: { key, value: p.string({ default: null, doc: 'what to write' }) },
      run({ key, value }): Value | Promise<Value> {
        const path = targetOf(key);
        if (path === undefined) return false;
        if (isDirectory(path)) return path;
        return value === null ? readValue(path) : write(path, value);
      },
    }),
    write: fn({
      doc: 'Writes a value; whether that worked.',
      examples: ["salt '*' sysfs.write devices/system/cpu/cpu0/cpufreq/scaling_governor performance"],
      params: { key, value: p.string({ doc: 'what to write' }) },
      run: (args) => write(args.key, args.value),
    }),
    read: fn({
      doc: 'Reads a value, several, or all of a folder.',
      examples: ["salt '*' sysfs.read class/net/em1/statistics"],
      params: {
        key: p.oneOf(['string', 'list'], { doc: 'a path below /sys, or several' }),
        root: p.string({ default: '', doc: 'below this' }),
      },
      run: ({ key, root }) => read(key, root),
    }),
    target: fn({
      doc: 'The real path of a key, or with full=False its last part; False when it does not exist.',
      examples: ["salt '*' sysfs.target class/ttyS0"],
      params: { key, full: p.bool({ default: true }) },
      run({ key, full }): Value {
        const path = targetOf(key);
        if (path === undefined) return false;
        return full ? path : baseName(path);
      },
    }),
    interfaces: fn({
      doc: 'Files below a folder of /sys: to read (r), to write (w), both (rw).',
      examples: ["salt '*' sysfs.interfaces block/bcache0/bcache"],
      params: { root: p.string({ doc: 'a folder below /sys' }) },
      run({ root }): Value {
        const path = targetOf(root);
        if (path === undefined || !isDirectory(path)) return false;
        return newDict(Object.entries(interfacesOf(path)));
      },
    }),
  },
});
