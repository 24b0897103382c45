// JSON text, by our reader and by the engine's, written and read again.
import { dumpJson, indentJson, isPlainJson, loadJson, parseValue } from '../../../src/base/codec/json/index.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';
import { sameValue } from '../engine/values.ts';

const engineReads = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const target: FuzzTarget = {
  tokens:
    '{"|":|,|}|[|]|null|true|NaN|-Infinity|1.0|1e5|-0|"10":1|\\u00e9|\\ud83d\\ude00|\\ud800|"__proto__":|12345678901234567890'.split(
      '|',
    ),
  seeds: ['{"a": [1, 2.0, "x\\n", null], "10": {}}', '[NaN, -1e400, 123456789012345678901]'],
  run: (bytes) => {
    const text = textOf(bytes);
    const value = read(() => loadJson(text));
    hold(value !== undefined || !engineReads(text) || text.split(/[[{]/).length > 250, 'all that is JSON is read');
    if (value === undefined) return;
    const again = loadJson(dumpJson(value));
    hold(sameValue(again, value), 'what is written reads as it was');
    if (engineReads(text)) hold(sameValue(parseValue(text), value), 'the fast reader reads the same');
    if (isPlainJson(value)) hold(sameValue(JSON.parse(JSON.stringify(value)), value), 'plain is plain');
    const compact = dumpJson(value, { separators: [',', ':'], ensureAscii: false });
    hold(
      indentJson(Buffer.from(compact), 2).equals(Buffer.from(dumpJson(value, { indent: 2, ensureAscii: false }))),
      'indented the same',
    );
  },
};
export default target;
