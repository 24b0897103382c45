// Functions answer as Salt 3006.27 did when the same calls were recorded.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dictOf, HaliteError, messageOf, newDict, type PlainDict, type Value } from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { type TestContext, testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Case {
  readonly fun: string;
  readonly args: Value[];
  readonly kwargs: PlainDict;
  readonly ret: Value;
}

const fixture = new URL('../../../test/fixtures/modules/golden-3006.27.json', import.meta.url);
const recorded = loadJson(readFileSync(fixture, 'utf8')) as unknown as {
  pillar: PlainDict;
  pure: Case[];
  files: Case[];
};

function exceptionName(error: unknown): string {
  if (error instanceof HaliteError)
    return error.code === 'call.failed' ? 'CommandExecutionError' : 'SaltInvocationError';
  return error instanceof Error ? error.name : 'unknown';
}

async function call(ctx: TestContext, { fun, args, kwargs }: Case): Promise<Value> {
  try {
    return await ctx.callWith(fun, args, kwargs);
  } catch (error) {
    return newDict([
      ['__exc__', exceptionName(error)],
      ['msg', messageOf(error)],
    ]);
  }
}

const shown = (value: Value): string => dumpJson(value, { sortKeys: true, ensureAscii: false, indent: 1 });
const title = (item: Case): string => `${item.fun} ${dumpJson(item.args)} ${dumpJson(item.kwargs)}`.slice(0, 120);
/** Deliberate differences of texts: the message for a missing function cannot name Python's function. */
const ownWords = new Set(['test.try']);

const opts: PlainDict = newDict([
  ['id', 'testminion'],
  ['hash_type', 'sha256'],
  ['pillar_merge_lists', false],
  ['test', false],
]);
const grains = dictOf([
  ['os', 'Debian'],
  ['os_family', 'Debian'],
  ['osarch', 'amd64'],
  ['id', 'testminion'],
]);
const byGlob = async (expr: string): Promise<boolean> =>
  expr === '*' || /^testminion/.test(expr.replace('*', 'minion'));

describe('recorded answers', () => {
  const ctx = testContext({ opts, grains, pillar: recorded.pillar, match: byGlob });
  for (const item of recorded.pure.filter(({ fun }) => !ownWords.has(fun))) {
    it(title(item), async () => {
      expect(shown(await call(ctx, item))).toBe(shown(item.ret));
    });
  }
});

/** The files the recorded calls worked on. */
function prepare(folder: string): void {
  const at = (name: string): string => join(folder, name);
  const write = (name: string, text: string): void => writeFileSync(at(name), text);
  mkdirSync(at('d/sub/deep'), { recursive: true });
  write('a.txt', 'one\ntwo\nthree\n');
  write('nonl.txt', 'no newline');
  write('empty.txt', '');
  write('bin.dat', 'x\0y');
  symlinkSync('a.txt', at('lnk'));
  symlinkSync('nowhere', at('broken'));
  symlinkSync('d', at('dlink'));
  write('conf', '# comment\nSetting = 1\n  indented = 2\nSetting = 3\nhosts: files\nend\n');
  write('block', 'pre\n#-- start managed zone --\nold\n#-- end managed zone --\npost\n');
  write('crlf', 'a\r\nb\r\n');
  for (const number of [2, 3, 4, 5, 6, 7, 8, 9]) copyFileSync(at('conf'), at(`conf${number}`));
  for (const number of [2, 3, 4]) copyFileSync(at('block'), at(`block${number}`));
  for (const number of [1, 2, 3]) write(`d/f${number}.log`, `${number}\n`);
  write('d/sub/deep/x.bak', 'deep\n');
  write('d/big', '\0'.repeat(20 * 1024));
  chmodSync(at('d/f1.log'), 0o640);
  execFileSync('mkfifo', [at('pipe')]);
  utimesSync(at('d/f3.log'), 1577836800, 1577836800);
  const numbers = Array.from({ length: 300 }, (_, index) => `${index + 1}\n`).join('');
  write('many', numbers);
  write('many2', numbers);
}

describe('recorded answers about files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'halite-golden-'));
  const ctx = testContext({ opts: { ...opts, cachedir: join(folder, 'cache') }, grains });
  beforeAll(() => prepare(folder));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const here = (value: Value): Value => loadJson(dumpJson(value).replaceAll('$T', folder));
  for (const item of recorded.files) {
    it(title(item), async () => {
      const local = { ...item, args: here(item.args) as Value[], kwargs: here(item.kwargs) as PlainDict };
      expect(shown(await call(ctx, local))).toBe(shown(here(item.ret)));
    });
  }
});
