// Finds extensions by name, imports them on first use, and excludes broken or unsuitable ones with their reason.
import { type Dict, fieldOf, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { nearest } from '../../base/util/nearest.ts';
import type { Availability, ExtensionLog } from '../sdk/index.ts';
import { builtin } from './builtin.gen.ts';
import type { BuiltinTable, ExtensionKinds, FunctionKind, Kind } from './kinds.ts';

import { findUserFiles, type UserFile, userFolders } from './user-folders.ts';
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
  load(): Promise<unknown>;
}

export class Loader {
  readonly #options: LoaderOptions;
  readonly #table: BuiltinTable;
  readonly #loaded = new Map<string, Promise<Loaded<Kind> | undefined>>();
  readonly #userFiles = new Map<Kind, Promise<UserFile[]>>();
  readonly #userNames = new Map<Kind, Promise<Map<string, UserFile>>>();
  readonly #reasons = new Map<string, string>();

  constructor(options: LoaderOptions) {
    this.#options = options;
    this.#table = options.builtin ?? builtin;
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

  /** Callable names of a kind, whether they work here or not, sorted. */
  async names(kind: Kind): Promise<string[]> {
    const names = new Set((await this.#userByName(kind)).keys());
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
    if (why !== undefined) return `'${moduleName}' __virtual__ returned False: ${why}`;
    return `'${fullName}' is not available.`;
  }

  /** The most similar name for one that does not exist; commands suggest it on stderr. */
  async nearestName(kind: FunctionKind, fullName: string): Promise<string | undefined> {
    const module = await this.get(kind, fullName.split('.', 1)[0]!);
    return nearest(fullName, await this.#suggestionsFor(kind, fullName, module));
  }

  /** True when a user's file has that name; works without importing it. */
  async isUserCode(kind: Kind, name: string): Promise<boolean> {
    return (await this.#userByName(kind)).has(name);
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
    for (const candidate of await this.#candidates(kind, name)) {
      const verdict = await this.#tryCandidate(kind, candidate);
      if (typeof verdict !== 'string') return { name, origin: candidate.origin, extension: verdict };
      why.push(verdict);
    }
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
    const file = (await this.#userByName('modules')).get(wanted);
    const own = this.#options.userCode === 'import' && file;
    if (!own && !Object.hasOwn(modules, wanted)) return undefined;
    const extension: unknown = own
      ? await importUserFile('modules', own, this.#options.sdkUrl)
      : (await modules[wanted]!.load()).default;
    return isExtension('modules', extension) ? { origin: own ? own.path : 'built-in', extension } : undefined;
  }

  async #candidates(kind: Kind, name: string): Promise<Candidate[]> {
    const found: Candidate[] = [];
    const file = this.#options.userCode === 'import' ? (await this.#userByName(kind)).get(name) : undefined;
    if (file) found.push({ origin: file.path, load: () => importUserFile(kind, file, this.#options.sdkUrl) });
    for (const [fileName, entry] of Object.entries(this.#table[kind] ?? {})) {
      if ((entry.virtualName ?? fileName) === name) {
        found.push({ origin: 'built-in', load: async () => (await entry.load()).default });
      }
    }
    return found;
  }

  /** The extension, or why it cannot be used. Never throws: a broken file disables only itself. */
  async #tryCandidate(kind: Kind, candidate: Candidate): Promise<ExtensionKinds[Kind] | string> {
    try {
      const extension = await candidate.load();
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

  #files(kind: Kind): Promise<UserFile[]> {
    let files = this.#userFiles.get(kind);
    if (!files) {
      files = findUserFiles(userFolders(this.#options.opts(), kind));
      this.#userFiles.set(kind, files);
    }
    return files;
  }

  #userByName(kind: Kind): Promise<Map<string, UserFile>> {
    let names = this.#userNames.get(kind);
    if (!names) {
      names = this.#readUserNames(kind);
      this.#userNames.set(kind, names);
    }
    return names;
  }

  /** Users' files by the names they provide; a virtual name is known only after the import. */
  async #readUserNames(kind: Kind): Promise<Map<string, UserFile>> {
    const names = new Map<string, UserFile>();
    for (const file of await this.#files(kind)) {
      names.set(file.name, file);
      if (this.#options.userCode !== 'import') continue;
      const extension = await importUserFile(kind, file, this.#options.sdkUrl).catch(() => undefined);
      const virtual = (extension as { virtualName?: unknown } | undefined)?.virtualName;
      if (typeof virtual !== 'string' || virtual === file.name) continue;
      names.delete(file.name);
      names.set(virtual, file);
    }
    return names;
  }
}

/** Full names of a module's functions, including aliases, sorted. */
export function callableNames(module: Loaded<FunctionKind>): string[] {
  const aliases = 'aliases' in module.extension ? Object.keys(module.extension.aliases ?? {}) : [];
  const names = new Set([...Object.keys(module.extension.functions), ...aliases]);
  return [...names].map((name) => `${module.name}.${name}`).sort();
}
