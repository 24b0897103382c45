// Execution module `sysfs`: values the kernel shows and takes below /sys.
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineModule, fn, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { pyStr } from '../../base/codec/python/index.ts';
import { isDirectory, readText } from './support/read.ts';

/** A path below /sys; whatever leads elsewhere is not there. */
function below(key: string): string {
  const path = resolve('/sys', key.replace(/^\/sys\//, '').replace(/^\/+/, ''));
  return path.startsWith('/sys/') ? path : '/sys/.';
}

/** Numbers as numbers, several lines or words as they are. */
function read(path: string): Value {
  const text = readText(path);
  if (text === undefined) return false;
  const value = text.trim();
  return /^-?\d+$/.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** The values in a folder, by name. */
function folder(path: string, names: readonly string[]): PlainDict {
  return newDict(names.map((name) => [name, read(join(path, name))]));
}

const key = p.string({ doc: 'a path below /sys' });

export default defineModule({
  name: 'sysfs',
  doc: 'Values the kernel shows and takes below /sys.',
  available: () => process.platform === 'linux' || 'Only available on Linux systems.',
  functions: {
    attr: fn({
      doc: 'Reads a value, or writes it.',
      examples: ["salt '*' sysfs.attr block/sda/queue/logical_block_size"],
      params: { key, value: p.any({ default: null, doc: 'what to write' }) },
      run: ({ key, value }) => (value === null ? read(below(key)) : write(below(key), value)),
    }),
    write: fn({
      doc: 'Writes a value; whether that worked.',
      examples: ["salt '*' sysfs.write devices/system/cpu/cpu0/cpufreq/scaling_governor performance"],
      params: { key, value: p.any({ doc: 'what to write' }) },
      run: (args) => write(below(args.key), args.value),
    }),
    read: fn({
      doc: 'Reads a value, several, or all of a folder.',
      examples: ["salt '*' sysfs.read class/net/em1/statistics"],
      params: {
        key: p.any({ doc: 'a path below /sys, or several' }),
        root: p.string({ default: '', doc: 'below this' }),
      },
      run({ key, root }) {
        if (Array.isArray(key)) return folder(below(root), key.map(pyStr));
        const path = below(join(root, pyStr(key)));
        if (!isDirectory(path)) return read(path);
        const files = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isFile());
        return folder(path, files.map((entry) => entry.name).sort());
      },
    }),
  },
});

function write(path: string, value: Value): boolean {
  try {
    writeFileSync(path, `${pyStr(value)}\n`, { flag: 'r+' });
    return true;
  } catch {
    return false;
  }
}
