// The functions of `cp` on a minion without a master, compared with results and files of Salt 3006.27 (record-cp.py).
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { testContext } from 'halite/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import cp from '../../../ext/modules/cp/index.ts';
import { serverOpts, temporaryFolder, testLog } from '../testing.ts';
import { createFileClient } from './client.ts';

interface Recorded {
  readonly files: Record<string, string>;
  readonly folders: string[];
  readonly calls: [string, Value[], Record<string, Value>][];
  readonly answers: ({ return: Value; retcode: number } | { error: string })[];
  readonly left: Record<string, [mode: string, content: string]>;
}

const recorded = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/files/cp.json', import.meta.url), 'utf8'),
) as Recorded;

const folder = temporaryFolder();
const root = folder.path;
const here = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('<R>', root)) as T;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(root, '<R>'));
const umask = process.umask();

beforeAll(() => {
  process.umask(0o022);
  for (const name of recorded.folders) mkdirSync(join(root, name), { recursive: true });
  for (const [name, text] of Object.entries(recorded.files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  chmodSync(join(root, 'base/run.sh'), 0o755);
});
afterAll(() => {
  process.umask(umask);
  folder.remove();
});

const context = (() => {
  const roots = { base: [join(root, 'base')], dev: [join(root, 'dev')] };
  const opts = newDict(
    Object.entries({ ...serverOpts(root, { file_roots: roots }), file_client: 'local', saltenv: null }) as [
      string,
      Value,
    ][],
  );
  const bare = testContext({ modules: [cp], opts });
  const files = createFileClient({ opts, minion: bare.minion, log: testLog() });
  return testContext({ modules: [cp], opts, files });
})();

it.each(recorded.calls.map((call, at) => ({ call, at, shown: JSON.stringify(call).slice(0, 90) })))(
  '$at: $shown',
  async ({ call, at }) => {
    const [name, args, kwargs] = here(call);
    const expected = recorded.answers[at]!;
    context.state.retcode = 0;
    const run = context.callWith(`cp.${name}`, args, newDict(Object.entries(kwargs)) as PlainDict);
    if ('error' in expected) {
      await expect(run).rejects.toThrow(/./);
      return;
    }
    const sorted = (value: unknown): unknown => (name === 'envs' ? [...(value as string[])].sort() : value);
    expect(sorted(plain(await run))).toEqual(sorted(expected.return));
    expect(context.state.retcode).toBe(expected.retcode);
  },
);

it('leaves the same files with the same modes', () => {
  const left: Record<string, [string, string]> = {};
  for (const part of ['cache/files', 'dest']) {
    for (const entry of readdirSync(join(root, part), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const mode = `0o${(statSync(path).mode & 0o7777).toString(8)}`;
      left[relative(root, path)] = [mode, entry.isDirectory() ? '' : readFileSync(path, 'utf8')];
    }
  }
  // Salt writes empty files in another way, which gives them another mode.
  expect(left).toEqual({ ...recorded.left, 'cache/files/base/empty.txt': ['0o644', ''] });
});
