// `gitfs_remotes`, `gitfs_saltenv` and the other `gitfs_*` options as typed settings per remote.
import { createHash } from 'node:crypto';
import { asList, asNumber, type Dict, dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { isEnvironmentName } from '../paths.ts';

export type RefType = 'branch' | 'tag' | 'sha';

export interface EnvironmentOverrides {
  readonly ref?: string;
  readonly root?: string;
  readonly mountpoint?: string;
}

export interface RemoteAccess {
  readonly user: string;
  readonly password: string;
  readonly privkey: string;
  /** Passwords may be sent over unencrypted connections. */
  readonly insecure: boolean;
  readonly sslVerify: boolean;
}

export interface RemoteConfig {
  /** As written in the configuration: the name in messages and in `fileserver.update remotes=`. */
  readonly id: string;
  readonly url: string;
  readonly name: string | undefined;
  /** Folder below the cache for this remote only. */
  readonly folder: string;
  readonly base: string;
  readonly fallback: string;
  readonly root: string;
  readonly mountpoint: string;
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
  readonly disableMapping: boolean;
  readonly refTypes: readonly RefType[];
  readonly refspecs: readonly string[];
  /** Serves every environment from this reference. */
  readonly allEnvironments: string | undefined;
  readonly environments: ReadonlyMap<string, EnvironmentOverrides>;
  readonly globalEnvironments: ReadonlyMap<string, EnvironmentOverrides>;
  readonly updateSeconds: number;
  readonly access: RemoteAccess;
}

type Opts = Readonly<Record<string, unknown>>;

const perRemote = new Set([
  ...['base', 'fallback', 'mountpoint', 'root', 'ssl_verify', 'saltenv_whitelist', 'saltenv_blacklist', 'refspecs'],
  ...['disable_saltenv_mapping', 'ref_types', 'update_interval', 'all_saltenvs', 'name', 'saltenv'],
  ...['user', 'password', 'pubkey', 'privkey', 'passphrase', 'insecure_auth'],
]);
const refTypes: readonly string[] = ['branch', 'tag', 'sha'];
const defaultRefspecs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];

/** Every remote of `gitfs_remotes`. Throws config.value with the problem. */
export function readRemotes(opts: Opts): RemoteConfig[] {
  const listed = opts['gitfs_remotes'];
  const remotes = (asList(listed) ?? []).flatMap((item: Value) => readItem(item, opts));
  const folders = new Map<string, string>();
  for (const { folder, id } of remotes) {
    const other = folders.get(folder);
    if (other !== undefined) {
      throw wrong(`the remotes ${other} and ${id} share a cache folder; give one of them a name`);
    }
    folders.set(folder, id);
  }
  return remotes;
}

function readItem(item: Value, opts: Opts): RemoteConfig[] {
  if (typeof item === 'string') return [remote(item, new Map(), opts)];
  if (!isDict(item)) throw wrong(`a remote is text or text with settings below it, not ${JSON.stringify(item)}`);
  return dictEntries(item).map(([id, settings]) => {
    if (typeof id !== 'string') throw wrong(`${String(id)} is not the address of a remote; put it in quotes`);
    const own = repack(settings);
    if (own.size === 0) throw wrong(`${id} has a colon behind it and no settings below; remove the colon`);
    for (const key of own.keys()) {
      if (!perRemote.has(key)) throw wrong(`${id}: no setting of a remote is called ${key}`);
    }
    return remote(id, own, opts);
  });
}

