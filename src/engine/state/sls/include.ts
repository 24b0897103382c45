// Determines which SLS files an `include:` entry means.
import { pyStr } from '../../../base/codec/python/index.ts';
import { dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { shown } from '../data.ts';
import type { AvailableStates } from './available.ts';

/** Environment → SLS names that are being applied. */
export type Matches = ReadonlyMap<string, readonly string[]>;

/** The file that has the `include:`. */
export interface Including {
  readonly sls: string;
  readonly saltenv: string;
  /** `salt://web/init.sls`: the base for relative includes. */
  readonly source: string;
  readonly matches: Matches | undefined;
}

export interface IncludeTarget {
  readonly saltenv: string;
  readonly sls: string;
}

/** "In any of the applied environments". */
const anyEnvironment = '_xenv';

/** The targets of one entry, or the problem. */
export async function resolveInclude(
  entry: Value,
  from: Including,
  available: AvailableStates,
): Promise<IncludeTarget[] | string> {
  const [env, written] = entryParts(entry, from.saltenv);
  if (!(await available.has(env)) && !(await available.has('__env__'))) {
    return `Nonexistent saltenv '${env}' found in include of '${written}' within SLS '${from.saltenv}:${from.sls}'`;
  }
  const sls = absolute(written, from);
  if (sls === undefined) {
    return `Attempted relative include of '${written}' within SLS '${from.saltenv}:${from.sls}' goes beyond top level package `;
  }
  const envs = await environmentsOf(env, sls, from, available);
  // It must be in one environment, or else in the one that includes it.
  if (envs.length === 1 || envs.includes(from.saltenv)) {
    const saltenv = envs.length === 1 ? envs[0]! : from.saltenv;
    // Salt: globs are expanded in the including environment, whichever they are then taken from.
    const names = await available.matching(from.saltenv, sls);
    return (names.length > 0 ? names : [sls]).map((name) => ({ saltenv, sls: name }));
  }
  return envs.length === 0 ? unknown(env, sls, from) : ambiguous(env, sls, envs);
}

function entryParts(entry: Value, saltenv: string): [string, string] {
  if (!isDict(entry)) return [saltenv, shown(entry)];
  const [env, sls] = dictEntries(entry).at(-1) ?? [null, null];
  return [pyStr(env), pyStr(sls)];
}

/** `.sub` in the same folder, `..other` one folder up. An `init.sls` belongs to its folder. */
function absolute(written: string, { sls, source }: Including): string | undefined {
  const relative = /^(\.+)(.*)$/s.exec(written);
  if (!relative) return written;
  const [, dots = '', rest = ''] = relative;
  const parts = sls.split('.');
  if (source.endsWith('/init.sls')) parts.push('init');
  if (dots.length > parts.length) return undefined;
  return [...parts.slice(0, -dots.length), rest].join('.');
}

async function environmentsOf(
  env: string,
  sls: string,
  from: Including,
  available: AvailableStates,
): Promise<string[]> {
  if (env !== anyEnvironment) {
    const known = from.matches?.has(env) || (await available.matching(env, sls)).length > 0;
    return known ? [env] : [];
  }
  const found: string[] = [];
  for (const candidate of from.matches?.keys() ?? []) {
    if ((await available.matching(candidate, sls)).length > 0) found.push(candidate);
  }
  return found;
}

function unknown(env: string, sls: string, { matches }: Including): string {
  const envs = env === anyEnvironment ? [...(matches?.keys() ?? [])].join(', ') : env;
  return `Unknown include: Specified SLS ${env}: ${sls} is not available on the salt master in saltenv(s): ${envs} `;
}

function ambiguous(env: string, sls: string, envs: readonly string[]): string {
  return (
    `Ambiguous include: Specified SLS ${env}: ${sls} is available on the salt master in multiple available saltenvs: ` +
    envs.join(', ')
  );
}
