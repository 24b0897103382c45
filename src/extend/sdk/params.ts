// Parameters of extension functions: one object per parameter is its type, default and documentation.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';

export type ParamKind =
  | 'any' // any value, including None
  | 'ignored' // any value; the function does not use it
  | 'scalar' // text, a number, a boolean, bytes or a date, unchanged
  | 'text' // kept as the operator typed it: `cmd.run false` runs `false`
  | 'string' // text; numbers and booleans are converted as by Python's str()
  | 'strings' // a list of texts, or one text
  | 'int'
  | 'float'
  | 'bool' // yes, no, on, off, …; any other word is refused
  | 'truthy' // Python's bool() of any value
  | 'isTrue' // Salt's own interpretation of yes and no
  | 'list'
  | 'dict'
  | 'oneOf' // one of several forms, unchanged
  | 'path'
  | 'rest' // Python's *args
  | 'kwargs'; // Python's **kwargs

/** The forms that `p.oneOf` can name, and what the function then receives. */
export interface Forms {
  readonly string: string;
  readonly int: number;
  readonly float: number;
  readonly bool: boolean;
  readonly list: Value[];
  readonly dict: Dict;
}
export type Form = keyof Forms;

/** A single value: neither None nor a list nor a dictionary. */
export type Scalar = Exclude<Value, null | Value[] | Dict>;

/** One declared parameter. `T` is what the function receives. */
export interface Param<T = unknown> {
  readonly kind: ParamKind;
  readonly doc: string;
  readonly required: boolean;
  readonly default: Value;
  /** Other accepted keyword names. */
  readonly aliases: readonly string[];
  /** The function computes the default itself: omitted from the arguments when not given (plain functions of users). */
  readonly computed?: boolean;
  /** None is passed as null, even if the default is another value. */
  readonly nullable?: boolean;
  /** With null here, every value that is false in Python ('', 0, False, [], {}) is passed as null. */
  readonly falsy?: null;
  /** The separator at which a text given for a list is split. */
  readonly split?: string;
  /** With 'cut', `p.int` makes 5 of 5.7, as Python's int() does; a fraction is refused otherwise. */
  readonly fractions?: 'cut';
  /** The accepted forms of `p.oneOf`. */
  readonly forms?: readonly Form[];
  /** Phantom: exists only for the type. */
  readonly type?: T;
}

interface Common {
  readonly doc?: string;
  readonly aliases?: readonly string[];
}
interface WithDefault<D> extends Common {
  readonly default: D;
}
/** None is passed as null (`nullable`), or every falsy value is (`falsy: null`), even if the default is not None. */
type WithNull<D> = Common & { readonly default?: D } & ({ readonly nullable: true } | { readonly falsy: null });

type Spec = Common & { readonly default?: unknown };

const keys: KnownKeys<Pick<Param, 'doc' | 'default' | 'aliases' | 'nullable' | 'falsy'>> = {
  ...{ doc: true, default: true, aliases: true },
  ...{ nullable: true, falsy: true },
};
const ownKeys: Partial<Record<ParamKind, object>> = { strings: { split: true }, int: { fractions: true } };

function make<T>(kind: ParamKind, spec: Spec): Param<T> {
  withKnownKeys<object>(`p.${kind}()`, spec, { ...keys, ...ownKeys[kind] });
  return {
    ...spec,
    kind,
    doc: spec.doc ?? '',
    required: !('default' in spec) && kind !== 'rest' && kind !== 'kwargs',
    default: (spec.default ?? null) as Value,
    aliases: spec.aliases ?? [],
  };
}

/** `Shown` is the type of a default that differs from what the function receives. */
type Maker<T, Shown = never, Extra = unknown> = {
  (spec: WithNull<T | Shown | null> & Extra): Param<T | null>;
  <D extends T | Shown | null>(spec: WithDefault<D> & Extra): Param<D extends null ? T | null : T>;
  (spec?: Common & Extra): Param<T>;
};
function maker<T, Shown = never, Extra = unknown>(kind: ParamKind): Maker<T, Shown, Extra> {
  return ((spec: Common = {}) => make(kind, spec)) as Maker<T, Shown, Extra>;
}

/** Every value is converted to a boolean, so a default of any type is allowed; None stays null only with `nullable`. */
type TruthMaker = {
  (spec: Common & { readonly default?: Value; readonly nullable: true }): Param<boolean | null>;
  (spec?: Common & { readonly default?: Value }): Param<boolean>;
};
function truthMaker(kind: 'truthy' | 'isTrue'): TruthMaker {
  return ((spec: Common = {}) => make(kind, spec)) as TruthMaker;
}

function oneOf<K extends Form>(forms: readonly K[], spec: WithNull<Forms[K] | null>): Param<Forms[K] | null>;
function oneOf<K extends Form, D extends Forms[K] | null>(
  forms: readonly K[],
  spec: WithDefault<D>,
): Param<D extends null ? Forms[K] | null : Forms[K]>;
function oneOf<K extends Form>(forms: readonly K[], spec?: Common): Param<Forms[K]>;
function oneOf(forms: readonly Form[], spec: Common = {}): Param {
  return { ...make('oneOf', spec), forms };
}

/** Parameter builders: `p.string({ default: null, doc: '…' })`. Without `default` the parameter is required. */
export const p = {
  any: maker<Value>('any'),
  ignored: (spec: Common & { readonly default?: Value } = {}): Param<Value> => make('ignored', spec),
  scalar: maker<Scalar>('scalar'),
  text: maker<string>('text'),
  string: maker<string, boolean | number>('string'),
  strings: maker<string[], string, { readonly split?: string }>('strings'),
  path: maker<string>('path'),
  int: maker<number, never, { readonly fractions?: 'cut' }>('int'),
  float: maker<number>('float'),
  bool: maker<boolean>('bool'),
  truthy: truthMaker('truthy'),
  isTrue: truthMaker('isTrue'),
  list: maker<Value[]>('list'),
  dict: maker<Dict>('dict'),
  oneOf,
  rest: (spec: Common = {}): Param<Value[]> => make('rest', spec),
  kwargs: (spec: Common = {}): Param<PlainDict> => make('kwargs', spec),
};

export type Params = Readonly<Record<string, Param>>;
/** What `run` receives for a set of declared parameters. */
export type ArgsOf<P extends Params> = { readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never };
