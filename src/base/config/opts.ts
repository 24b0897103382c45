// The options object passed to the program: typed by the tables, with access to all other options by name.
import { userInfo } from 'node:os';
import { newDict, type PlainDict, type Value } from '../codec/value.ts';
import type { MasterValues, MinionValues } from './options/index.ts';
import type { DefaultValue, OptionRow } from './options/row.ts';
import { expandHome } from './paths.ts';

/** Access by name to options that are in no table. */
export interface OpenOpts {
  /** Any option, also one that only a module uses. */
  get(name: string): Value | undefined;
  /** All options as plain data. */
  readonly raw: PlainDict;
  /** Whether a file sets the option, possibly to its default value. */
  isGiven(name: string): boolean;
}

/** Options that every configuration has, independent of the files. */
interface DerivedOpts {
  readonly __role: string;
  readonly __cli: string;
}

interface DerivedMasterOpts extends DerivedOpts {
  readonly token_dir: string;
  readonly syndic_dir: string;
}

interface DerivedClientOpts {
  readonly token_file: string;
  /** The stored login token, while it is valid. */
  readonly token?: string;
  readonly master_uri: string;
}

export type MasterOpts = Readonly<MasterValues> & DerivedMasterOpts & OpenOpts;
export type MinionOpts = Readonly<MinionValues> & DerivedOpts & OpenOpts;
export type ClientOpts = MasterOpts & DerivedClientOpts;

function copyDefault(value: DefaultValue): Value {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(copyDefault);
  return newDict(Object.entries(value).map(([key, item]): [string, Value] => [key, copyDefault(item)]));
}

function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? '');
  }
}

/** The defaults of a table, as fresh values. */
export function defaultsOf(rows: ReadonlyMap<string, OptionRow>): PlainDict {
  const opts = newDict();
  for (const row of rows.values()) if (row.default !== undefined) opts[row.name] = copyDefault(row.default);
  if (rows.has('user')) opts['user'] = currentUser();
  if (rows.has('ssh_config_file')) opts['ssh_config_file'] = expandHome('~/.ssh/config');
  return opts;
}

/** The finished options; `get`, `raw` and `isGiven` are not enumerable. */
export function sealOpts<T extends OpenOpts>(opts: PlainDict, given: PlainDict): T {
  Object.defineProperties(opts, {
    get: { value: (name: string) => (Object.hasOwn(opts, name) ? opts[name] : undefined), configurable: true },
    raw: { value: opts, configurable: true },
    isGiven: { value: (name: string) => Object.hasOwn(given, name), configurable: true },
  });
  // The tables define which options exist, and checkOptions converted them to their types.
  return opts as unknown as T;
}

/** An option computed when it is first read: detecting a host name is too slow for every command. */
export function lazyOption(opts: PlainDict, name: string, compute: () => Value): void {
  const settle = (value: Value): void => {
    Object.defineProperty(opts, name, { value, enumerable: true, configurable: true, writable: true });
  };
  Object.defineProperty(opts, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      const value = compute();
      settle(value);
      return value;
    },
    set: settle,
  });
}