function remote(id: string, own: ReadonlyMap<string, Value>, opts: Opts): RemoteConfig {
  // A URL that begins with a hyphen would be an option for git, and one with `::` a program to run.
  if (id === '' || id.startsWith('-') || /^[\w.+-]+::/.test(id) || /[\0\n\r]/.test(id)) {
    throw wrong(`${JSON.stringify(id)} is not the address of a repository`);
  }
  const get = (key: string): unknown => own.get(key) ?? opts[`gitfs_${key}`];
  const name = own.has('name') ? text(own.get('name')) : undefined;
  if (name !== undefined && (!isEnvironmentName(name) || name.includes('/'))) {
    throw wrong(`${id}: the name ${JSON.stringify(name)} cannot be a folder`);
  }
  const config: RemoteConfig = {
    id,
    url: id,
    name,
    folder: name ?? createHash('sha256').update(id).digest('hex').slice(0, 32),
    base: baseOf(own, opts),
    fallback: text(get('fallback')),
    root: folderText(get('root')),
    mountpoint: mountText(get('mountpoint')),
    whitelist: texts(get('saltenv_whitelist')),
    blacklist: texts(get('saltenv_blacklist')),
    disableMapping: get('disable_saltenv_mapping') === true,
    refTypes: readRefTypes(id, get('ref_types')),
    refspecs: texts(get('refspecs') ?? defaultRefspecs),
    allEnvironments: own.has('all_saltenvs') ? text(own.get('all_saltenvs')) : undefined,
    environments: overrides(own.get('saltenv')),
    globalEnvironments: overrides(opts['gitfs_saltenv']),
    updateSeconds: asNumber(get('update_interval')) ?? 60,
    access: readAccess(id, get),
  };
  return config;
}

/** A reference given for the environment `base` takes precedence over the setting `base`. */
function baseOf(own: ReadonlyMap<string, Value>, opts: Opts): string {
  const mapped = overrides(own.get('saltenv')).get('base')?.ref;
  return mapped ?? (text(own.get('base') ?? opts['gitfs_base']) || 'master');
}

function readAccess(id: string, get: (key: string) => unknown): RemoteAccess {
  const access: RemoteAccess = {
    user: text(get('user')),
    password: text(get('password')),
    privkey: text(get('privkey')),
    insecure: get('insecure_auth') === true,
    sslVerify: get('ssl_verify') !== false,
  };
  if (access.password && /^http:/i.test(id) && !access.insecure) {
    throw wrong(`${id}: a password would be sent in the clear; use https, or set insecure_auth`);
  }
  if (text(get('passphrase'))) {
    throw wrong(`${id}: keys with a passphrase are not supported; use a key without one, or an ssh agent`);
  }
  return access;
}

function readRefTypes(id: string, value: unknown): RefType[] {
  const names = texts(value ?? refTypes).map((name) => name.toLowerCase());
  const unknown = names.filter((name) => !refTypes.includes(name));
  if (unknown.length > 0) throw wrong(`${id}: ref_types can be ${refTypes.join(', ')}, not ${unknown.join(', ')}`);
  return names as RefType[];
}

/** `[{dev: [{ref: x}, {root: y}]}]` by environment. */
function overrides(value: unknown): Map<string, EnvironmentOverrides> {
  const found = new Map<string, EnvironmentOverrides>();
  for (const [name, settings] of repack(value as Value | undefined)) {
    const own = repack(settings);
    found.set(name, {
      ...(own.has('ref') ? { ref: text(own.get('ref')) } : {}),
      ...(own.has('root') ? { root: folderText(own.get('root')) } : {}),
      ...(own.has('mountpoint') ? { mountpoint: mountText(own.get('mountpoint')) } : {}),
    });
  }
  return found;
}

/** A list of one-key maps, or a map, as a map. */
function repack(value: Value | undefined): Map<string, Value> {
  const found = new Map<string, Value>();
  const take = (dict: Dict): void => {
    for (const [key, item] of dictEntries(dict)) found.set(String(key), item);
  };
  if (Array.isArray(value)) for (const item of value) isDict(item) ? take(item) : found.set(String(item), null);
  else if (value !== undefined && isDict(value)) take(value);
  return found;
}

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const folderText = (value: unknown): string => text(value).replace(/^\/+|\/+$/g, '');
const mountText = (value: unknown): string => folderText(text(value).replace(/^[^:/]+:\/\//, ''));

function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  const one = text(value);
  return one === '' ? [] : one.split(',').map((item) => item.trim());
}

function wrong(what: string): HaliteError {
  return new HaliteError('config.value', `gitfs_remotes: ${what}`);
}
