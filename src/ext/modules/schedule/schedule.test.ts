// `schedule.*` answers as Salt 3006.27 did when the same calls were recorded, one after the other.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { type TestContext, testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import schedule from './index.ts';

interface Case {
  readonly fun: string;
  readonly args: Value[];
  readonly kwargs: PlainDict;
  readonly ret: Value;
}
const fixture = new URL('../../../../test/fixtures/modules/schedule-3006.27.json', import.meta.url);
const recorded = loadJson(readFileSync(fixture, 'utf8')) as unknown as Case[];
/** Cases in which Salt loses an earlier result. */
const better: Readonly<Record<string, string>> = { 'schedule.skip_job ["j1",""]': 'Job time is required.' };

let root: string;
let ctx: TestContext;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-schedule-'));
  mkdirSync(join(root, 'conf'));
  const opts = newDict([
    ['conf_file', join(root, 'conf', 'minion')],
    ['default_include', 'minion.d/*.conf'],
  ] as [string, Value][]);
  ctx = testContext({ modules: [schedule], opts });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const plain = (value: Value): unknown => JSON.parse(JSON.stringify(value));

describe('recorded answers, in order', () => {
  for (const [index, { fun, args, kwargs, ret }] of recorded.entries()) {
    const call = `${fun} ${JSON.stringify(args)}`;
    it(`${index}: ${call} ${JSON.stringify(kwargs)}`, async () => {
      const answer = plain(await ctx.callWith(fun, args, kwargs));
      const expected = better[call] === undefined ? plain(ret) : { comment: better[call], result: false };
      expect(answer).toEqual(expected);
    });
  }
});

describe('a schedule without a daemon', () => {
  it('keeps the settings of all jobs, and is replaced atomically', async () => {
    const folder = join(root, 'conf', 'minion.d');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, '_schedule.conf');
    writeFileSync(file, 'schedule:\n  splay: {start: 5, end: 10}\n', { mode: 0o644 });
    const before = statSync(file).ino;
    const kwargs = newDict(Object.entries({ function: 'test.ping', seconds: 5, offline: true }));
    expect(plain(await ctx.callWith('schedule.add', ['mine'], kwargs))).toMatchObject({ result: true });
    expect(readFileSync(file, 'utf8')).toMatch(/^schedule:\n {2}splay: \{start: 5, end: 10\}\n {2}mine:/);
    expect(statSync(file).ino).not.toBe(before);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('reports an error in the first time first', async () => {
    expect(plain(await ctx.callWith('schedule.postpone_job', ['j', 'garbage', ''], newDict()))).toEqual({
      comment: 'Date string could not be parsed.',
      result: false,
    });
  });
});

describe('a scheduler', () => {
  it('is queried with Salt’s own messages', async () => {
    const asked: PlainDict[] = [];
    const listening = testContext({
      modules: [schedule],
      opts: newDict([['conf_file', join(root, 'conf', 'minion')]]),
      minion: {
        schedule: async (request) => {
          asked.push(request);
          const job = newDict(
            Object.entries({ function: 'test.ping', enabled: request['func'] !== 'disable_job', _secret: 1 }),
          );
          return newDict(Object.entries({ complete: true, schedule: newDict([['j', job]]) }));
        },
      },
    });
    expect(plain(await listening.call('schedule.disable_job', 'j'))).toEqual({
      comment: 'Disabled Job j in schedule.',
      result: true,
      changes: { j: 'disabled' },
    });
    expect(plain(asked.at(-1) ?? null)).toEqual({ func: 'disable_job', name: 'j', persist: true });
    expect(plain(await listening.callWith('schedule.list', [], newDict([['return_yaml', false]])))).toEqual({
      j: { function: 'test.ping', enabled: true },
    });
    expect(plain(await listening.call('schedule.skip_job', 'j', '2030-01-01T10:00:00'))).toEqual({
      comment: 'Added Skip Job j in schedule.',
      result: true,
    });
    expect(plain(asked.at(-1) ?? null)).toMatchObject({ func: 'skip_job', time: '2030-01-01T10:00:00' });
  });
});
