// Binding of arguments to named parameters, with the errors Python raises for functions written in Python.
import { typeError } from '../errors.ts';
import { makeFloat } from './number.ts';
import type { Kwargs, PyValue } from './value.ts';

export interface Signature {
  /** Name shown in errors, as in the reference implementation. */
  readonly name: string;
  readonly params: readonly string[];
  /** Defaults of the last parameters. */
  readonly defaults: readonly PyValue[];
  readonly varargs: boolean;
  readonly kwargs: boolean;
  /** Parameters Jinja passes itself (environment, context): they count in messages only. */
  readonly implicit: number;
}

/** Result of a call: values in parameter order, the rest of each kind. */
export interface Bound {
  readonly values: PyValue[];
  readonly rest: PyValue[];
  readonly named: Map<string, PyValue>;
}

const literals: Record<string, PyValue> = { None: null, True: true, False: false, "''": '', '[]': [] };

/** Reads `value, width=4, *args, **kwargs`; defaults are numbers, quoted text, None, True or False. */
export function signature(name: string, text: string, implicit = 0): Signature {
  const params: string[] = [];
  const defaults: PyValue[] = [];
  let varargs = false;
  let kwargs = false;
  for (const part of text === '' ? [] : text.split(/,\s*(?=[a-z_*])/)) {
    if (part.startsWith('**')) kwargs = true;
    else if (part.startsWith('*')) varargs = true;
    else {
      const [param = '', value] = part.split('=');
      params.push(param);
      if (value !== undefined) defaults.push(literalOf(value));
    }
  }
  return { name, params, defaults, varargs, kwargs, implicit };
}

function literalOf(text: string): PyValue {
  if (Object.hasOwn(literals, text)) return literals[text]!;
  if (text.startsWith("'")) return text.slice(1, -1);
  return text.includes('.') ? makeFloat(Number(text)) : Number(text);
}

const noNames: Map<string, PyValue> = new Map();
const noRest: PyValue[] = [];

export function bind(sig: Signature, args: PyValue[], kwargs: Kwargs | undefined): Bound {
  const { params, defaults } = sig;
  const count = params.length;
  if (kwargs === undefined || kwargs.size === 0) {
    if (args.length === count) return { values: args, rest: noRest, named: noNames };
    if (args.length < count && args.length >= count - defaults.length) {
      const values = args.slice();
      for (let at = args.length; at < count; at += 1) values.push(defaults[at - count + defaults.length]!);
      return { values, rest: noRest, named: noNames };
    }
  }
  return bindSlowly(sig, args, kwargs ?? noNames);
}

function bindSlowly(sig: Signature, args: PyValue[], kwargs: Kwargs): Bound {
  const { params, defaults } = sig;
  const count = params.length;
  const values: (PyValue | undefined)[] = args.slice(0, count);
  const named = new Map<string, PyValue>();
  for (const [key, value] of kwargs) {
    const at = params.indexOf(key);
    if (at < 0) {
      if (!sig.kwargs) throw typeError(`${sig.name}() got an unexpected keyword argument '${key}'`);
      named.set(key, value);
    } else if (values[at] !== undefined) throw typeError(`${sig.name}() got multiple values for argument '${key}'`);
    else values[at] = value;
  }
  if (args.length > count && !sig.varargs) throw tooMany(sig, args.length);
  const missing: string[] = [];
  for (let at = 0; at < count; at += 1) {
    if (values[at] !== undefined) continue;
    const fallback = defaults[at - count + defaults.length];
    if (fallback === undefined) missing.push(params[at]!);
    else values[at] = fallback;
  }
  if (missing.length > 0) throw missingArguments(sig, missing);
  return { values: values as PyValue[], rest: args.slice(count), named };
}

function tooMany(sig: Signature, given: number): Error {
  const most = sig.params.length + sig.implicit;
  const least = most - sig.defaults.length;
  const takes =
    least === most
      ? `${most} positional argument${most === 1 ? '' : 's'}`
      : `from ${least} to ${most} positional arguments`;
  const got = given + sig.implicit;
  return typeError(`${sig.name}() takes ${takes} but ${got} ${got === 1 ? 'was' : 'were'} given`);
}

function missingArguments(sig: Signature, missing: readonly string[]): Error {
  const quoted = missing.map((name) => `'${name}'`);
  const list = quoted.length < 3 ? quoted.join(' and ') : `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`;
  const noun = missing.length === 1 ? 'argument' : 'arguments';
  return typeError(`${sig.name}() missing ${missing.length} required positional ${noun}: ${list}`);
}
