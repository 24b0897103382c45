// Parameters of extension functions: one object per parameter is its type, default and documentation.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';

export type ParamKind =
  | 'any' // whatever was given
  | 'text' // kept as the operator typed it: `cmd.run false` runs `false`
  | 'string' // text; numbers and booleans are turned into text as Python's str() would
  | 'int'
  | 'float'
  | 'bool'
  | 'list'
  | 'dict'
  | 'path'
  | 'rest' // Python's *args
  | 'kwargs'; // Python's **kwargs

/** One declared parameter. `T` is what the function receives. */
export interface Param<T = unknown> {
  readonly kind: ParamKind;
  readonly doc: string;
  readonly required: boolean;
  readonly default: Value;
  /** Other accepted keyword names. */
  readonly aliases: readonly string[];
  /** The function works the default out by itself: left out of the arguments when not given (plain functions of users). */
  readonly computed?: boolean;
  /** Phantom: carries the type only. */
  readonly type?: T;
}

interface Common {
  readonly doc?: string;
  readonly aliases?: readonly string[];
}
interface WithDefault<D> extends Common {
  readonly default: D;
}

function make<T>(kind: ParamKind, spec: Common & { default?: unknown }): Param<T> {
  return {
    kind,
    doc: spec.doc ?? '',
    required: !('default' in spec) && kind !== 'rest' && kind !== 'kwargs',
    default: (spec.default ?? null) as Value,
    aliases: spec.aliases ?? [],
  };
}

type Maker<T> = {
  <D extends T | null>(spec: WithDefault<D>): Param<D extends null ? T | null : T>;
  (spec?: Common): Param<T>;
};
function maker<T>(kind: ParamKind): Maker<T> {
  return ((spec: Common = {}) => make(kind, spec)) as Maker<T>;
}

/** Parameter builders: `p.string({ default: null, doc: '…' })`. Without `default` the parameter is required. */
export const p = {
  any: maker<Value>('any'),
  text: maker<string>('text'),
  string: maker<string>('string'),
  path: maker<string>('path'),
  int: maker<number>('int'),
  float: maker<number>('float'),
  bool: maker<boolean>('bool'),
  list: maker<Value[]>('list'),
  dict: maker<Dict>('dict'),
  rest: (spec: Common = {}): Param<Value[]> => make('rest', spec),
  kwargs: (spec: Common = {}): Param<PlainDict> => make('kwargs', spec),
};

export type Params = Readonly<Record<string, Param>>;
/** What `run` receives for a set of declared parameters. */
export type ArgsOf<P extends Params> = { readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never };
