// Checks the values that the files set: types are converted or refused, unknown names are reported.

import { pyTypeName } from '../codec/python/index.ts';
import { dictHas, isDict, newDict, type PlainDict, type Value } from '../codec/value.ts';
import { nearest } from '../util/nearest.ts';
import { convertOption, typesOf } from './convert.ts';
import type { Origins } from './include.ts';
import { moduleKeys } from './known-keys.ts';
import type { OptionRow, OptionType } from './options/row.ts';
import type { ConfigReport } from './problems.ts';
import { pyText } from './py-values.ts';

export interface Vocabulary {
  /** The options of the daemon whose configuration is read. */
  readonly own: ReadonlyMap<string, OptionRow>;
  /** Options of the other daemon: harmless, so not reported. */
  readonly other: ReadonlyMap<string, OptionRow>;
}

const pythonTypes: Readonly<Record<OptionType, string>> = {
  bool: 'bool',
  int: 'int',
  float: 'float',
  duration: 'number',
  str: 'str',
  path: 'str',
  list: 'list',
  strs: 'list',
  dict: 'dict',
  roots: 'dict',
  null: 'null',
};

/** The types of a row for messages and the reference pages: `str or list`. */
export function typeText(row: OptionRow): string {
  const names = [...new Set(typesOf(row).map((type) => pythonTypes[type]))].sort((a, b) => rank(a) - rank(b));
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

const rank = (name: string): number => (name === 'null' ? 1 : 0);

/** The given options, converted to their types; refused values are dropped, so that the default applies. */
export function checkOptions(given: PlainDict, words: Vocabulary, origins: Origins, report: ConfigReport): PlainDict {
  const checked = newDict();
  for (const name of Object.keys(given)) {
    const value = given[name] as Value;
    const row = words.own.get(name);
    if (!row) {
      checked[name] = value;
      if (!words.other.has(name)) reportUnknown(name, value, words, origins.get(name), report);
      continue;
    }
    // The value from a secret store is known only at run time.
    if (typeof value === 'string' && value.startsWith('sdb://')) checked[name] = value;
    else checkType(row, value, checked, origins.get(name), report);
  }
  return checked;
}

function checkType(
  row: OptionRow,
  value: Value,
  checked: PlainDict,
  file: string | undefined,
  report: ConfigReport,
): void {
  const result = convertOption(row, value);
  if (result.ok) checked[row.name] = result.value;
  else if (value === null && quietWhenNull(row)) return;
  if (result.ok && !result.lossy) return;
  const where = file ? ` (in ${file})` : '';
  const then = result.ok ? '' : `; ${row.default === undefined ? 'it is ignored' : 'the default is used'}`;
  report.warn(
    'type',
    `Config option '${row.name}' with value ${pyText(value)} has an invalid type of ${pyTypeName(value)}, a ${typeText(row)} is required for this option${where}${then}`,
    { option: row.name, file },
  );
}

/** `option:` without a value: Salt silently accepts None for text, and treats empty roots and node groups as unset. */
function quietWhenNull(row: OptionRow): boolean {
  return row.name === 'nodegroups' || typesOf(row).some((type) => type === 'str' || type === 'path');
}

function reportUnknown(
  name: string,
  value: Value,
  words: Vocabulary,
  file: string | undefined,
  report: ConfigReport,
): void {
  if (name.includes('.') || name.startsWith('_') || moduleKeys.has(name)) return;
  // A dict with a driver is a profile of sdb or a cloud provider, and can have any name.
  if (isDict(value) && (dictHas(value, 'driver') || dictHas(value, 'provider'))) return;
  const suggestion = nearest(name, words.own.keys());
  const where = file ? ` in ${file}` : '';
  const message = `Config option '${name}'${where} is not known${suggestion ? `; did you mean '${suggestion}'?` : ''}`;
  report.add({ kind: 'unknown', level: suggestion ? 'warn' : 'info', message, option: name, file, suggestion });
}
