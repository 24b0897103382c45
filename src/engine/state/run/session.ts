// One state run's view of the minion: its options, grains and pillar, and the contexts created from them.
import { isTruthy } from '../../../base/codec/python/index.ts';
import {
  asDict,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';
import type { FoundFunction, Loader } from '../../../extend/loader/index.ts';
import type { ModuleContext } from '../../../extend/sdk/index.ts';
import { createContext, type JobState, matchesMinion, type Runtime } from '../../exec/index.ts';
import { renderHost } from '../../exec/render-host.ts';
import type { RenderHost } from '../../render/index.ts';
import { notAvailable } from './verify-chunk.ts';

type Opts = Readonly<Record<string, Value>>;

export interface SessionOptions {
  readonly runtime: Runtime;
  readonly state: JobState;
  readonly opts: Opts;
  readonly pillar: Dict;
  /** Compiles the pillar again, with the overrides of this run. */
  gatherPillar(): Promise<Dict>;
  /** Collects the grains again. */
  gatherGrains(): Promise<Dict>;
}

/** What a state requires of its context. */
export interface ContextChoice {
  readonly test: boolean;
  readonly runas?: Value;
  readonly password?: Value;
  readonly providers?: PlainDict | undefined;
  readonly codes?: JobState | undefined;
}

export class StateSession {
  readonly #options: SessionOptions;
  #loader: Loader;
  #grains: Dict;
  #pillar: Dict;
  /** Return codes set by functions inside the run do not affect the job. */
  readonly #inner: JobState;
  #contexts = new Map<boolean, ModuleContext>();
  /** Loaders for states that choose a `provider`, by their choice. */
  #chosen = new Map<string, Loader>();
  #found = new Map<string, FoundFunction<'states'> | undefined>();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#loader = options.runtime.loader;
    this.#grains = options.runtime.grains();
    this.#pillar = options.pillar;
    const { state } = options;
    const { job, shown, signal, progress } = state;
    this.#inner = { ...(job ? { job } : {}), ...(shown ? { shown } : {}), signal, progress, retcode: 0 };
  }

  get opts(): Opts {
    return this.#options.opts;
  }
  get grains(): Dict {
    return this.#grains;
  }
  get pillar(): Dict {
    return this.#pillar;
  }
  get loader(): Loader {
    return this.#loader;
  }
  get log(): Runtime['log'] {
    return this.#options.runtime.log;
  }
  get signal(): AbortSignal {
    return this.#options.state.signal;
  }
  get test(): boolean {
    return isTruthy(this.opts['test'] ?? null);
  }
  /** The context of execution functions, under test or not. */
  context(test = this.test): ModuleContext {
    let context = this.#contexts.get(test);
    if (!context) {
      context = this.#createContext(test);
      this.#contexts.set(test, context);
    }
    return context;
  }

  /** A context for one state: as a user, with other modules for some names, or with its own return code. */
  contextFor({ test, runas, password, providers, codes }: ContextChoice): ModuleContext {
    const asked = (runas ?? null) !== null;
    if (!asked && !providers && !codes) return this.context(test);
    const made = this.#createContext(test, providers ? this.#loaderWith(providers) : this.#loader, codes);
    return asked ? asUser(made, runas!, password ?? null) : made;
  }

  /** A separate return code for calls whose code matters: parallel states do not write it. */
  codes(): JobState {
    return { ...this.#inner, retcode: 0 };
  }

  /** Other modules for some names, whether they fit this system or not (`provider` in a state). */
  #loaderWith(providers: PlainDict): Loader {
    const key = JSON.stringify(Object.entries(providers));
    let loader = this.#chosen.get(key);
    if (!loader) {
      const configured = this.opts['providers'];
      const before = configured !== undefined && isDict(configured) ? dictEntries(configured) : [];
      const all = Object.assign(newDict(before as [string, Value][]), providers);
      loader = this.#loader.fresh({ opts: () => ({ ...this.opts, providers: all }) });
      this.#chosen.set(key, loader);
    }
    return loader;
  }

  /** A state function by its full name; undefined when there is none that works here. */
  async find(full: string): Promise<FoundFunction<'states'> | undefined> {
    if (this.#found.has(full)) return this.#found.get(full);
    const found = await this.#loader.find('states', full);
    this.#found.set(full, found);
    return found;
  }

  /** Why a state function does not exist, in Salt's words. */
  missingReason(full: string): string {
    const module = full.split('.', 1)[0]!;
    const why = this.#loader.reason('states', module);
    return why === undefined ? notAvailable(full) : `'${module}' __virtual__ returned False: ${why}`;
  }

  /** An option that may also be in grains or pillar. */
  option(name: string): Value | undefined {
    const master = dictGet(this.#pillar, 'master');
    const places: (Dict | Opts | undefined)[] = [this.opts, this.#grains, asDict(master), this.#pillar];
    for (const place of places) {
      const value = place === undefined ? undefined : dictGet(place as Dict, name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** `reload_grains`, `reload_pillar`, `reload_modules`. */
  async reload(what: {
    readonly grains?: boolean;
    readonly pillar?: boolean;
    readonly modules?: boolean;
  }): Promise<void> {
    if (what.grains) this.#grains = await this.#options.gatherGrains();
    if (what.pillar) this.#pillar = await this.#options.gatherPillar();
    if (what.modules) await this.#reloadModules();
    this.#contexts.clear();
  }

  /** New software may make other extensions usable: availability is checked again. */
  async #reloadModules(): Promise<void> {
    this.#loader = this.#loader.fresh({ opts: () => this.opts, grains: () => this.#grains });
    this.#found.clear();
    this.#chosen.clear();
    if (this.opts['local'] !== true && this.#options.runtime.minion.hasMaster) {
      await this.#options.runtime.minion.reloadExtensions().catch((error: unknown) => {
        this.log.warn('The minion could not be told to reload its modules', { error: String(error) });
      });
    }
  }

  /** What renderers need, for callers that use one directly. */
  renderHost(): RenderHost {
    return renderHost(this.#loader, this.context());
  }

  #createContext(test: boolean, loader = this.#loader, codes = this.#inner): ModuleContext {
    const { runtime } = this.#options;
    const opts = test === this.test ? this.opts : { ...this.opts, test };
    return createContext(
      {
        ...runtime,
        loader,
        opts: () => opts,
        grains: () => this.#grains,
        pillar: () => this.#pillar,
        match: (expression, kind) =>
          matchesMinion({ id: runtime.id, opts, grains: this.#grains, pillar: this.#pillar }, expression, kind),
      },
      codes,
    );
  }
}

/** Every command runs as the user unless it says otherwise (`runas` in a state). */
function asUser(made: ModuleContext, runas: Value, password: Value): ModuleContext {
  const context = made as { -readonly [K in keyof ModuleContext]: ModuleContext[K] };
  const callWith = context.callWith.bind(context);
  context.callWith = (fun, args, kwargs) => {
    if (!fun.startsWith('cmd.') || (kwargs['runas'] ?? null) !== null) return callWith(fun, args, kwargs);
    const given: PlainDict = Object.assign(Object.create(null) as PlainDict, kwargs, { runas });
    if ((given['password'] ?? null) === null && password !== null) given['password'] = password;
    return callWith(fun, args, given);
  };
  return context;
}
