// /etc/fstab: reads, adds, changes and removes lines without touching the others.

import { commandError, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { isFile, osText, readFileSync, writeFileSync } from 'halite/sdk/fs';
import { words } from 'halite/sdk/text';

const keys = ['device', 'name', 'fstype', 'opts', 'dump', 'pass_num'] as const;
type Key = (typeof keys)[number];
export type Entry = Record<Key, string>;

/** A line as entry; undefined for comments and anything else. */
function parseLine(line: string): Entry | undefined {
  const parts = words(line);
  if (line.startsWith('#') || parts.length < 4 || parts.length > 6) return undefined;
  return Object.fromEntries(keys.map((key, at) => [key, parts[at] ?? '0'])) as Entry;
}

const lineOf = (entry: Entry): string =>
  `${entry.device}\t\t${entry.name}\t${entry.fstype}\t${entry.opts}\t${entry.dump} ${entry.pass_num}`;
const sameOptions = (a: string, b: string): boolean => a.split(',').sort().join() === b.split(',').sort().join();

function matches(entry: Entry, wanted: Partial<Entry>): boolean {
  return (Object.entries(wanted) as [Key, string][]).every(([key, value]) =>
    key === 'opts' ? sameOptions(entry.opts, value) : entry[key] === value,
  );
}

/** Mount point → entry; a second entry of the same name gets `_` appended. */
export function readFstab(path: string): PlainDict {
  const found = newDict();
  if (!isFile(path)) return found;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const entry = parseLine(line);
    if (!entry) continue;
    let { name } = entry;
    while (name in found) name += '_';
    const { device, fstype, opts, dump, pass_num: pass } = entry;
    found[name] = newDict([
      ['device', device],
      ['fstype', fstype],
      ['opts', opts.split(',')],
      ['dump', dump],
      ['pass', pass],
    ]);
  }
  return found;
}

function readRows(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    throw commandError(`Couldn't read from ${path}: ${osText(error, path)}`);
  }
}

export function removeEntry(name: string, device: string | null, path: string): boolean {
  const wanted: Partial<Entry> = { name, ...(device === null ? {} : { device: pyStr(device) }) };
  const rows = readRows(path);
  const kept = rows.filter((line) => {
    const entry = parseLine(line);
    return !entry || !matches(entry, wanted);
  });
  if (kept.length === rows.length) return true;
  try {
    writeFileSync(path, kept.join('\n'));
  } catch (error) {
    throw commandError(`Couldn't write to ${path}: ${osText(error, path)}`);
  }
  return true;
}

const special = [
  'none',
  'tmpfs',
  'sysfs',
  'proc',
  'fusectl',
  'debugfs',
  'securityfs',
  'devtmpfs',
  'cgroup',
  'nfs',
  'nfs4',
  'glusterfs',
  'btrfs',
];

/** The keys that identify a line. */
function matchKeys(matchOn: Value, fstype: string): Key[] {
  if (!Array.isArray(matchOn) && typeof matchOn !== 'string')
    throw commandError('match_on must be a string or list of strings');
  if (matchOn === 'auto') return [special.includes(fstype) ? 'name' : 'device'];
  const wanted = (Array.isArray(matchOn) ? matchOn : [matchOn]).map(pyStr);
  const wrong = wanted.filter((key) => !(keys as readonly string[]).includes(key));
  if (wrong.length > 0) throw commandError(`Unrecognized keys in match_on: "${wrong.join(', ')}"`);
  return wanted as Key[];
}

export interface SetOptions {
  readonly config: string;
  readonly test: boolean;
  readonly matchOn: Value;
  /** An existing line is not changed. */
  readonly keep: boolean;
}

/** `present`, `new` or `change`; under test nothing is written. */
export function setEntry(entry: Entry, options: SetOptions): string {
  const wanted = Object.fromEntries(
    matchKeys(options.matchOn, entry.fstype).map((key) => [key, entry[key]]),
  ) as Partial<Entry>;
  if (!isFile(options.config)) throw commandError(`Bad config file "${options.config}"`);
  let status: string | undefined;
  const rows = readRows(options.config).map((line) => {
    const now = parseLine(line);
    if (!now || !matches(now, wanted)) return line;
    if (matches(now, entry) || options.keep) {
      status = 'present';
      return line;
    }
    status = 'change';
    return lineOf(entry);
  });
  if (status === undefined) {
    while (rows.at(-1) === '') rows.pop();
    rows.push(lineOf(entry), '');
    status = 'new';
  }
  if (status === 'present' || options.test) return status;
  try {
    writeFileSync(options.config, rows.join('\n'));
  } catch {
    throw commandError(`File not writable ${options.config}`);
  }
  return status;
}
