// The options of a compilation: the master's, adapted to the minion.
import { asList, type Dict, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import type { PillarRootsMap } from './roots.ts';
import type { PillarRequest } from './types.ts';

export interface PillarOpts {
  /** As templates and functions see them. */
  readonly opts: PlainDict;
  readonly roots: PillarRootsMap;
  readonly saltenv: string | undefined;
  readonly pillarenv: string | undefined;
}

const anyEnvironment = '__env__';

export function pillarOpts(
  given: Readonly<Record<string, Value>>,
  request: PillarRequest,
  log: ExtensionLog,
): PillarOpts {
  const opts = newDict(Object.entries(given));
  if (request.pillarenv === undefined && given['pillarenv_from_saltenv'] === true)
    opts['pillarenv'] = request.saltenv ?? null;
  const saltenv = request.saltenv ?? nameOf(given['saltenv']);
  const pillarenv = request.pillarenv ?? nameOf(opts['pillarenv']);
  opts['file_client'] = 'local';
  opts['grains'] = request.grains;
  opts['saltenv'] = saltenv ?? null;
  opts['pillarenv'] = pillarenv ?? null;
  opts['id'] = request.minionId;
  opts['minion_id'] = request.minionId;
  opts['state_top'] = topAddress(String(given['state_top'] || 'top.sls'));
  const ext = onDemand(request.ext, given, log);
  if (ext) opts['ext_pillar'] = Array.isArray(given['ext_pillar']) ? [...given['ext_pillar'], ext] : [ext];
  const roots = rootsOf(given['pillar_roots'], pillarenv || saltenv || 'base');
  opts['pillar_roots'] = newDict(Object.entries(roots).map(([env, folders]): [string, Value] => [env, [...folders]]));
  return { opts, roots, saltenv, pillarenv };
}

/** An environment may be named by a number. */
function nameOf(environment: Value | undefined): string | undefined {
  return environment === null || environment === undefined ? undefined : String(environment);
}

function topAddress(top: string): string {
  return top.startsWith('salt://') ? top : `salt://${top.replace(/^\//, '')}`;
}

/** Folders by environment; `__env__` is used for the requested one, unless that is listed by name. */
export function rootsOf(value: Value | undefined, wanted: string): PillarRootsMap {
  const roots: Record<string, readonly string[]> = Object.create(null);
  let any: readonly string[] | undefined;
  for (const [env, folders] of value !== undefined && isDict(value) ? dictEntries(value) : []) {
    const list = (asList(folders) ?? []).map(String);
    if (env === anyEnvironment) any = list;
    else roots[String(env)] = list;
  }
  if (any && !Object.hasOwn(roots, wanted) && isFolderName(wanted)) {
    roots[wanted] = any.map((folder) => folder.replaceAll(anyEnvironment, () => wanted));
  }
  return roots;
}

/** The name comes from a minion and becomes part of a path. */
function isFolderName(name: string): boolean {
  return !name.startsWith('/') && !name.includes('\0') && !name.split('/').includes('..');
}

/** An external pillar that a minion requests must be on the list of allowed ones. */
function onDemand(ext: Value | undefined, opts: Readonly<Record<string, Value>>, log: ExtensionLog): Dict | undefined {
  if (ext === undefined || ext === null || ext === '' || ext === false) return undefined;
  if (!isDict(ext)) {
    log.error('On-demand pillar is not formatted as a dictionary');
    return undefined;
  }
  const listed = opts['on_demand_ext_pillar'];
  const allowed = asList(listed) ?? [];
  const refused = dictEntries(ext)
    .map(([name]) => name)
    .filter((name) => !allowed.includes(name));
  if (refused.length === 0) return ext;
  log.error(
    `The following ext_pillar modules are not allowed for on-demand pillar data: ${refused.map(String).sort().join(', ')}`,
    { allowed: allowed.map(String).join(', '), option: 'on_demand_ext_pillar' },
  );
  return undefined;
}
