// The kinds of extensions, the folders of users' extensions, and the type of the table of built-ins.
import type {
  Auth,
  Beacon,
  Engine,
  Executor,
  Grain,
  Module,
  Outputter,
  Pillar,
  ProxyType,
  Renderer,
  Returner,
  Roster,
  Runner,
  Sdb,
  Serializer,
  StateModule,
  Tops,
  Wheel,
} from '../sdk/index.ts';

/** The type of a loaded extension of each kind. */
export interface ExtensionKinds {
  modules: Module;
  states: StateModule;
  runners: Runner;
  wheel: Wheel;
  grains: Grain;
  outputters: Outputter;
  renderers: Renderer;
  pillars: Pillar;
  returners: Returner;
  tops: Tops;
  beacons: Beacon;
  sdb: Sdb;
  auth: Auth;
  rosters: Roster;
  engines: Engine;
  proxies: ProxyType;
  executors: Executor;
  serializers: Serializer;
}
export type Kind = keyof ExtensionKinds;
/** Kinds whose extensions are a set of callable functions. */
export type FunctionKind = 'modules' | 'states' | 'runners' | 'wheel';

export interface BuiltinEntry {
  readonly load: () => Promise<{ readonly default: unknown }>;
  /** The name its functions are called by when it differs from that of the file. */
  readonly virtualName?: string;
}
/** kind → file name → lazy import. */
export type BuiltinTable = Readonly<Record<string, Readonly<Record<string, BuiltinEntry>>>>;

interface UserPlaces {
  /** Folder below `extension_modules`. */
  readonly folder: string;
  /** Option that lists folders that contain files of this kind directly. */
  readonly option: string;
}

/** The folders of users' extensions, by Salt's names (`output` and `outputter_dirs` are intended). */
export const userPlaces: Readonly<Record<Kind, UserPlaces>> = {
  modules: { folder: 'modules', option: 'module_dirs' },
  states: { folder: 'states', option: 'states_dirs' },
  runners: { folder: 'runners', option: 'runner_dirs' },
  wheel: { folder: 'wheel', option: 'wheel_dirs' },
  grains: { folder: 'grains', option: 'grains_dirs' },
  outputters: { folder: 'output', option: 'outputter_dirs' },
  renderers: { folder: 'renderers', option: 'render_dirs' },
  pillars: { folder: 'pillar', option: 'pillar_dirs' },
  returners: { folder: 'returners', option: 'returner_dirs' },
  tops: { folder: 'tops', option: 'top_dirs' },
  beacons: { folder: 'beacons', option: 'beacons_dirs' },
  sdb: { folder: 'sdb', option: 'sdb_dirs' },
  auth: { folder: 'auth', option: 'auth_dirs' },
  rosters: { folder: 'roster', option: 'roster_dirs' },
  engines: { folder: 'engines', option: 'engines_dirs' },
  proxies: { folder: 'proxy', option: 'proxy_dirs' },
  executors: { folder: 'executors', option: 'executor_dirs' },
  serializers: { folder: 'serializers', option: 'serializers_dirs' },
};

export function hasFunctions(kind: Kind): kind is FunctionKind {
  return kind === 'modules' || kind === 'states' || kind === 'runners' || kind === 'wheel';
}

export function isKind(text: string): text is Kind {
  return Object.hasOwn(userPlaces, text);
}
