// The type of one row of the option tables, and the value types derived from it.
import type { Dict, Value } from '../../codec/value.ts';

/** `strs` is a list of text, `roots` environment names with their folders, `duration` a number (of seconds unless the doc says otherwise). */
export type OptionType =
  | 'bool'
  | 'int'
  | 'float'
  | 'duration'
  | 'str'
  | 'path'
  | 'list'
  | 'strs'
  | 'dict'
  | 'roots'
  | 'null';

/** A default written in a table: plain data only, so that tables stay cheap to load. */
export type DefaultValue =
  | null
  | boolean
  | number
  | string
  | readonly DefaultValue[]
  | { readonly [key: string]: DefaultValue };

export interface OptionRow {
  readonly name: string;
  /** One type, or several of which one must fit. */
  readonly type: OptionType | readonly OptionType[];
  /** The option is present even when no file sets it. Without a default it is absent until set. */
  readonly default?: DefaultValue;
  /** The value that code assumes while the option is absent; for the reference pages. */
  readonly assumed?: DefaultValue;
  /** Where the default comes from when it depends on the machine. */
  readonly computed?: string;
  readonly doc: string;
  /** First Salt (or Halite) version that has the option. */
  readonly since?: string;
  /** Last Salt version that has the option. */
  readonly until?: string;
  /** True when a running daemon applies a new value without restart. */
  readonly reload?: boolean;
}

export type Roots = { [env: string]: string[] };

interface TypeValues {
  bool: boolean;
  int: number;
  float: number;
  duration: number;
  str: string;
  path: string;
  list: Value[];
  strs: string[];
  dict: Dict;
  roots: Roots;
  null: null;
}

type OneOf<T> = T extends readonly OptionType[] ? TypeValues[T[number]] : T extends OptionType ? TypeValues[T] : never;

/** The value type of a row: absent options may be undefined. */
export type RowValue<R extends OptionRow> = R extends { readonly default: DefaultValue }
  ? OneOf<R['type']>
  : OneOf<R['type']> | undefined;

/** The typed options of a list of rows. */
export type OptionValues<R extends OptionRow> = { [Row in R as Row['name']]: RowValue<Row> };
