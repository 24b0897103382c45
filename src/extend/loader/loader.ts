// Finds extensions by name, imports them on first use, and excludes broken or unsuitable ones with their reason.
import { type Dict, fieldOf, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { nearest } from '../../base/util/nearest.ts';
import type { Availability, ExtensionLog, FunctionInfo, Grain } from '../sdk/index.ts';
import { builtin } from './builtin.gen.ts';
import { docstring } from './docstring.ts';
import {
  type BuiltinEntry,
  type BuiltinTable,
  type ExtensionKinds,
  type FunctionKind,
  hasFunctions,
  type Kind,
} from './kinds.ts';
import type { PythonCaller, PythonFinder, PythonSource } from './python.ts';
import { UserFiles } from './user-files.ts';
import type { UserFile } from './user-folders.ts';
import { importUserFile } from './user-import.ts';
import { isExtension, problemWith } from './validate.ts';

export interface LoaderOptions {
  readonly opts: () => Readonly<Record<string, Value>>;
  readonly grains: () => Dict;
  readonly log: ExtensionLog;
  /**
   * `import` in job processes and commands; `names` in daemons, which never run user code but must know that it exists.
   */
  readonly userCode: 'import' | 'names';
  /** What `halite/sdk` resolves to in user files. */
  readonly sdkUrl?: string;
  readonly builtin?: BuiltinTable;
  /** Runs users' Python; without it such files are refused by name. */
  readonly python?: PythonSource;
  /** Who calls functions while a Python file decides whether it can be used (`__virtual__`). */
  readonly pythonCaller?: () => PythonCaller;
}

export interface Loaded<K extends Kind> {
  /** The name it is called by: its virtual name, or that of its file. */
  readonly name: string;
  /** `built-in`, or the path of the user's file. */
  readonly origin: string;
  readonly extension: ExtensionKinds[K];
}

export interface FoundFunction<K extends FunctionKind> {
  /** As called: `test.ping`. */
  readonly fullName: string;
  /** The name in the module, which messages in Python's style print. */
  readonly name: string;
  readonly module: Loaded<K>;
  readonly fn: ExtensionKinds[K]['functions'][string];
}

/** One possible implementation of an extension name. */
interface Candidate {
  readonly origin: string;
  /** Its functions are added to those of the module that has the name already. */
  readonly partial?: boolean;
  load(): Promise<unknown>;
}

export class Loader implements PythonFinder {
  readonly #options: LoaderOptions;
  readonly #table: BuiltinTable;
  readonly #loaded = new Map<string, Promise<Loaded<Kind> | undefined>>();
  readonly #users: UserFiles;
  readonly #reasons = new Map<string, string>();

  constructor(options: LoaderOptions) {
    this.#options = options;
    this.#table = options.builtin ?? builtin;
    this.#users = new UserFiles(options);
  }

  /** A new loader without cached results: which extensions fit this system is determined again. */
  fresh(changes: Partial<LoaderOptions> = {}): Loader {
    return new Loader({ ...this.#options, ...changes });
  }

  /** The extension with a name; undefined when none works here (see `reason`). */
  async get<K extends Kind>(kind: K, name: string): Promise<Loaded<K> | undefined> {
    const key = `${kind} ${name}`;
    let loading = this.#loaded.get(key);
    if (!loading) {
      loading = this.#choose(kind, name);
      this.#loaded.set(key, loading);
    }
    return (await loading) as Loaded<K> | undefined;
  }

  /** All extensions of a kind that work here, by name. Imports them all. */
  async all<K extends Kind>(kind: K): Promise<Loaded<K>[]> {
    const found: Loaded<K>[] = [];
    for (const name of await this.names(kind)) {
      const item = await this.get(kind, name);
      if (item) found.push(item);
    }
    return found;
  }

  /**
   * Every collector of grains. Files of users come in addition to the built-in ones: a minion without `id` and `os`, because a
   * file has the name of a built-in one, is of no use.
   */
  async collectors(): Promise<Grain[]> {
    const own = this.#options.userCode === 'import' ? [...(await this.#users.files('grains'))] : [];
    own.sort((a, b) => (a.name < b.name ? -1 : 1));
    const candidates = [
      ...Object.values(this.#table['grains'] ?? {}).map(builtIn),
      ...own.map((file): Candidate => ({ origin: file.path, load: () => this.#import('grains', file, file.name) })),
    ];
    const found: Grain[] = [];
    for (const candidate of candidates) {
      const verdict = await this.#tryCandidate('grains', candidate);
      if (typeof verdict === 'object') found.push(verdict as Grain);
    }
    return found;
  }

  /** Callable names of a kind, whether they work here or not, sorted. */
  async names(kind: Kind): Promise<string[]> {
    const names = new Set((await this.#users.byName(kind)).keys());
    for (const [file, entry] of Object.entries(this.#table[kind] ?? {})) names.add(entry.virtualName ?? file);
    return [...names].sort();
  }

  /** A function by its full name (`test.ping`), also by an alias. */
  async find<K extends FunctionKind>(kind: K, fullName: string): Promise<FoundFunction<K> | undefined> {
    const dot = fullName.indexOf('.');
    if (dot <= 0) return undefined;
    const module = await this.get(kind, fullName.slice(0, dot));
    if (!module) return undefined;
    const asked = fullName.slice(dot + 1);
    const { functions } = module.extension;
    const aliases = 'aliases' in module.extension ? module.extension.aliases : undefined;
    const name = aliases && Object.hasOwn(aliases, asked) ? aliases[asked]! : asked;
    if (!Object.hasOwn(functions, name)) return undefined;
    return { fullName, name, module, fn: functions[name]! as ExtensionKinds[K]['functions'][string] };
  }

  /** Excluded extensions are checked again when they are requested: a program may have been installed meanwhile. */
  retryMissing(): void {
    for (const key of this.#reasons.keys()) this.#loaded.delete(key);
    this.#reasons.clear();
  }

  /** Why an extension of that name is not available: broken file, or not for this system. */
  reason(kind: Kind, name: string): string | undefined {
    return this.#reasons.get(`${kind} ${name}`);
  }

  /** Name and reason of all excluded extensions of a kind. */
  failures(kind: Kind): Map<string, string> {
    const found = new Map<string, string>();
    for (const [key, why] of this.#reasons) if (key.startsWith(`${kind} `)) found.set(key.slice(kind.length + 1), why);
    return found;
  }

  /** The message for a function that is not available, in Salt's words: scripts compare them. */
  async missingText(kind: FunctionKind, fullName: string): Promise<string> {
    const moduleName = fullName.split('.', 1)[0]!;
    const why = (await this.get(kind, moduleName)) ? undefined : this.reason(kind, moduleName);
    if (why !== undefined) return `'${moduleName}' __virtual__ returned False${why && `: ${why}`}`;
    return `'${fullName}' is not available.`;
  }

  /** The most similar name for one that does not exist; commands suggest it on stderr. */
  async nearestName(kind: FunctionKind, fullName: string): Promise<string | undefined> {
    const module = await this.get(kind, fullName.split('.', 1)[0]!);
    return nearest(fullName, await this.#suggestionsFor(kind, fullName, module));
  }

  /** True when a user's file has that name, or may have it; works without importing it. */
  async isUserCode(kind: Kind, name: string): Promise<boolean> {
    return (await this.#userFiles(kind, name)).length > 0;
  }

  async #suggestionsFor(
    kind: FunctionKind,
    fullName: string,
    module: Loaded<FunctionKind> | undefined,
  ): Promise<string[]> {
    if (module) return callableNames(module);
    const functionName = fullName.slice(fullName.indexOf('.') + 1);
    const near = nearest(fullName.split('.', 1)[0]!, await this.names(kind));
    const other = near ? await this.get(kind, near) : undefined;
    return other ? callableNames(other).filter((name) => name.endsWith(`.${functionName}`)) : [];
  }

  async #choose(kind: Kind, name: string): Promise<Loaded<Kind> | undefined> {
    if (this.#isSwitchedOff(kind, name)) return undefined;
    const why: string[] = [];
    const provider = kind === 'modules' ? await this.#provider(name) : undefined;
    if (provider) return { name, ...provider };
    let chosen: Loaded<Kind> | undefined;
    for (const candidate of await this.#candidates(kind, name)) {
      const verdict = await this.#tryCandidate(kind, candidate);
      if (typeof verdict === 'string') why.push(verdict);
      else if (verdict) {
        chosen = chosen ? merged(chosen, verdict) : { name, origin: candidate.origin, extension: verdict };
        if (!candidate.partial) break;
      }
    }
    if (chosen) return chosen;
    if (why.length > 0) this.#reasons.set(`${kind} ${name}`, why.join('; '));
    return undefined;
  }

  /** `disable_modules`, `whitelist_modules` and `disable_returners`. */
  #isSwitchedOff(kind: Kind, name: string): boolean {
    const { disable_modules, disable_returners, whitelist_modules: only } = this.#options.opts();
    const off = kind === 'modules' ? disable_modules : kind === 'returners' ? disable_returners : undefined;
    if (Array.isArray(off) && off.includes(name)) return true;
    if (kind !== 'modules') return false;
    return Array.isArray(only) && only.length > 0 && !only.includes(name);
  }

  /** The module that the option `providers` assigns to a name; it is not checked whether it fits this system. */
  async #provider(name: string): Promise<Pick<Loaded<Kind>, 'origin' | 'extension'> | undefined> {
    const { providers } = this.#options.opts();
    const wanted = fieldOf(providers, name);
    if (typeof wanted !== 'string') return undefined;
    const modules = this.#table['modules'] ?? {};
    const file = (await this.#users.byName('modules')).get(wanted)?.[0];
    const own = this.#options.userCode === 'import' && file;
    if (!own && !Object.hasOwn(modules, wanted)) return undefined;
    const extension: unknown = own
      ? await this.#import('modules', own, wanted)
      : (await modules[wanted]!.load()).default;
    return isExtension('modules', extension) ? { origin: own ? own.path : 'built-in', extension } : undefined;
  }

  async #candidates(kind: Kind, name: string): Promise<Candidate[]> {
    const found: Candidate[] = [];
    for (const file of this.#options.userCode === 'import' ? await this.#userFiles(kind, name) : []) {
      const partial = file.python !== undefined && hasFunctions(kind);
      found.push({ origin: file.path, partial, load: () => this.#import(kind, file, name) });
    }
    for (const [fileName, entry] of Object.entries(this.#table[kind] ?? {})) {
      if ((entry.virtualName ?? fileName) === name) found.push(builtIn(entry));
    }
    return found;
  }

  /** Files that may have the name. One that computes its name is asked only when nothing else has it. */
  async #userFiles(kind: Kind, name: string): Promise<readonly UserFile[]> {
    const files = (await this.#users.byName(kind)).get(name);
    if (files) return files;
    const known = Object.entries(this.#table[kind] ?? {}).some(([file, entry]) => (entry.virtualName ?? file) === name);
    return known ? [] : this.#users.dynamic(kind);
  }

  async #import(kind: Kind, file: UserFile, name: string): Promise<unknown> {
    if (!file.python) return importUserFile(kind, file, this.#options.sdkUrl);
    const { python, pythonCaller, opts, grains } = this.#options;
    const { importPythonFile } = await import('./python-import.ts');
    const caller = pythonCaller ?? (() => ({ opts: opts(), grains: grains() }));
    return importPythonFile({ kind, file, name, python, caller, finder: this });
  }

  /** The extension, or why it cannot be used; undefined when it has another name. Never throws: a broken file disables only itself. */
  async #tryCandidate(kind: Kind, candidate: Candidate): Promise<ExtensionKinds[Kind] | string | undefined> {
    try {
      const extension = await candidate.load();
      if (extension === undefined || typeof extension === 'string') return extension;
      if (!isExtension(kind, extension)) {
        return this.#refuse(kind, candidate, problemWith(kind, extension) ?? 'not an extension');
      }
      const available = 'available' in extension ? extension.available : undefined;
      const answer = available ? await available(this.#system()) : true;
      return answer === true ? extension : answer;
    } catch (error) {
      return this.#refuse(kind, candidate, messageOf(error));
    }
  }

  #refuse(kind: Kind, candidate: Candidate, problem: string): string {
    this.#options.log.error('extension disabled', { kind, origin: candidate.origin, problem });
    return problem;
  }

  #system(): Availability {
    return {
      grains: this.#options.grains(),
      opts: this.#options.opts(),
      callable: async (fullName) =>
        (await this.find('modules', fullName)) !== undefined ||
        (this.reason('modules', fullName.split('.', 1)[0]!) ?? (await this.missingText('modules', fullName))),
    };
  }

  async functionInfo(kind: FunctionKind, name: string): Promise<FunctionInfo | undefined> {
    const found = await this.find(kind, name);
    return found && { name, doc: docstring(found.fn, kind), params: found.fn.params };
  }

  async functionNames(kind: FunctionKind): Promise<string[]> {
    return (await this.all(kind)).flatMap(callableNames).sort();
  }

  pythonFiles(kind: Kind): Promise<ReadonlyMap<string, readonly UserFile[]>> {
    return this.#users.python(kind);
  }

  /** The bridge to Python, for renderers that need it. */
  get python(): PythonSource | undefined {
    return this.#options.python;
  }
}

const builtIn = (entry: BuiltinEntry): Candidate => ({
  origin: 'built-in',
  load: async () => (await entry.load()).default,
});

/** A module with functions of another one of its name: the first one that has a function counts. */
function merged(first: Loaded<Kind>, second: ExtensionKinds[Kind]): Loaded<Kind> {
  const { extension } = first;
  if (!('functions' in extension) || !('functions' in second)) return first;
  const functions = { ...second.functions, ...extension.functions };
  // A function of the first one hides an alias of the second.
  const aliases: Record<string, string> = Object.create(null);
  for (const [alias, target] of Object.entries(('aliases' in second ? second.aliases : undefined) ?? {}))
    if (!Object.hasOwn(extension.functions, alias)) aliases[alias] = target;
  const hooks = Object.fromEntries(
    Object.entries(second).filter(([key]) => /^mod[A-Z]/.test(key) && !Object.hasOwn(extension, key)),
  );
  return { ...first, extension: { ...extension, ...hooks, aliases, functions } as ExtensionKinds[Kind] };
}

/** Full names of a module's functions, including aliases, sorted. */
export function callableNames(module: Loaded<FunctionKind>): string[] {
  const aliases = 'aliases' in module.extension ? Object.keys(module.extension.aliases ?? {}) : [];
  const names = new Set([...Object.keys(module.extension.functions), ...aliases]);
  return [...names].map((name) => `${module.name}.${name}`).sort();
}
