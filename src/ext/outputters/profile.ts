// Outputter `profile`: state results as a table of names, functions and durations.
import {
  asNumber,
  defineOutputter,
  dictEntries,
  dictGet,
  HaliteError,
  isDict,
  newDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { charLength, charSlice } from 'halite/sdk/text';
import { pyFixed } from './shared/fixed.ts';
import { renderTable } from './shared/table-style.ts';

const nameMax = 60;

interface Row {
  readonly duration: number;
  readonly name: string;
  readonly fun: string;
}

const unfit = (): HaliteError => new HaliteError('call.arguments', 'the data is not a state result');

/** Python's float() of a duration. */
function durationOf(value: Value | undefined): number {
  if (value === undefined) return -1;
  const number =
    typeof value === 'string' && /^\s*[+-]?[\d.]+(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : asNumber(value);
  if (number === undefined || Number.isNaN(number)) throw unfit();
  return number;
}

function rowOf(stateId: Value, result: Value): Row {
  const parts = pyStr(stateId).split('_|-');
  const fun = `${parts[0]}.${parts.at(-1)}`;
  if (!isDict(result)) return { duration: -1, name: shorten(pyStr(stateId)), fun };
  const name = dictGet(result, 'name') ?? dictGet(result, '__id__') ?? '<>';
  if (typeof name !== 'string') throw unfit();
  return { duration: durationOf(dictGet(result, 'duration')), name: shorten(name), fun };
}

const shorten = (name: string): string => (charLength(name) > nameMax ? `${charSlice(name, 0, nameMax - 3)}...` : name);

function rowsOf(data: Value): Row[] {
  if (!isDict(data)) throw unfit();
  return dictEntries(data).flatMap(([, results]) => {
    if (isDict(results)) return dictEntries(results).map(([id, result]) => rowOf(id, result));
    // Texts and lists of errors have no durations, but every item still gets its row.
    if (Array.isArray(results)) return results.map((item) => rowOf(item, newDict()));
    if (typeof results === 'string') return [...results].map((item) => rowOf(item, newDict()));
    throw unfit();
  });
}

export default defineOutputter({
  name: 'profile',
  doc: 'The duration of every state, slowest last.',
  render(data, options) {
    const rows = rowsOf(data);
    const width = Math.max('duration (ms)'.length, ...rows.map((row) => pyFixed(row.duration, 4).length));
    const cells = rows
      .map((row) => [pyFixed(row.duration, 4).padStart(width), row.name, row.fun] as const)
      .sort((a, b) => compareText(a[0], b[0]) || compareText(a[1], b[1]) || compareText(a[2], b[2]))
      .map(([duration, name, fun]) => [name, fun, duration]);
    const table = newDict([
      ['labels', ['name', 'mod.fun', 'duration (ms)']],
      ['rows', cells],
    ]);
    return renderTable(table, options, { rowsKey: 'rows', labelsKey: 'labels' });
  },
});
