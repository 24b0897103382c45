// The folder of a case: files created before, files compared afterwards, and whether anything changed in test mode.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pyStr } from '../base/codec/python/index.ts';
import { dictEntries, dictGet, isDict, newDict, type Value } from '../base/codec/value.ts';

/** Replaces `{tmp}` by the case's own folder. */
export function fill(value: Value, tmp: string): Value {
  if (typeof value === 'string') return value.replaceAll('{tmp}', tmp);
  if (Array.isArray(value)) return value.map((item) => fill(item, tmp));
  if (isDict(value) && value instanceof Map)
    return new Map([...value].map(([key, item]) => [fill(key, tmp), fill(item, tmp)]));
  return isDict(value)
    ? newDict(dictEntries(value).map(([key, item]) => [pyStr(fill(key, tmp)), fill(item, tmp)]))
    : value;
}

/** Creates one file, folder or link: a text, or `{text|hex|dir|link, mode, uid}`. */
export function place(root: string, path: string, what: Value): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  const spec = isDict(what) ? what : newDict([['text', what]]);
  const of = (key: string): Value | undefined => dictGet(spec, key);
  const [link, hex, uid, mode] = [of('link'), of('hex'), of('uid'), of('mode')];
  if (link !== undefined) {
    symlinkSync(pyStr(fill(link, root)), target);
    return;
  }
  if (of('dir')) mkdirSync(target, { recursive: true });
  else writeFileSync(target, hex === undefined ? pyStr(fill(of('text') ?? '', root)) : Buffer.from(pyStr(hex), 'hex'));
  if (uid !== undefined) chownSync(target, Number(uid), Number(uid));
  if (mode !== undefined) chmodSync(target, Number.parseInt(pyStr(mode), 8));
}

/** The current content of a path, in the form of the expectation. */
export function foundAt(root: string, path: string, expected: Value): unknown {
  const target = join(root, path);
  const stats = lstatSync(target, { throwIfNoEntry: false });
  if (!stats) return null;
  if (!isDict(expected)) return stats.isDirectory() ? readdirSync(target).sort() : readFileSync(target, 'utf8');
  const looks: Readonly<Record<string, () => unknown>> = {
    mode: () => (stats.mode & 0o7777).toString(8).padStart(4, '0'),
    link: () => (stats.isSymbolicLink() ? readlinkSync(target) : null),
    text: () => readFileSync(target, 'utf8'),
    dir: () => stats.isDirectory(),
    uid: () => stats.uid,
    hex: () => readFileSync(target).toString('hex'),
  };
  return Object.fromEntries(dictEntries(expected).map(([key]) => [key, looks[String(key)]?.()]));
}

/** Every path below a folder with the attributes that reveal a change; the minion's own cache is excluded. */
export function snapshot(root: string): Map<string, string> {
  const seen = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    // Git records the times of files whenever it reads them.
    if (name === 'cache' || name.startsWith('cache/') || name.endsWith('.git/index')) continue;
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) continue;
    // A folder's own time changes with its entries, which are listed separately.
    const content = stats.isDirectory() ? '' : ` ${stats.size} ${stats.mtimeMs} ${stats.ino}`;
    seen.set(name, `${stats.mode.toString(8)} ${stats.uid}:${stats.gid}${content}`);
  }
  return seen;
}

/** Paths that changed. */
export function touched(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}
