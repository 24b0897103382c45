// The rule about messages and jobs: what it allows, and each kind of violation planted and reported.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findJobFieldBreaches } from './job-fields.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-job-fields-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function found(path: string, text: string): string[] {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return findJobFieldBreaches(root);
}

describe('messages and jobs', () => {
  it('are read as in the repository', () => {
    expect(findJobFieldBreaches(fileURLToPath(new URL('../..', import.meta.url)))).toEqual([]);
  });

  it.each([
    "const tgt = load['tgt_x'] as string | string[];",
    "const id = dictGet(load, 'id') as string;",
    "const data = dictGet(of(load), 'data')! as Dict;",
    'const all = unpack(bytes, { raw: true }) as PlainDict;',
    'const { path } = load as { path: string };',
    'const job = data as unknown as RunningJob;',
  ])('are not cast: %s', (line) => {
    expect(found('src/master/planted.ts', `${line}\n`)).toEqual([
      'src/master/planted.ts:1: a cast of what a message holds; read it with protocol/wire/messages',
    ]);
  });

  it.each([
    "const jid = dictGet(job, 'jid');",
    "const fun = String(dictGet(of(job), 'fun') ?? '');",
    "if (load['retcode'] === 0) return;",
    "const names = found()?.['tgt'];",
  ])('have only the fields of their types: %s', (line) => {
    expect(found('src/minion/jobs/planted.ts', `\n${line}\n`)).toEqual([
      'src/minion/jobs/planted.ts:2: a field of a job read from a map; read the map once into Job or JobReturn',
    ]);
  });

  it.each([
    ["const names = ['a', 'b'] as const;", 'src/master/planted.ts'],
    ["fields['jid'] = job.jid;", 'src/master/planted.ts'],
    ["const names = opts.raw['return'];", 'src/master/planted.ts'],
    ["type Code = JobReturn['retcode'];", 'src/master/planted.ts'],
    ["// dictGet(job, 'jid') was here.", 'src/master/planted.ts'],
    ["const jid = dictGet(load, 'jid');", 'src/protocol/wire/messages/planted.ts'],
    ["const jid = dictGet(load, 'jid') as string;", 'src/master/planted.test.ts'],
  ])('may be written so: %s in %s', (line, path) => {
    expect(found(path, `${line}\n`)).toEqual([]);
  });
});
