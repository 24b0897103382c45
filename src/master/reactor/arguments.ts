// The arguments of a reaction: the current form `args`, the old `arg` and `kwarg`, or the function's own names in
// between.
import {
  asList,
  type Dict,
  dictEntries,
  dictSize,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Chunk } from '../../engine/state/data.ts';
import type { Params } from '../../extend/sdk/index.ts';

export interface CallArguments {
  readonly args: readonly Value[];
  readonly kwargs: PlainDict;
}

/** Fields of every reaction that are never arguments of the called function. */
const ownFields: ReadonlySet<string> = new Set([
  '__id__',
  '__sls__',
  '__env__',
  'name',
  'order',
  'fun',
  'key',
  'state',
]);

/** `params` are those of a runner or wheel function, whose arguments may be directly in the reaction. */
export function reactionArguments(chunk: Chunk, params?: Params): CallArguments {
  if ('args' in chunk) return todayArguments(chunk);
  const bound = params && !('arg' in chunk && 'kwarg' in chunk) ? fromFields(chunk, params) : nothing;
  return {
    args: 'arg' in chunk ? listOf(chunk['arg'] as Value) : bound.args,
    kwargs: 'kwarg' in chunk ? namedOf(chunk, chunk['kwarg'] as Value) : bound.kwargs,
  };
}

const nothing: CallArguments = { args: [], kwargs: newDict() };

function todayArguments(chunk: Chunk): CallArguments {
  const given = chunk['args'] as Value;
  const plainList = Array.isArray(given) && !given.every((item) => isDict(item) && dictSize(item) === 1);
  if (chunk['state'] === 'caller' && plainList) return { args: given, kwargs: newDict() };
  return { args: [], kwargs: namedOf(chunk, given) };
}

/** A map, or a list of maps with one entry each. */
function namedOf(chunk: Chunk, given: Value): PlainDict {
  if (given === null) return newDict();
  const parts: Value[] = isDict(given) ? [given] : (asList(given) ?? []);
  const fits = parts.length > 0 && parts.every((part) => isDict(part) && (isDict(given) || dictSize(part) === 1));
  if (fits) return newDict(parts.flatMap((part) => dictEntries(part as Dict).map(entryOf)));
  throw new HaliteError(
    'call.arguments',
    `${describe(chunk)} has arguments in an invalid form: write "- args:" and below it one "- name: value" for each`,
  );
}

const entryOf = ([key, value]: readonly [Value, Value]): [string, Value] => [String(key), value];
const listOf = (value: Value): Value[] => (Array.isArray(value) ? value : value === null ? [] : [value]);

/**
 * As in Salt: required parameters are given by position, so that `arg` gets all of them; optional ones are given by
 * name.
 */
function fromFields(chunk: Chunk, params: Params): CallArguments {
  const given = Object.entries(params).filter(([name]) => name in chunk);
  const open = Object.values(params).some(({ kind }) => kind === 'kwargs');
  const taken = ([name]: [string, Value]): boolean =>
    Object.hasOwn(params, name)
      ? params[name]?.required === false
      : open && !ownFields.has(name) && name !== 'arg' && name !== 'kwarg';
  return {
    args: given.filter(([, { required }]) => required).map(([name]) => chunk[name] as Value),
    kwargs: newDict(Object.entries(chunk).filter(taken)),
  };
}

/** For messages: the reaction and its file. */
export const describe = (chunk: Chunk): string =>
  `The reaction '${String(chunk['__id__'])}' of ${String(chunk['__sls__'])} (${String(chunk['state'])}.${String(chunk['fun'])})`;
