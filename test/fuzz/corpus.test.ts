// Everything the fuzzers keep, without counting: corpora reach most of the code, regressions are what was wrong once.
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCorpus, readRegressions, toBytes } from './engine/files.ts';
import type { FuzzTarget } from './engine/target.ts';

const folder = import.meta.dirname;
const names = readdirSync(`${folder}/targets`).map((file) => basename(file, '.ts'));

it('every corpus and every regression belongs to a target', () => {
  const kept = ['corpus', 'regressions'].flatMap((kind) => readdirSync(`${folder}/${kind}`));
  expect(kept.map((file) => basename(file, '.json')).filter((name) => !names.includes(name))).toEqual([]);
});

describe.each(names)('%s', (name) => {
  const load = async (): Promise<FuzzTarget> =>
    ((await import(`./targets/${name}.ts`)) as { default: FuzzTarget }).default;

  it('takes every input of its corpus', async () => {
    const target = await load();
    for (const input of [new Uint8Array(), ...readCorpus(folder, name)]) await target.run(input);
  });

  it.each(readRegressions(folder, name))('never again: $was', async ({ input }) => {
    await (await load()).run(toBytes(input));
  });
});
