// TOML text: read, written and read again.
import { dumpToml, loadToml } from '../../../src/base/codec/toml/index.ts';
import { dictEntries, isDict, type Value } from '../../../src/base/codec/value.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';
import { sameValue } from '../engine/values.ts';

/** Tables come after values when they are written: order says nothing. */
function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isDict(value)) return value;
  const entries = dictEntries(value).map(([key, item]): [Value, Value] => [key, sorted(item)]);
  return new Map(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** Python's package cannot write tables beside other values in a list, nor lists of tables below a name with odd letters. */
function canBeWritten(value: Value): boolean {
  if (Array.isArray(value)) return value.every((item) => !isDict(item) && canBeWritten(item));
  if (!isDict(value)) return !(value instanceof Date);
  return dictEntries(value).every(([, item]) =>
    Array.isArray(item) && item.length > 0 && item.every(isDict)
      ? item.every((table) => dictEntries(table).every(([, inside]) => !isDict(inside) && canBeWritten(inside)))
      : canBeWritten(item),
  );
}

const target: FuzzTarget = {
  tokens:
    '[a]\n|[[a]]\n|a.b = |"""|\'\'\'|\\u00e9|{x = 1}|[1, 2]|true|inf|nan|0x1f|1_000|1e5|1979-05-27T07:32:00Z|07:32:00|# c\n|"10" = 1\n|\\\n'.split(
      '|',
    ),
  seeds: ['a = 1\n[t]\nb = "x"\n[[l]]\nc = [1.0, {d = true}]\n', "d = 1979-05-27 07:32:00\ns = '''\nx'''\n"],
  run: (bytes) => {
    const value = read(() => loadToml(textOf(bytes)));
    if (value === undefined) return;
    const written = read(() => dumpToml(value));
    if (written === undefined || !canBeWritten(value)) return;
    const again = loadToml(written);
    hold(sameValue(sorted(again), sorted(value)), `what is written reads as it was: ${JSON.stringify(written)}`);
  },
};
export default target;
