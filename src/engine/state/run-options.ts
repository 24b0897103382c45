// The options of a state run: the minion's, those of the call, and those that the master sets for all its minions.

import { readFile } from 'node:fs/promises';
import { isTruthy, pyStr } from '../../base/codec/python/index.ts';
import { type Dict, dictEntries, dictGet, isDict, newDict, type Value } from '../../base/codec/value.ts';
import { loadYaml } from '../../base/codec/yaml/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { MinionServices, StateRunRequest } from '../../extend/sdk/index.ts';

type Opts = Readonly<Record<string, Value>>;

/** Works without a master: files and pillar are the minion's own. */
const isLocal = (opts: Opts): boolean => opts['file_client'] === 'local' || opts['local'] === true;

/** The minion's options with those of the request over them. */
export async function callOptions(opts: Opts, request: StateRunRequest): Promise<Opts> {
  const given = request.opts ?? {};
  if (request.localConfig !== undefined) return { ...opts, ...(await localConfig(request.localConfig)), ...given };
  const saltenv = given['saltenv'] ?? null;
  if (saltenv !== null && isTruthy(opts['lock_saltenv'] ?? false) && pyStr(saltenv) !== opts['saltenv']) {
    throw new HaliteError('call.failed', 'lock_saltenv is enabled, saltenv cannot be changed');
  }
  return { ...opts, ...given };
}

async function localConfig(path: string): Promise<Opts> {
  try {
    const data = loadYaml(await readFile(path, 'utf8'));
    return data !== null && isDict(data)
      ? newDict(dictEntries(data).map(([key, value]) => [pyStr(key), value] as const))
      : {};
  } catch (error) {
    throw new HaliteError('config.syntax', `The options in ${path} cannot be read: ${String(error)}`, { cause: error });
  }
}

/** Taken from the master when it has them, else the minion's own apply. */
const kept = ['state_auto_order', 'top_file_merging_strategy', 'env_order', 'default_top'];
/** Taken from the master, with defaults when it does not send them. */
const taken: readonly (readonly [string, Value])[] = [
  ['failhard', false],
  ['state_top_saltenv', null],
  ['nodegroups', newDict()],
  ['jinja_env', newDict()],
  ['jinja_sls_env', newDict()],
  ['jinja_lstrip_blocks', false],
  ['jinja_trim_blocks', false],
];

/** The options of a run when the master does not send any. */
const unanswered: Opts = {
  renderer: 'jinja|yaml',
  failhard: false,
  state_top: 'salt://top.sls',
  nodegroups: newDict(),
};

/** Applies the master's options over those of the run. */
export async function withMasterOptions(opts: Opts, minion: MinionServices): Promise<Opts> {
  if (isLocal(opts) || !minion.hasMaster || isTruthy(opts['local_state'] ?? false)) return opts;
  const answer = await minion.masterRequest(newDict([['cmd', '_master_opts']]));
  if (!isDict(answer)) return { ...opts, ...unanswered };
  const merged: Record<string, Value> = { ...opts };
  for (const key of ['renderer', 'state_top', 'file_roots', ...kept]) {
    const value = dictGet(answer, key);
    if (value !== undefined && value !== null) merged[key] = value;
  }
  for (const [key, fallback] of taken) merged[key] = dictGet(answer, key) ?? fallback;
  for (const key of ['state_events', 'state_aggregate']) {
    merged[key] = isTruthy(opts[key] ?? false) ? opts[key]! : (dictGet(answer, key) ?? false);
  }
  // `state.top` names its own file and environment.
  for (const key of ['state_top', 'state_top_saltenv']) if (`${key}_given` in opts) merged[key] = opts[`${key}_given`]!;
  return merged;
}

/** The environments in which a minion searches, in order. */
export function environmentsOf(opts: Opts, served: readonly string[]): string[] {
  const order = opts['env_order'];
  const wanted = Array.isArray(order) ? [...new Set(order.map(pyStr))] : [];
  if (wanted.length > 0) return served.length > 0 ? wanted.filter((env) => served.includes(env)) : wanted;
  const roots = opts['file_roots'];
  const configured =
    roots !== undefined && isDict(roots as Dict) ? dictEntries(roots as Dict).map(([env]) => pyStr(env)) : [];
  return [...new Set(['base', ...configured, ...served])];
}

/** What `master_tops` assign to this minion; nothing without a master. */
export async function masterTops(
  opts: Opts,
  id: string,
  grains: Dict,
  minion: MinionServices,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (isLocal(opts) || !minion.hasMaster) return found;
  const load = newDict([
    ['cmd', '_master_tops'],
    ['id', id],
    // Masters read the grains from the options.
    ['opts', newDict([...Object.entries(opts), ['grains', grains]])],
  ]);
  const answer = await minion.masterRequest(load);
  if (!isDict(answer)) return found;
  for (const [saltenv, names] of dictEntries(answer)) {
    if (Array.isArray(names)) found.set(pyStr(saltenv), names.map(pyStr));
  }
  return found;
}
