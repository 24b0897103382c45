// Low data, results and errors of many state trees, compared with what Salt 3006.27 made of them (test/fixtures/state).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Dict, newDict, type Value } from '../../base/codec/value.ts';
import { asJson, TestMinion } from './testing.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface Case {
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

const folder = new URL('../../../test/fixtures/state/', import.meta.url);
const read = (name: string): Case[] =>
  readFileSync(new URL(name, folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Case);

const grains = newDict([
  ...Object.entries({ id: 'm1', host: 'm1', os: 'Debian', os_family: 'Debian', kernel: 'Linux', shell: '/bin/sh' }),
  ['roles', ['web', 'db']],
]);

function minionOf(given: Case): TestMinion {
  const envs = given.envs ?? ['base'];
  const inEnv = (path: string): string =>
    path.includes('/') && envs.includes(path.split('/', 1)[0]!) ? path : `base/${path}`;
  return new TestMinion({
    files: Object.fromEntries(Object.entries(given.files).map(([path, text]) => [inEnv(path), text])),
    opts: { ...given.opts, file_roots: newDict(envs.map((env) => [env, []])) },
    grains: (given.opts?.['grains'] as Dict | undefined) ?? grains,
    pillar: newDict(Object.entries(given.pillar ?? {})),
  });
}

/** Times and the order of sets are left out, as the recorder did. */
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

async function apply(given: Case, test: boolean): Promise<unknown> {
  const minion = minionOf(given);
  try {
    const run = await minion.open({
      opts: { test, ...(given.mods ? { saltenv: given.opts?.['saltenv'] ?? 'base' } : {}) },
    });
    const { exclude, whitelist } = given.call ?? {};
    const applied = given.mods
      ? await run.sls(given.mods, { exclude: given.exclude ?? [] })
      : await run.highstate({ exclude: exclude ?? [], ...(whitelist ? { whitelist: whitelist.split(',') } : {}) });
    const done = cleaned(asJson(applied.return)) as Record<string, unknown>;
    if (given.mods && !Array.isArray(done)) done['__ok__'] = applied.retcode === 0;
    return done;
  } finally {
    minion.remove();
  }
}

/** Where Salt itself breaks, a run must at least come to an end with a list or results. */
const isException = (json: Json | undefined): boolean =>
  json !== null && typeof json === 'object' && 'exception' in json;

function check(given: Case): void {
  const { low, run, test, top } = given.expected;
  it(`${given.name}: low data`, async () => {
    const minion = minionOf(given);
    const opened = await minion.open({ opts: given.mods ? { saltenv: given.opts?.['saltenv'] ?? 'base' } : {} });
    const found = opened.lowFor(given.mods).then(asJson, (error: unknown) => [String(error)]);
    if (isException(low)) expect(await found).toBeInstanceOf(Array);
    else expect(await found).toEqual(low);
    minion.remove();
  });
  it(`${given.name}: run`, async () => {
    const done = await apply(given, false);
    if (isException(run)) return expect(done).toBeInstanceOf(Object);
    expect(done).toEqual(run);
    expect(Object.keys(done as object)).toEqual(Object.keys(run as object));
  });
  it(`${given.name}: test=True`, async () => {
    const done = await apply(given, true);
    if (isException(test)) expect(done).toBeInstanceOf(Object);
    else expect(done).toEqual(test);
  });
  if (top === undefined || isException(top)) return;
  it(`${given.name}: top`, async () => {
    const minion = minionOf(given);
    expect(asJson((await (await minion.open()).showTop()).return)).toEqual(top);
    minion.remove();
  });
}

describe('trees by hand', () => {
  for (const given of read('cases.jsonl')) check(given);
});

describe('random trees', () => {
  for (const given of read('random.jsonl')) check(given);
});
