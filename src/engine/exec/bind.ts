// Binds positional and keyword arguments to declared parameters as Python does, with Python's messages.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Param, Params } from '../../extend/sdk/index.ts';
import { coerce, defaultOf } from './coerce.ts';
import { ArgumentError } from './errors.ts';

/** The arguments of an extension function's `run`. */
export type BoundArguments = Readonly<Record<string, unknown>>;

interface Signature {
  readonly positional: string[];
  readonly keywordOnly: string[];
  readonly rest: string | undefined;
  readonly kwargs: string | undefined;
  /** All accepted keywords, including aliases → parameter. */
  readonly keywords: Map<string, string>;
  /** All parameters in order; read for every call, so they are stored as a list. */
  readonly all: readonly { readonly key: string; readonly param: Param }[];
  readonly required: boolean;
}

const signatures = new WeakMap<Params, Signature>();

/** Parameters after a `rest` parameter can only be given by name, as in Python. */
export function signatureOf(params: Params): Signature {
  const known = signatures.get(params);
  if (known) return known;
  const positional: string[] = [];
  const keywordOnly: string[] = [];
  const keywords = new Map<string, string>();
  let rest: string | undefined;
  let kwargs: string | undefined;
  const all = Object.entries(params).map(([key, param]) => ({ key, param }));
  for (const { key: name, param } of all) {
    if (param.kind === 'rest') rest = name;
    else if (param.kind === 'kwargs') kwargs = name;
    else {
      (rest === undefined ? positional : keywordOnly).push(name);
      for (const keyword of [name, ...param.aliases]) keywords.set(keyword, name);
    }
  }
  const required = all.some(({ param }) => param.required);
  const signature = { positional, keywordOnly, rest, kwargs, keywords, all, required };
  signatures.set(params, signature);
  return signature;
}

/** Binds a call. `name` is the function's own name, shown in messages (`echo() missing 1 required …`). */
export function bindArguments(name: string, params: Params, args: readonly Value[], kwargs: PlainDict): BoundArguments {
  const signature = signatureOf(params);
  const given = new Map<string, Value>();
  const { positional } = signature;
  for (let at = 0; at < args.length && at < positional.length; at++) given.set(positional[at]!, args[at]!);
  const extra = newDict();
  for (const [keyword, value] of Object.entries(kwargs)) takeKeyword(name, signature, given, extra, keyword, value);
  if (args.length > positional.length && !signature.rest) throw tooMany(name, params, signature, args.length, given);
  if (signature.required) requireAll(name, params, signature, given);
  return assemble(name, signature, given, args, extra);
}

function takeKeyword(
  name: string,
  signature: Signature,
  given: Map<string, Value>,
  extra: PlainDict,
  keyword: string,
  value: Value,
): void {
  const target = signature.keywords.get(keyword);
  if (target === undefined) {
    if (!signature.kwargs) throw new ArgumentError(`${name}() got an unexpected keyword argument '${keyword}'`);
    extra[keyword] = value;
    return;
  }
  if (given.has(target)) throw new ArgumentError(`${name}() got multiple values for argument '${target}'`);
  given.set(target, value);
}

function tooMany(
  name: string,
  params: Params,
  signature: Signature,
  count: number,
  given: Map<string, Value>,
): ArgumentError {
  const most = signature.positional.length;
  const least = signature.positional.filter((param) => params[param]!.required).length;
  const takes = least === most ? `${most}` : `from ${least} to ${most}`;
  const plural = most === 1 && least === most ? '' : 's';
  const named = signature.keywordOnly.filter((param) => given.has(param)).length;
  let were = count === 1 ? '1 was given' : `${count} were given`;
  if (named > 0) {
    const arguments_ = `positional argument${count === 1 ? '' : 's'}`;
    were = `${count} ${arguments_} (and ${named} keyword-only argument${named === 1 ? '' : 's'}) were given`;
  }
  return new ArgumentError(`${name}() takes ${takes} positional argument${plural} but ${were}`);
}

function requireAll(name: string, params: Params, signature: Signature, given: Map<string, Value>): void {
  const missing = (names: readonly string[]) => names.filter((param) => params[param]!.required && !given.has(param));
  for (const [kind, names] of [
    ['positional', missing(signature.positional)],
    ['keyword-only', missing(signature.keywordOnly)],
  ] as const) {
    if (names.length === 0) continue;
    const plural = names.length === 1 ? '' : 's';
    throw new ArgumentError(
      `${name}() missing ${names.length} required ${kind} argument${plural}: ${listed(names.map((item) => `'${item}'`))}`,
    );
  }
}

/** `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`. */
function listed(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ');
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`;
}

function assemble(
  name: string,
  signature: Signature,
  given: Map<string, Value>,
  args: readonly Value[],
  extra: PlainDict,
): BoundArguments {
  const bound: Record<string, unknown> = Object.create(null);
  for (const { key, param } of signature.all) {
    if (param.kind === 'rest') bound[key] = args.slice(signature.positional.length);
    else if (param.kind === 'kwargs') bound[key] = extra;
    else if (given.has(key)) bound[key] = coerce(name, key, param, given.get(key)!);
    else if (!param.computed) bound[key] = defaultOf(param);
  }
  return bound;
}
