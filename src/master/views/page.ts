// Lists for programs and pages: one window of a sorted and searched list, in columns.
import { numberField, textField } from '../../base/codec/fields.ts';
import { compareText } from '../../base/codec/json/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';

export interface PageRequest {
  readonly q: string;
  /** A column; descending after `-`. */
  readonly sort: string;
  readonly offset: number;
  readonly limit: number;
}

const mostRows = 1_000;
const usualRows = 100;
const longestQuery = 1_000;
/** Nobody reads further; it also keeps the sum with the limit a safe number. */
const mostOffset = 10_000_000;

export function readPage(args: PlainDict): PageRequest {
  const q = textField(args, 'q') ?? '';
  if (q.length > longestQuery)
    throw new HaliteError('call.arguments', `The query (q) has more than ${longestQuery} characters.`);
  return {
    ...{ q: q.trim(), sort: textField(args, 'sort') ?? '' },
    offset: within(numberField(args, 'offset'), 0, mostOffset, 0),
    limit: within(numberField(args, 'limit'), 0, mostRows, usualRows),
  };
}

function within(value: number | undefined, least: number, most: number, fallback: number): number {
  if (value === undefined || !Number.isFinite(value)) return fallback;
  return Math.min(Math.max(Math.trunc(value), least), most);
}

export type Cell = string | number | null | readonly string[];
export type Row = readonly Cell[];

/** The position of the column to sort by, and the direction; throws for a column that does not exist. */
export function sortOf(sort: string, cols: readonly string[]): { readonly column: number; readonly down: boolean } {
  const down = sort.startsWith('-');
  const name = down ? sort.slice(1) : sort;
  if (name === '') return { column: 0, down };
  const column = cols.indexOf(name);
  if (column < 0)
    throw new HaliteError('call.arguments', `There is no column '${name.slice(0, 64)}' to sort by.`, {
      hint: `The columns are: ${cols.join(', ')}.`,
    });
  return { column, down };
}

/** Empty cells are last in both directions; equal ones are in the order of the first column. */
function compareCells(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareText(cellText(a), cellText(b));
}

const isEmptyCell = (cell: Cell): boolean => cell === null || cell === '' || (Array.isArray(cell) && cell.length === 0);

const cellText = (cell: Cell): string =>
  typeof cell === 'string' ? cell : cell === null ? '' : typeof cell === 'number' ? String(cell) : cell.join(' ');

export function sortRows<T>(rows: T[], cellOf: (row: T) => Cell, idOf: (row: T) => string, down: boolean): T[] {
  const sign = down ? -1 : 1;
  return rows.sort((a, b) => {
    const [left, right] = [cellOf(a), cellOf(b)];
    const [noLeft, noRight] = [isEmptyCell(left), isEmptyCell(right)];
    if (noLeft !== noRight) return noLeft ? 1 : -1;
    return (noLeft ? 0 : sign * compareCells(left, right)) || compareText(idOf(a), idOf(b));
  });
}

export interface PageOf {
  readonly total: number;
  readonly offset: number;
  readonly cols: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  readonly version: number;
}

export function pageValue({ total, offset, cols, rows, version }: PageOf): PlainDict {
  return newDict([
    ['total', total],
    ['offset', offset],
    ['cols', [...cols]],
    ['rows', rows.map((row) => [...row])],
    ['version', version],
  ]);
}

/** Small lists that are built at once: searched, sorted and cut here. */
export function pageOfRows(cols: readonly string[], all: readonly Row[], request: PageRequest, version = 0): PlainDict {
  const words = wordsOf(request.q);
  const found = all.filter((row) => hasWords(row, words));
  const { column, down } = sortOf(request.sort, cols);
  const sorted = sortRows(
    found,
    (row) => row[column] ?? null,
    (row) => cellText(row[0] ?? null),
    down,
  );
  const rows = sorted.slice(request.offset, request.offset + request.limit).map((row) => row.map(valueOfCell));
  return pageValue({ total: sorted.length, offset: request.offset, cols, rows, version });
}

export const valueOfCell = (cell: Cell): Value => (typeof cell === 'object' && cell !== null ? [...cell] : cell);

const mostWords = 16;

/** The words of a free search, in small letters. */
export function wordsOf(q: string): string[] {
  return q
    .toLowerCase()
    .split(/\s+/, mostWords)
    .filter((word) => word !== '');
}

export function hasWords(row: Row, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = row.map(cellText).join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

export const unknownThing = (what: string): HaliteError =>
  // What the caller may not see does not exist for it: one sentence for both.
  new HaliteError('call.unknown', `There is no such ${what}.`);
