// What the loader needs of the bridge to Python; src/engine/python implements it, and only when a Python file is used.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { FunctionInfo, Params, ProxyServices, RenderRequest, StateExtra } from '../sdk/index.ts';
import type { FunctionKind, Kind } from './kinds.ts';
import type { UserFile } from './user-folders.ts';

export interface PythonFunction {
  readonly params: Params;
  readonly doc: string;
  readonly outputter: string | undefined;
}

/** A file of users after its import: what it offers, or why it cannot be used here. */
export type PythonDescription =
  | {
      readonly available: true;
      readonly name: string;
      /** Its name and its `__virtual_aliases__`. */
      readonly names: readonly string[];
      readonly doc: string;
      readonly functions: Readonly<Record<string, PythonFunction>>;
      readonly hooks: readonly string[];
      /** Proxy types that it is for (`__proxyenabled__`). */
      readonly proxies: readonly string[];
    }
  | { readonly available: false; readonly reason: string };

/** Who calls: the context of the extension, of which kinds have different parts. */
export interface PythonCaller {
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains?: Dict;
  readonly pillar?: Dict;
  readonly signal?: AbortSignal | undefined;
  readonly low?: Readonly<PlainDict>;
  readonly saltenv?: string | undefined;
  readonly instanceId?: string;
  readonly running?: Readonly<Record<string, PlainDict>>;
  readonly lowstate?: readonly Readonly<PlainDict>[];
  readonly job?: Readonly<Record<string, Value>>;
  readonly master?: object | undefined;
  readonly minion?: object;
  readonly proxy?: ProxyServices | undefined;
  callWith?(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value>;
  call?(fun: string, ...args: Value[]): Promise<Value>;
  state?(fun: string, kwargs: StateExtra): Promise<Value | object>;
  render?(source: string, request?: RenderRequest): Promise<Value> | Value;
  /** Whether the minion that is concerned matches a target expression. */
  match?(expression: string, kind: string): Promise<boolean> | boolean;
  setRetcode?(retcode: number): void;
  progress?(text: string): void;
  print?(text: string): void;
}

/** The extensions that exist, for `__salt__`. */
export interface PythonFinder {
  functionInfo(kind: FunctionKind, name: string): Promise<FunctionInfo | undefined>;
  functionNames(kind: FunctionKind): Promise<string[]>;
  /** Python files by every name that they may have. */
  pythonFiles(kind: Kind): Promise<ReadonlyMap<string, readonly UserFile[]>>;
}

export interface PythonCall {
  readonly kind: Kind;
  readonly file: UserFile;
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: PlainDict;
}

export interface PythonRendering {
  readonly renderer: string;
  readonly path: string;
  readonly text: string;
  readonly variables: PlainDict;
}

export interface PythonHost {
  load(kind: Kind, file: UserFile, caller: PythonCaller, finder: PythonFinder): Promise<PythonDescription>;
  run(call: PythonCall, caller: PythonCaller, finder: PythonFinder): Promise<Value>;
  /** The grains of one file; problems are logged. */
  collect(file: UserFile, caller: PythonCaller, finder: PythonFinder): Promise<Dict>;
  render(rendering: PythonRendering, caller: PythonCaller, finder: PythonFinder): Promise<Value>;
}

/** Starts nothing yet: gives the bridge of this process, whose code is loaded at the first call. */
export type PythonSource = () => Promise<PythonHost>;

/** A file that can be used. */
export type Described = Extract<PythonDescription, { available: true }>;

export interface PythonParts {
  readonly kind: Kind;
  readonly file: UserFile;
  readonly host: PythonHost;
  readonly finder: PythonFinder;
}
