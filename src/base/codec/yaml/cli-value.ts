// Command-line arguments to values, by Salt's rules: YAML, except that text stays text wherever YAML would lose
// something.
import { type Dict, dictEntries, isDict, newDict, type PlainDict, type Value } from '../value.ts';
import { PySet, PyTuple } from './collections.ts';
import { loadYaml } from './load.ts';
import { pyStrip } from './py-text.ts';

// Python's `\w` takes letters and numbers of all scripts; `$` allows one final line break, which is dropped.
const kwargPattern = /^((?!\p{Nd})[\p{L}\p{N}_][\p{L}\p{N}_.-]*)=(?!=)([^\n]*)\n?$/u;

/** The value that Salt passes for one argument of a command line. Never throws: text that is not YAML stays text. */
export function parseCliYaml(text: string): Value {
  const stripped = pyStrip(text);
  // YAML loads these as null.
  if (stripped === '' || stripped === '---' || stripped === '...') return text;
  // `1_000` looks like a number to YAML, but is more likely a name.
  if (text.includes('_') && /^[0-9_]*$/.test(stripped)) return text;
  if (/[\t\r\n]/.test(text)) return text;
  if (text === 'None') return null;
  const value = loadOrUndefined(text);
  if (value === undefined) return text;
  // After a `#` the text may have lost its end (a comment in YAML); other types are accepted as they are.
  if (text.includes('#')) return typeof value === 'string' || value === null ? text : value;
  return acceptable(text, value) ? value : text;
}

function loadOrUndefined(text: string): Value | undefined {
  try {
    return loadYaml(text);
  } catch {
    return undefined;
  }
}

/** Lists and dicts must be written with brackets; bytes, sets and the like are not for the command line. */
function acceptable(text: string, value: Value): boolean {
  if (value instanceof PySet || value instanceof PyTuple || value instanceof Uint8Array) return false;
  if (Array.isArray(value)) return text.startsWith('[');
  if (isDict(value)) return text.startsWith('{');
  // A lone `|` or `!` loads as an empty text.
  return !((value === '' || value === null) && (text === '!' || text === '|'));
}

export interface CliInput {
  readonly args: Value[];
  readonly kwargs: PlainDict;
}

export interface ParseInputOptions {
  /** Names of keyword arguments whose value stays text. */
  readonly noParse?: readonly string[] | undefined;
  /** Turn numbers that look like job ids into text (default true). */
  readonly condition?: boolean;
}

/** Splits arguments into positional values and `name=value` pairs. Values that are no text pass through. */
export function parseInput(args: readonly Value[], options: ParseInputOptions = {}): CliInput {
  const positional: Value[] = [];
  const kwargs = newDict();
  for (const arg of args) {
    if (typeof arg === 'string') {
      const match = kwargPattern.exec(arg);
      if (match === null) positional.push(parseCliYaml(arg));
      else {
        const [, name = '', text = ''] = match;
        kwargs[name] = options.noParse?.includes(name) ? text : parseCliYaml(text);
      }
    } else if (isDict(arg) && isKwargDict(arg)) {
      for (const [key, value] of dictEntries(arg)) if (key !== '__kwarg__') kwargs[String(key)] = value;
    } else positional.push(isDict(arg) ? withoutMark(arg) : arg);
  }
  const conditioned = options.condition === false ? positional : positional.map(jobIdAsText);
  return { args: conditioned, kwargs };
}

const kwargMark = (dict: Dict): Value | undefined => dictEntries(dict).find(([key]) => key === '__kwarg__')?.[1];

const isKwargDict = (dict: Dict): boolean => kwargMark(dict) === true;

/** Salt drops the mark even where it is not `true`. */
function withoutMark(dict: Dict): Dict {
  if (kwargMark(dict) === undefined) return dict;
  const entries = dictEntries(dict).filter(([key]) => key !== '__kwarg__');
  return dict instanceof Map ? new Map(entries) : newDict(entries as [string, Value][]);
}

function jobIdAsText(value: Value): Value {
  if (typeof value !== 'number' && typeof value !== 'bigint') return value;
  if (typeof value === 'number' && !Number.isInteger(value)) return value;
  const text = String(value);
  return text.length === 20 ? text : value;
}

/** The single list the publisher takes: positional values, then the keyword arguments in a marked dict. */
export function conditionInput(input: CliInput): Value[] {
  const names = Object.entries(input.kwargs);
  if (names.length === 0) return input.args;
  return [...input.args, newDict([['__kwarg__', true], ...names])];
}
