// Environments: settings, the compile cache, loading of templates, and the two ways to render.

import { SourceCache } from './compile/cache.ts';
import { type CompiledTemplate, compileTemplate, Template } from './compile/template.ts';
import { PyError } from './errors.ts';
import { jinjaFilters } from './filters/index.ts';
import { jinjaGlobals } from './globals/index.ts';
import { defaultLexerOptions, type LexerOptions } from './lexer/tokens.ts';
import { Parser, type TagRegistry } from './parser/parser.ts';
import { jinjaTags } from './parser/statements.ts';
import { locateError } from './report.ts';
import { PyFunction } from './runtime/callable.ts';
import { defineBound, type FunctionTable } from './runtime/define.ts';
import { Bridge, HostCallable, type HostFunction } from './runtime/host.ts';
import { installMethods } from './runtime/methods/index.ts';
import type { TemplateInfo, Vars } from './runtime/runtime.ts';
import { type EngineSettings, type LoadedTemplate, Runtime } from './runtime/runtime.ts';
import type { MaybePromise, PyValue } from './runtime/value.ts';
import { saltFilters } from './salt/filters.ts';
import { finalize } from './salt/finalize.ts';
import { saltGlobals } from './salt/globals.ts';
import { saltTags } from './salt/tags.ts';
import { saltTests } from './salt/tests.ts';
import { jinjaTests } from './tests/index.ts';

installMethods();

/** The result of a loader for a template name. */
export interface LoadedSource {
  readonly source: string;
  /** Name for messages, usually the requested one. */
  readonly name?: string;
  /** Path of the file, for messages. */
  readonly path?: string;
}

export type Loader = (name: string, fromName?: string) => MaybePromise<LoadedSource | undefined>;

export type OwnFunctions = Readonly<Record<string, PyFunction | HostFunction>>;

export interface EnvironmentOptions {
  readonly loader?: Loader;
  /** `strict` (default, as Salt): nearly every use of an undefined value fails; `lenient`: it is empty text. */
  readonly undefined?: 'strict' | 'lenient';
  readonly blockStart?: string;
  readonly blockEnd?: string;
  readonly variableStart?: string;
  readonly variableEnd?: string;
  readonly commentStart?: string;
  readonly commentEnd?: string;
  readonly lineStatementPrefix?: string;
  readonly lineCommentPrefix?: string;
  readonly trimBlocks?: boolean;
  readonly lstripBlocks?: boolean;
  readonly newlineSequence?: '\n' | '\r\n' | '\r';
  readonly keepTrailingNewline?: boolean;
  readonly autoescape?: boolean;
  /** Further globals; plain data or functions `(args, kwargs) => value`. */
  readonly globals?: Readonly<Record<string, unknown>>;
  /** Further filters and tests: made by `define`, or plain functions `(args, kwargs) => value`. */
  readonly filters?: OwnFunctions;
  readonly tests?: OwnFunctions;
  /** Salt release to follow where releases differ (default 3008). */
  readonly saltRelease?: number;
  /** Depth of nested macro calls, includes and imports (default 198, about what Python's stack allows). */
  readonly maxDepth?: number;
  /** Loop rounds of one render (default ten million). */
  readonly maxSteps?: number;
}

export interface RenderOptions {
  /** Name of the template in messages; without it messages speak of lines only. */
  readonly name?: string;
  readonly path?: string;
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  /** Receives messages of `profile` sections. */
  readonly log?: (level: string, message: string) => void;
  /** Overrides the environment's loader. */
  readonly loader?: Loader;
  /** Globals of this render, over those of the environment. */
  readonly globals?: Context;
  /** Gives the full name of a template named relative to another one; undefined means: not found. */
  readonly resolve?: (name: string, from: TemplateInfo) => string | undefined;
  /** Called when a template was loaded, before it is compiled. */
  readonly onLoad?: (globals: Map<string, unknown>, key: string, name: string) => void;
  /** One object for several renders: changes that a template makes to host data are visible to the next ones. */
  readonly bridge?: Bridge;
}

export type Context = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

export interface JinjaEnvironment {
  /** Renders synchronously; fails if a function or the loader returns a promise. */
  renderSync(source: string, context?: Context, options?: RenderOptions): string;
  render(source: string, context?: Context, options?: RenderOptions): Promise<string>;
  /** Checks a template without rendering it. */
  compile(source: string, options?: RenderOptions): void;
}

const tags: TagRegistry = new Map([...jinjaTags, ...saltTags]);

const builtinFilters: FunctionTable = new Map([...jinjaFilters, ...saltFilters]);
const builtinTests: FunctionTable = new Map([...jinjaTests, ...saltTests]);

function withOwn(table: FunctionTable, own: OwnFunctions | undefined): FunctionTable {
  if (own === undefined) return table;
  const all = new Map(table);
  for (const [name, fn] of Object.entries(own)) all.set(name, fn instanceof PyFunction ? fn : hostFilter(name, fn));
  return all;
}

/** A host function as a filter or test; it may be asynchronous. */
function hostFilter(name: string, fn: HostFunction): PyFunction {
  const host = new HostCallable(fn);
  return defineBound(name, '*args, **kwargs', (rt, { rest, named }) => host.invoke(rt, rest, named), { waits: true });
}

