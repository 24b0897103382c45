// Writes TOML as Python's package toml does: values first, then arrays of tables, then tables, each under its full name.
import { pyRepr, pyStr } from '../python/index.ts';
import { type Dict, dictEntries, isDict, isFloat, type Value } from '../value.ts';

/** Tables still to be written: full name below the current table → table. */
type Pending = Map<string, Dict>;

const bare = /^[A-Za-z0-9_-]+$/;
const nameOf = (key: Value): string => (bare.test(pyStr(key)) ? pyStr(key) : textOf(pyStr(key)));

/** A text with the escapes of Python's repr, which are those of TOML but for `\\x`. */
function textOf(text: string): string {
  const shown = pyRepr(text);
  const inner = shown.slice(1, -1);
  const double = shown.startsWith("'") ? inner.replaceAll("\\'", "'").replaceAll('"', '\\"') : inner;
  return `"${double.replace(/(\\\\)|\\x([0-9a-f]{2})/g, (whole, slash?: string, hex?: string) => (slash ? whole : `\\u00${hex}`))}"`;
}

function written(value: Value): string {
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (Array.isArray(value)) return `[${value.map((item) => ` ${written(item)},`).join('')}]`;
  if (isFloat(value)) return pyStr(value).replace('e+0', 'e+').replace('e-0', 'e-');
  if (isDict(value))
    return `{ ${dictEntries(value)
      .map(([key, item]) => `${nameOf(key)} = ${written(item)}`)
      .join(', ')} }`;
  return pyStr(value);
}

/** The lines of a table's own values and arrays of tables; its other tables are pending. */
function ownLines(table: Dict, path: string): { readonly text: string; readonly pending: Pending } {
  const prefix = path === '' ? '' : `${path}.`;
  const pending: Pending = new Map();
  let values = '';
  let arrays = '';
  for (const [key, value] of dictEntries(table)) {
    const name = nameOf(key);
    if (isDict(value)) pending.set(name, value);
    else if (Array.isArray(value) && value.some(isDict)) {
      arrays += value.map((item) => arrayItem(isDict(item) ? item : undefined, `${prefix}${name}`)).join('');
    } else if (value !== null) values += `${name} = ${written(value)}\n`;
  }
  return { text: values + arrays, pending };
}

function arrayItem(table: Dict | undefined, path: string): string {
  const head = `[[${path}]]\n`;
  if (!table) return `${head}\n`;
  const { text, pending } = ownLines(table, path);
  let own = text.startsWith('[') ? '' : text;
  let inner = `\n${text.startsWith('[') ? text : ''}`;
  own = head + own;
  for (let level = pending; level.size > 0; ) {
    const deeper: Pending = new Map();
    for (const [name, sub] of level) {
      const below = ownLines(sub, `${path}.${name}`);
      if (below.text !== '') inner += `[${path}.${name}]\n${below.text}`;
      for (const [more, table2] of below.pending) deeper.set(`${name}.${more}`, table2);
    }
    level = deeper;
  }
  return own + inner;
}

export function dumpToml(value: Dict): string {
  const top = ownLines(value, '');
  let text = top.text;
  for (let level = top.pending; level.size > 0; ) {
    const deeper: Pending = new Map();
    for (const [name, table] of level) {
      const { text: own, pending } = ownLines(table, name);
      if (own !== '' || pending.size === 0) {
        if (text !== '' && !text.endsWith('\n\n')) text += '\n';
        text += `[${name}]\n${own}`;
      }
      for (const [more, sub] of pending) deeper.set(`${name}.${more}`, sub);
    }
    level = deeper;
  }
  return text;
}
