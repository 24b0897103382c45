// Tables as lines of text: columns as wide as their widest cell, long cells wrapped at blanks.
import { type Dict, dictEntries, HaliteError, isDict, PyFloat, pyStr, type Value } from 'halite/sdk';
import { charLength } from 'halite/sdk/text';
import type { Colors } from '../../shared/output/colors.ts';
import { sortedEntries } from '../../shared/output/sorted-keys.ts';

export interface TableStyle {
  readonly colors: Colors;
  readonly hasHeader: boolean;
  readonly rowDelimiter: string;
  readonly delim: string;
  readonly justify: 'center' | 'left' | 'right';
  readonly separateRows: boolean;
  readonly prefix: string;
  readonly suffix: string;
  readonly width: number;
}

const unfit = (): HaliteError => new HaliteError('call.arguments', 'the data is not a table');

/** Text in the middle of a field, with Python's choice of the longer side. */
function center(text: string, width: number): string {
  const pad = width - charLength(text);
  if (pad <= 0) return text;
  const left = (pad >> 1) + (pad & width & 1);
  return ' '.repeat(left) + text + ' '.repeat(pad - left);
}

function justified(text: string, width: number, how: TableStyle['justify']): string {
  if (how === 'center') return center(text, width);
  const fill = ' '.repeat(Math.max(0, width - charLength(text)));
  return how === 'left' ? text + fill : fill + text;
}

/** Breaks a cell at blanks once its line is full. */
function wrapCell(text: string, width: number): string[] {
  const [first = '', ...words] = text.split(' ');
  let out = first;
  for (const word of words) {
    const line = charLength(out.slice(out.lastIndexOf('\n') + 1));
    const next = charLength(word.split('\n', 1)[0]!);
    out += (line + next >= width ? '\n' : ' ') + word;
  }
  return out.split('\n');
}

/** A row as the lines it fills; as many as its shortest cell has, as in Salt. */
function physicalRows(row: readonly Value[], width: number): string[][] {
  if (row.length === 0) throw unfit();
  const cells = row.map((cell) => {
    if (typeof cell !== 'string') throw unfit();
    return wrapCell(cell, width);
  });
  const height = Math.min(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line]!));
}

function tableLines(rows: readonly (readonly Value[])[], style: TableStyle, indent: number, header: boolean): string[] {
  const { colors } = style;
  const logical = rows.map((row) => physicalRows(row, style.width));
  const physical = logical.flat();
  const columns = Math.min(...physical.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...physical.map((row) => charLength(row[i]!))));
  const inner = widths.reduce((sum, width) => sum + width, 0) + style.delim.length * (widths.length - 1);
  const margin = ' '.repeat(indent);
  const ruler = style.rowDelimiter.repeat(style.prefix.length + style.suffix.length + inner);
  const separator = `${margin}${colors.LIGHT_GRAY}${ruler}${colors.ENDC}`;
  const lines = style.separateRows ? [separator] : [];
  let headed = header;
  for (const group of logical) {
    for (const row of group) {
      const cells = widths.map((width, i) => justified(row[i]!, width, style.justify)).join(style.delim);
      lines.push(`${margin}${colors.WHITE}${style.prefix}${cells}${style.suffix}${colors.ENDC}`);
    }
    if (style.separateRows || headed) lines.push(separator);
    headed = false;
  }
  return lines;
}

function kindOf(value: Value): string {
  if (value === null) return 'none';
  if (value instanceof PyFloat || (typeof value === 'number' && !Number.isInteger(value))) return 'float';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Uint8Array) return 'bytes';
  return isDict(value) ? 'dict' : typeof value === 'bigint' ? 'number' : typeof value;
}

const ordered = (dict: Dict): [Value, Value][] => {
  const entries = sortedEntries(dict);
  if (!entries) throw unfit();
  return entries;
};

/** Python's str.title() of a key with blanks for underscores. */
const titled = (key: Value): string =>
  pyStr(key)
    .replaceAll('_', ' ')
    .toLowerCase()
    .replace(/\p{L}+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1));

function rowLines(rows: readonly Value[], given: Value | undefined, style: TableStyle, indent: number): string[] {
  const first = rows[0];
  if (first === undefined) return [];
  const kind = kindOf(first);
  if (rows.some((row) => kindOf(row) !== kind)) return [];
  let labels: Value[] = [];
  if (isDict(given)) labels = ordered(given).map(([, label]) => label);
  else if (Array.isArray(given)) labels = given;
  let cells: (readonly Value[])[];
  if (isDict(first)) {
    if (labels.length === 0) labels = ordered(first).map(([key]) => titled(key));
    cells = rows.map((row) => ordered(row as Dict).map(([, value]) => pyStr(value)));
  } else if (typeof first === 'string') cells = rows.map((row) => [row]);
  else if (Array.isArray(first)) cells = rows as Value[][];
  else throw unfit();
  const all = labels.length > 0 ? [labels, ...cells] : cells;
  return tableLines(all, style, indent + 4, style.hasHeader && labels.length > 0);
}

export interface TableSearch {
  /** Only rows under this key. */
  readonly rowsKey?: string;
  /** Column titles under this key, beside the rows. */
  readonly labelsKey?: string;
}

/** All tables in a value, each under the keys that lead to it. */
export function displayTables(value: Value, style: TableStyle, search: TableSearch, indent: number): string[] {
  const { rowsKey, labelsKey } = search;
  if (Array.isArray(value)) return rowsKey ? [] : rowLines(value, undefined, style, indent);
  if (!isDict(value)) return [];
  const entries = ordered(value);
  if (rowsKey && !entries.some(([key]) => key === rowsKey)) {
    return entries.flatMap(([, item]) => displayTables(item, style, search, indent));
  }
  const { colors } = style;
  const margin = ' '.repeat(indent);
  const lines: string[] = [];
  for (const [key, item] of entries) {
    if (rowsKey && key !== rowsKey) continue;
    if (!rowsKey) {
      lines.push(`${margin}${colors.DARK_GRAY}${pyStr(key)}${colors.ENDC}:`);
      lines.push(`${margin}${colors.DARK_GRAY}----------${colors.ENDC}`);
    }
    if (Array.isArray(item)) {
      const labels = labelsKey ? dictEntries(value).find(([name]) => name === labelsKey)?.[1] : undefined;
      lines.push(...rowLines(item, labels, style, indent));
    } else lines.push(...displayTables(item, style, search, indent + 4));
  }
  return lines;
}