function settingsOf(options: EnvironmentOptions): EngineSettings {
  return {
    strict: options.undefined !== 'lenient',
    autoescape: options.autoescape === true,
    newlineSequence: options.newlineSequence ?? '\n',
    filters: withOwn(builtinFilters, options.filters),
    tests: withOwn(builtinTests, options.tests),
    finalize,
    saltRelease: options.saltRelease ?? 3008,
    maxDepth: options.maxDepth ?? 198,
    maxSteps: options.maxSteps ?? 10_000_000,
  };
}

function lexerOptionsOf(options: EnvironmentOptions): LexerOptions {
  const chosen: Record<string, unknown> = { ...defaultLexerOptions };
  for (const key of Object.keys(defaultLexerOptions)) {
    const value = (options as Record<string, unknown>)[key];
    if (value !== undefined) chosen[key] = value;
  }
  return chosen as unknown as LexerOptions;
}

function fill(vars: Vars, source: Context | undefined, bridge: Bridge): void {
  if (source === undefined) return;
  const entries = source instanceof Map ? source : Object.entries(source);
  for (const [name, value] of entries as Iterable<[string, unknown]>) {
    if (value !== undefined) vars.set(name, bridge.in(value));
  }
}

class Environment implements JinjaEnvironment {
  readonly #options: EnvironmentOptions;
  readonly #settings: EngineSettings;
  readonly #lexer: LexerOptions;
  readonly #cache = new SourceCache<CompiledTemplate>();

  constructor(options: EnvironmentOptions) {
    this.#options = options;
    this.#settings = settingsOf(options);
    this.#lexer = lexerOptionsOf(options);
  }

  #compiled(info: TemplateInfo): CompiledTemplate {
    const known = this.#cache.get(info.source);
    if (known !== undefined) return known;
    try {
      const nodes = new Parser(info.source, this.#lexer, tags).parse();
      const made = compileTemplate(this.#settings, nodes);
      this.#cache.set(info.source, made);
      return made;
    } catch (error) {
      if (error instanceof PyError && error.source === undefined) {
        error.source = info.source;
        error.template = info.name;
        error.path = info.path;
      }
      throw error;
    }
  }

  #load(rt: Runtime, name: string, from: TemplateInfo, options: RenderOptions): MaybePromise<LoadedTemplate> {
    const key = options.resolve === undefined ? name : options.resolve(name, from);
    if (key === undefined) throw new PyError('TemplateNotFound', name);
    const known = rt.templates.get(key);
    if (known !== undefined) return known;
    const loader = options.loader ?? this.#options.loader;
    if (loader === undefined) throw new PyError('TypeError', 'no loader for this environment specified');
    const finish = (found: LoadedSource | undefined): LoadedTemplate => {
      if (found === undefined) throw new PyError('TemplateNotFound', name);
      options.onLoad?.(rt.globals, key, name);
      const info = { name: found.name ?? name, key, path: found.path, source: found.source };
      const template = new Template(info, this.#compiled(info));
      rt.templates.set(key, template);
      return template;
    };
    const found = loader(key, from.key ?? from.name);
    return found instanceof Promise ? found.then(finish) : finish(found);
  }

  #start(source: string, context: Context, options: RenderOptions): { rt: Runtime; run: () => MaybePromise<string> } {
    const bridge = options.bridge ?? new Bridge();
    const globals: Vars = new Map<string, PyValue>([...jinjaGlobals, ...saltGlobals]);
    fill(globals, this.#options.globals, bridge);
    fill(globals, options.globals, bridge);
    const rt = new Runtime(this.#settings, globals, bridge, {
      load: (own, name, from) => this.#load(own, name, from, options),
      signal: options.signal,
      now: options.now ?? Date.now,
      log: options.log,
    });
    const vars: Vars = new Map();
    fill(vars, context, bridge);
    const run = (): MaybePromise<string> => {
      rt.checkAbort();
      const info: TemplateInfo = { name: options.name, key: undefined, path: options.path, source };
      const template = new Template(info, this.#compiled(info));
      return template.renderRoot(rt, template.newContext(rt, vars, false));
    };
    return { rt, run };
  }

  renderSync(source: string, context: Context = {}, options: RenderOptions = {}): string {
    const { rt, run } = this.#start(source, context, options);
    try {
      const text = run();
      if (!(text instanceof Promise)) return text;
      text.catch(() => undefined);
      throw new PyError('RuntimeError', 'the template calls an asynchronous function; use render()');
    } catch (error) {
      throw locateError(error, rt);
    }
  }

  async render(source: string, context: Context = {}, options: RenderOptions = {}): Promise<string> {
    const { rt, run } = this.#start(source, context, options);
    try {
      return await run();
    } catch (error) {
      throw locateError(error, rt);
    }
  }

  compile(source: string, options: RenderOptions = {}): void {
    const { rt } = this.#start(source, {}, options);
    try {
      this.#compiled({ name: options.name, key: undefined, path: options.path, source });
    } catch (error) {
      throw locateError(error, rt);
    }
  }
}

/** An environment configured like Salt's Jinja; compiled templates are cached in it. */
export function createEnvironment(options: EnvironmentOptions = {}): JinjaEnvironment {
  return new Environment(options);
}
