// Paths through nested data ('a:b:0') as Salt traverses them.
import { type Dict, isDict, type Value } from '../codec/value.ts';
import type { Budget } from './budget.ts';
import { pyDictGet } from './py-equals.ts';
import { yamlKey } from './yaml-key.ts';

export const defaultDelimiter = ':';

/** The value at the path, or undefined. In a list, a step is an index, or selects the first dict that has the key. */
export function traverse(
  data: Value,
  path: string | number | readonly Value[],
  delimiter: string = defaultDelimiter,
): Value | undefined {
  const steps: readonly Value[] =
    typeof path === 'string' ? splitPath(path, delimiter) : typeof path === 'number' ? [path] : path;
  return walk(data, steps.map(stepOf));
}

/** One part of a path, with its alternative readings. */
export interface Step {
  readonly key: Value;
  /** The part read as a YAML scalar, when that differs from the text. */
  readonly loaded: Value | undefined;
  readonly index: number | undefined;
}

export function stepOf(key: Value): Step {
  const loaded = typeof key === 'string' ? yamlKey(key) : key;
  return { key, loaded: loaded === key ? undefined : loaded, index: pythonInt(key) };
}

/** The cost of a step into a dict, relative to a step of one character. */
const stepCost = 10;

export function walk(data: Value, steps: readonly Step[], budget?: Budget): Value | undefined {
  let now: Value = data;
  for (const step of steps) {
    budget?.spend(stepCost);
    const next: Value | undefined = Array.isArray(now)
      ? stepIntoList(now, step, budget)
      : isDict(now)
        ? stepIntoDict(now, step)
        : undefined;
    if (next === undefined) return undefined;
    now = next;
  }
  return now;
}

/** Python's split; an empty delimiter splits nothing. */
export function splitPath(path: string, delimiter: string): string[] {
  return delimiter === '' ? [path] : path.split(delimiter);
}

function stepIntoDict(dict: Dict, { key, loaded }: Step): Value | undefined {
  const found = pyDictGet(dict, key);
  return found !== undefined || loaded === undefined ? found : pyDictGet(dict, loaded);
}

function stepIntoList(list: readonly Value[], { key, index }: Step, budget: Budget | undefined): Value | undefined {
  budget?.spend(list.length);
  for (const item of list) {
    const found = isDict(item) ? pyDictGet(item, index ?? key) : undefined;
    if (found !== undefined) return found;
  }
  return index === undefined ? undefined : list.at(index);
}

/** Python's int(text), for the forms in which an index may be written. */
function pythonInt(step: Value): number | undefined {
  if (typeof step === 'number' && Number.isInteger(step)) return step;
  if (typeof step !== 'string' || !/^\s*[-+]?\d+(?:_\d+)*\s*$/.test(step)) return undefined;
  return Number(step.replaceAll('_', ''));
}
