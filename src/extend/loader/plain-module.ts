// Converts a user's file of plain exported functions to the same object that a `define…` call creates.
import { asList, type Value } from '../../base/codec/value.ts';
import { type Availability, type ExtensionFunction, withReads } from '../sdk/index.ts';
import { readComment, readFileComment } from './comments.ts';
import type { FunctionKind } from './kinds.ts';
import { readParams } from './signature.ts';

type Exports = Readonly<Record<string, unknown>>;
type PlainFunction = (this: unknown, ...args: unknown[]) => unknown;

/** Words that JavaScript forbids as names: `delete_` is callable as `delete`. */
const reserved = new Set(
  'delete new import export default switch case function return var let const class typeof void'.split(' '),
);

/** A module of any function kind, before its kind is checked. */
export interface PlainModule {
  readonly kind: FunctionKind;
  readonly name: string;
  readonly virtualName?: string;
  readonly doc: string;
  readonly available?: (system: Availability) => Promise<true | string>;
  readonly functions: Readonly<Record<string, ExtensionFunction<unknown>>>;
  readonly aliases: Readonly<Record<string, string>>;
}

/** Reads every exported function whose name does not start with `_`. */
export function plainModule(kind: FunctionKind, name: string, exports: Exports, source: string): PlainModule {
  const functions: Record<string, ExtensionFunction<unknown>> = Object.create(null);
  const aliases: Record<string, string> = Object.create(null);
  for (const [exported, value] of Object.entries(exports)) {
    if (typeof value !== 'function' || exported.startsWith('_') || exported === 'default') continue;
    functions[exported] = plainFunction(exported, value as PlainFunction, source);
    const stem = exported.slice(0, -1);
    if (exported.endsWith('_') && reserved.has(stem)) aliases[stem] = exported;
  }
  const declared = exports['__func_alias__'];
  if (declared && typeof declared === 'object') {
    for (const [real, shown] of Object.entries(declared)) {
      if (typeof shown === 'string' && functions[real]) aliases[shown] = real;
    }
  }
  const virtual = exports['__virtualname__'];
  const reads = exports['__reads__'];
  return {
    kind,
    name,
    ...(typeof virtual === 'string' ? { virtualName: virtual } : {}),
    doc: readFileComment(source),
    available: (system) => askVirtual(exports['__virtual__'], system),
    functions: withReads(name, functions, (asList(reads) ?? []).map(String)),
    aliases,
  };
}

/** Salt's `__virtual__`: true, a name, false, or [false, reason]. */
async function askVirtual(virtual: unknown, system: Availability): Promise<true | string> {
  if (typeof virtual !== 'function') return true;
  const answer: unknown = await (virtual as PlainFunction).call({ grains: system.grains, opts: system.opts });
  if (Array.isArray(answer)) return answer[0] ? true : String(answer[1] ?? 'not available');
  return answer ? true : 'not available';
}

function plainFunction(name: string, code: PlainFunction, source: string): ExtensionFunction<unknown> {
  const comment = readComment(source, name);
  const params = readParams(code.toString(), comment.params);
  const order = Object.entries(params);
  return {
    doc: comment.doc,
    examples: comment.examples,
    params,
    inline: false,
    outputter: undefined,
    run(args, ctx) {
      const given = args as Readonly<Record<string, unknown>>;
      const list: unknown[] = [];
      for (const [key, param] of order) {
        if (param.kind === 'rest') list.push(...((given[key] as unknown[] | undefined) ?? []));
        else list.push(given[key]);
      }
      return code.apply(ctx, list) as Value | Promise<Value>;
    },
  };
}
