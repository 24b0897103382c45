// Stateful commands: their output, not their return code, reports whether something changed.
import {
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  pyStr,
  pythonError,
  type StateResult,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { shellSplit } from 'halite/sdk/text';

const notAnObject = 'script JSON output must be a JSON object (e.g., {})!';
const notParsed = 'Failed parsing script output! Stdout must be JSON or a line of name=value pairs.';

/** The result of a command from its output: JSON, or a last line of `name=value` words. */
export function reinterpret(result: StateResult): StateResult {
  const outcome = result.changes;
  result.changes = newDict();
  result.comment = '';
  const out = dictGet(outcome, 'stdout');
  if (typeof out !== 'string' || out === '') {
    const stderr = dictGet(outcome, 'stderr');
    if (stderr) result.comment = pyStr(stderr);
    return result;
  }
  const json = asJson(out);
  if (json !== undefined && !isDict(json)) return failed(result, notAnObject);
  const lineStart = out.trimEnd().lastIndexOf('\n');
  const data =
    json === undefined ? wordsOf(lineStart < 0 ? out : out.slice(lineStart + 1)) : new Map(dictEntries(json));
  if (!data) {
    result.changes = outcome;
    return failed(result, notParsed);
  }
  return applyData(result, outcome, data, json === undefined ? lineStart : undefined);
}

function failed(result: StateResult, comment: string): StateResult {
  result.comment = comment;
  result.result = false;
  return result;
}

function asJson(text: string): Value | undefined {
  try {
    return loadJson(text);
  } catch {
    return undefined;
  }
}

function wordsOf(line: string): Map<Value, Value> | undefined {
  const data = new Map<Value, Value>();
  try {
    for (const word of shellSplit(line)) {
      const parts = word.split('=');
      if (parts.length !== 2) return undefined;
      data.set(parts[0]!, parts[1]!);
    }
    return data;
  } catch {
    return undefined;
  }
}

/** `lineStart` is where the last line of plain output begins; undefined for JSON, which is not shown again. */
function applyData(
  result: StateResult,
  outcome: Dict,
  data: Map<Value, Value>,
  lineStart: number | undefined,
): StateResult {
  const changed = truthOf(data.get('changed') ?? 'no');
  if (data.has('comment')) {
    result.comment = pyStr(data.get('comment'));
    data.delete('comment');
  }
  if (!changed) return result;
  for (const [key, value] of dictEntries(outcome)) if (!data.has(key)) data.set(key, value);
  // In Python a slice that ends at -1 drops the last character; for a single line that gives the line without it.
  const stdout = pyStr(data.get('stdout') ?? '');
  data.set('stdout', lineStart === undefined ? '' : stdout.slice(0, lineStart));
  result.changes = newDict([...data].map(([key, value]) => [pyStr(key), value] as const));
  return result;
}

function truthOf(value: Value): boolean {
  const word = pyStr(value).toLowerCase();
  if (['true', 'yes', '1'].includes(word)) return true;
  if (['false', 'no', '0'].includes(word)) return false;
  throw pythonError('ValueError', `Failed parsing boolean value: ${pyStr(value)}`);
}
