// Changes INI files and preserves comments, blank lines and order.

import { commandError, dictEntries, isDict, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { existsSync, osText, readFileSync, writeFileSync } from 'halite/sdk/fs';
import { lines } from 'halite/sdk/text';

const comment = /^\s*(#|;)\s*(.*)/;
const isNote = (key: string): boolean => key.startsWith('#');

/** Characters that mean something in an expression, taken literally. */
const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** Options in order; comments and unknown lines are under `#comment1`, `#unknown1`. */
export class Section {
  readonly items = new Map<string, string | Section>();
  readonly name: string;
  separator: string;
  readonly noSpaces: boolean;

  constructor(name: string, separator: string, noSpaces: boolean) {
    this.name = name;
    this.separator = separator;
    this.noSpaces = noSpaces;
  }

  get #option(): RegExp {
    return new RegExp(`^(\\s*)(.+?)\\s*(${literal(this.separator)})\\s*(.*)\\s*`);
  }

  read(text: string): void {
    const body = text.replace(/^\n+|\n+$/g, '');
    if (body === '') return;
    let [comments, unknown, indent] = [1, 1, ''];
    const option = this.#option;
    for (const line of body.split('\n')) {
      if (comment.test(line)) {
        this.items.set(`#comment${comments++}`, line);
        continue;
      }
      const own = /^\s+/.exec(line)?.[0].replaceAll('\t', '    ');
      if (own !== undefined && own > indent) {
        const last = [...this.items.keys()].at(-1);
        const value = last === undefined ? undefined : this.items.get(last);
        if (last !== undefined && typeof value === 'string') this.items.set(last, `${value}\n${line}`);
        continue;
      }
      const found = option.exec(line);
      if (found) {
        indent = (found[1] ?? '').replaceAll('\t', '    ');
        this.items.set(found[2] as string, found[4] ?? '');
      } else this.items.set(`#unknown${unknown++}`, line);
    }
  }

  /** Inserts a new option where it was commented out, or at the end. */
  #place(key: string, value: string): void {
    let after: [string, string | Section][] | undefined;
    let old: string | undefined;
    for (const [name, item] of this.items) {
      if (after) {
        after.push([name, item]);
        continue;
      }
      if (!name.includes('#comment') || typeof item !== 'string') continue;
      if (this.#option.exec(item.replace(/^#+/, ''))?.[2] === key) {
        old = name;
        after = [];
      }
    }
    for (const [name] of after ?? []) this.items.delete(name);
    if (old !== undefined) this.items.delete(old);
    this.items.set(key, value);
    for (const [name, item] of after ?? []) this.items.set(name, item);
  }

  /** Sets options and sections; returns the changes with old and new values. */
  update(values: Iterable<readonly [string, Value | Section]>): PlainDict {
    const changes = newDict();
    for (const [key, value] of values) {
      if (value instanceof Section || (value !== null && isDict(value as Value)))
        this.#updateSection(key, value as Section | PlainDict, changes);
      else this.#updateOption(key, pyStr(value as Value), changes);
    }
    return changes;
  }

  #updateOption(key: string, value: string, changes: PlainDict): void {
    const now = this.items.get(key);
    if (now === value) return;
    changes[key] = newDict([
      ['before', now === undefined ? null : plainOf(now)],
      ['after', value],
    ]);
    if (now === undefined) this.#place(key, value);
    else this.items.set(key, value);
  }

  #updateSection(key: string, value: Section | PlainDict, changes: PlainDict): void {
    const entries: [string, Value | Section][] =
      value instanceof Section ? [...value.items] : dictEntries(value).map(([name, item]) => [pyStr(name), item]);
    const now = this.items.get(key);
    if (now instanceof Section) {
      const inner = now.update(entries);
      if (Object.keys(inner).length > 0) changes[key] = inner;
      return;
    }
    const made = new Section(key, this.separator, this.noSpaces);
    made.update(entries);
    changes[key] = newDict([
      ['before', now === undefined ? null : now],
      ['after', plainOf(made, true)],
    ]);
    this.items.set(key, made);
  }

  #line(key: string, value: string): string {
    const bare = this.separator.trim();
    const sign = bare === '' ? ' ' : this.noSpaces ? bare : ` ${bare} `;
    return `${key}${sign}${value}\n`;
  }

  /** The lines of the section, those of inner sections last. */
  text(): string {
    let out = '';
    for (const [key, value] of this.items)
      if (typeof value === 'string') out += isNote(key) ? `${value}\n` : this.#line(key, value);
    for (const value of this.items.values()) if (value instanceof Section) out += `\n[${value.name}]\n${value.text()}`;
    return out;
  }
}

/** Data without comments and blank lines. */
export function plainOf(value: string | Section, withNotes = false): Value {
  if (typeof value === 'string') return value;
  return newDict(
    [...value.items].filter(([key]) => withNotes || !isNote(key)).map(([key, item]) => [key, plainOf(item)]),
  );
}

const nodeEncoding = (encoding: string | null): BufferEncoding =>
  /^(latin-?1|iso-?8859-?1)$/i.test(encoding ?? '') ? 'latin1' : 'utf8';

/** Reads a file; one that does not exist is empty. */
export function readIni(path: string, separator: string, encoding: string | null, noSpaces = false): Section {
  const ini = new Section(path, separator, noSpaces);
  if (!existsSync(path)) return ini;
  let text: string;
  try {
    text = lines(readFileSync(path, nodeEncoding(encoding))).join('\n');
  } catch (error) {
    throw commandError(`Unable to open file '${path}'. Exception: ${osText(error, path)}`);
  }
  const [first = '', ...rest] = text.split(/^[^\S\n]*\[(.+?)\][^\S\n]*$/m);
  ini.read(first);
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const section = new Section(rest[at] as string, separator, noSpaces);
    section.read(rest[at + 1] as string);
    ini.update([[section.name, section]]);
  }
  return ini;
}

export function writeIni(path: string, ini: Section, encoding: string | null): void {
  try {
    writeFileSync(path, ini.text().replace(/^\n+/, ''), nodeEncoding(encoding));
  } catch (error) {
    throw commandError(`Unable to write file '${path}'. Exception: ${osText(error, path)}`);
  }
}
