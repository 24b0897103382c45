// Cases recorded from real Salt (test/fixtures/state): how they are run here, and what is excluded from the comparison.
import { type Dict, newDict, type Value } from '../../base/codec/value.ts';
import type { StateRun } from '../../extend/sdk/index.ts';
import { asJson, YamlTreeMinion } from './testing.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A tree, what is done with it, and what Salt made of it. */
export interface RecordedCase {
  readonly name: string;
  readonly files: Record<string, string>;
  readonly mods?: string[];
  readonly envs?: string[];
  readonly opts?: Record<string, Value>;
  readonly pillar?: Record<string, Value>;
  readonly call?: { readonly exclude?: Value[]; readonly whitelist?: string };
  readonly exclude?: Value[];
  readonly expected: { readonly low: Json; readonly run: Json; readonly test: Json; readonly top?: Json };
}

const grains = newDict([
  ...Object.entries({ id: 'm1', host: 'm1', os: 'Debian', os_family: 'Debian', kernel: 'Linux', shell: '/bin/sh' }),
  ['roles', ['web', 'db']],
]);

export function minionOf(given: RecordedCase): YamlTreeMinion {
  const envs = given.envs ?? ['base'];
  const inEnv = (path: string): string =>
    path.includes('/') && envs.includes(path.split('/', 1)[0]!) ? path : `base/${path}`;
  return new YamlTreeMinion({
    files: Object.fromEntries(Object.entries(given.files).map(([path, text]) => [inEnv(path), text])),
    opts: { ...given.opts, file_roots: newDict(envs.map((env) => [env, []])) },
    grains: (given.opts?.['grains'] as Dict | undefined) ?? grains,
    pillar: newDict(Object.entries(given.pillar ?? {})),
  });
}

/** Times and the order of sets are excluded, as in the recorder. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map((error) => (typeof error === 'string' ? error.split('Traceback')[0] : error));
  return Object.fromEntries(
    Object.entries(value as Record<string, Record<string, unknown>>).map(([tag, result]) => [
      tag,
      Object.fromEntries(Object.entries(result).map(([key, item]) => [key, cleanField(key, item)])),
    ]),
  );
}

function cleanField(key: string, value: unknown): unknown {
  if (key === 'duration' || key === 'start_time') return true;
  if (key === 'changes' && Object.hasOwn(value as object, 'pid')) return { ...(value as object), pid: 0 };
  if (key !== 'comment' || typeof value !== 'string') return value;
  const failed = 'One or more requisite failed: ';
  if (value.startsWith(failed)) return failed + value.slice(failed.length).split(', ').sort().join(', ');
  return value.includes('Traceback') ? `${value.split('Traceback')[0]}...${value.trim().split('\n').at(-1)}` : value;
}

/** The results of a run, as the recorder wrote them. */
export async function resultsOf(given: RecordedCase, test: boolean): Promise<unknown> {
  const minion = minionOf(given);
  try {
    const run = await minion.open({
      opts: { test, ...(given.mods ? { saltenv: given.opts?.['saltenv'] ?? 'base' } : {}) },
    });
    const { exclude, whitelist } = given.call ?? {};
    const applied = given.mods
      ? await run.apply.sls(given.mods, { exclude: given.exclude ?? [] })
      : await run.apply.highstate({
          exclude: exclude ?? [],
          ...(whitelist ? { whitelist: whitelist.split(',') } : {}),
        });
    const done = cleaned(asJson(applied.return)) as Record<string, unknown>;
    if (given.mods && !Array.isArray(done)) done['__ok__'] = applied.retcode === 0;
    return done;
  } finally {
    minion.remove();
  }
}

/** Where Salt itself crashes, a run must at least end with a list or results. */
export const isException = (json: Json | undefined): boolean =>
  json !== null && typeof json === 'object' && 'exception' in json;

/** Low chunks or errors, as Salt lists either. */
export async function lowData(run: StateRun, mods?: readonly string[]): Promise<Value[]> {
  const low = await run.show.lowstate(mods);
  return low.kind === 'errors' ? low.errors : low.chunks;
}

/** The low data, or what is wrong with the tree. */
export async function lowOf(given: RecordedCase): Promise<unknown> {
  const minion = minionOf(given);
  try {
    const run = await minion.open({ opts: given.mods ? { saltenv: given.opts?.['saltenv'] ?? 'base' } : {} });
    return await lowData(run, given.mods).then(asJson, (error: unknown) => [String(error)]);
  } finally {
    minion.remove();
  }
}
