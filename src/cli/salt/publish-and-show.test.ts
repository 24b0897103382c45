// What `salt` prints for the items of a job, in every mode; texts as real Salt 3006.27 printed them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import type { JobItem, LocalClient, LocalPublish } from '../../engine/client/api.ts';
import { readCommandLine } from '../command-line.ts';
import { saltSpec } from '../options/salt.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { loadSettings } from '../settings.ts';
import { captureTerminal } from '../testing.ts';
import { publishAndShow } from './publish-and-show.ts';
import { publishCall, readRequest } from './request.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-salt-'));
  writeFileSync(join(folder, 'master'), '');
});
afterAll(() => rmSync(folder, { recursive: true }));

const jid = '20240131120000123456';
const job = (...minions: string[]): JobItem => ({ type: 'job', jid, minions, missing: [] });
const answer = (id: string, ret: unknown, extra: object = {}): JobItem =>
  ({ type: 'return', id, ret, retcode: 0, success: true, jid, ...extra }) as JobItem;
const absent = (id: string, connected = false, code = 'connection-lost'): JobItem => ({
  type: 'missing',
  id,
  connected,
  reason: {
    code,
    text: 'its connection to the master was lost (at noon)',
    evidence: newDict([['address', '10.0.0.9']]),
  },
});
const end: JobItem = { type: 'end', balance: newDict() };

async function run(items: JobItem[], ...argv: string[]) {
  const io = captureTerminal();
  const spec = saltSpec();
  const words = argv.some((word) => word.includes('.')) ? argv : [...argv, '*', 'test.ping'];
  const parsed = await readCommandLine(spec, ['-c', folder, ...words], io);
  const settings = loadSettings({ spec, parsed, load: loadClientConfig, io });
  const request = await readRequest(settings);
  const call = await publishCall(settings, request);
  const calls: LocalPublish[] = [];
  const client = {
    async *publish(sent: LocalPublish) {
      calls.push(sent);
      yield* items;
    },
  } as unknown as LocalClient;
  const display = new Display(outputOptions(settings, { fun: request.fun, arg: request.arg }), io);
  const code = await publishAndShow(client, settings, call, display);
  return { code, stdout: io.stdout, stderr: io.stderr, call: calls[0]! };
}

describe('no answers at all', () => {
  it('is an empty document with --static, with the reason on stderr', async () => {
    const got = await run([job('dead1'), absent('dead1'), end], '--static', '--out=json');
    expect([got.code, got.stdout]).toEqual([1, '{}\n']);
    expect(got.stderr).toContain('dead1: Minion did not return. [Not connected]');
  });
});

describe('as answers come', () => {
  it('prints each with its outputter', async () => {
    const got = await run([job('web1', 'db1'), answer('web1', true), answer('db1', { a: 1 }), end]);
    expect(got.stdout).toBe('web1:\n    True\ndb1:\n    ----------\n    a:\n        1\n');
    expect([got.code, got.stderr]).toEqual([0, '']);
    const json = await run([job('web1'), answer('web1', true, { out: 'highstate' }), end], '--out=json');
    expect(json.stdout).toBe('{\n    "web1": true\n}\n');
  });

  it('reports failure on stderr and with 1', async () => {
    const got = await run([job('web1'), answer('web1', '', { retcode: 3 }), end]);
    expect(got.stdout).toBe('web1:\n');
    expect([got.code, got.stderr]).toEqual([1, 'ERROR: Minions returned with non-zero exit code\n']);
  });

  it('prints the job id on request', async () => {
    const verbose = await run([job('web1'), answer('web1', true), end], '-v');
    expect(verbose.stdout).toBe(
      `Executing job with jid ${jid}\n-------------------------------------------\n\nweb1:\n    True\n`,
    );
    const short = await run([job('web1'), answer('web1', true), end], '--show-jid');
    expect(short.stdout).toBe(`jid: ${jid}\nweb1:\n    True\n`);
  });

  it('names missing minions with Salt’s line first and the reason below', async () => {
    const got = await run([job('web1', 'dead1'), answer('web1', true), absent('dead1'), end]);
    expect(got.stdout).toBe(
      'web1:\n    True\ndead1:\n    Minion did not return. [Not connected]\n' +
        '    Its connection to the master was lost (at noon)\n',
    );
    expect(got.code).toBe(1);
    const silent = await run([job('web1'), absent('web1', true, 'silent'), end]);
    expect(silent.stdout.split('\n').slice(0, 2)).toEqual(['web1:', '    Minion did not return. [No response]']);
    expect(silent.stdout).toContain(`\n    \n    salt-run jobs.lookup_jid ${jid}\n`);
  });

  it('hides them with --hide-timeout, but not from the exit code, and not with -v', async () => {
    const items = [job('web1', 'dead1'), answer('web1', true), absent('dead1'), end];
    const hidden = await run(items, '--hide-timeout');
    expect([hidden.code, hidden.stdout]).toEqual([1, 'web1:\n    True\n']);
    expect((await run(items, '--hide-timeout', '-v')).stdout).toContain('dead1:\n');
  });

  it('explains in words or, for machines, under a key', async () => {
    const items = [job('dead1'), absent('dead1'), end];
    expect((await run(items, '--explain')).stdout).toContain('\n      address: 10.0.0.9\n');
    const data = JSON.parse((await run(items, '--explain', '--out=json')).stdout);
    expect(data['__explain__']).toEqual({
      dead1: {
        code: 'connection-lost',
        text: 'its connection to the master was lost (at noon)',
        evidence: { address: '10.0.0.9' },
      },
    });
  });

  it('mentions minions the job waits for, which are no failure', async () => {
    const queued = {
      type: 'queued',
      id: 'away1',
      until: Date.UTC(2030, 0, 1),
      reason: { code: 'x', text: '', evidence: newDict() },
    };
    const got = await run([job('away1'), queued as JobItem, end], '--durable');
    expect(got.stdout).toBe('away1:\n    The job waits for this minion until 2030-01-01 00:00:00 UTC.\n');
    expect([got.code, got.call.job.durableSeconds]).toEqual([0, 86400]);
  });

  it('reports when nothing at all was returned', async () => {
    const got = await run([end]);
    expect([got.code, got.stderr]).toEqual([2, 'ERROR: No return received\n']);
  });
});

describe('together', () => {
  const items = [job('web1', 'db1', 'dead1'), answer('web1', true), absent('dead1'), answer('db1', false), end];

  it('--static prints one document and lists the missing on stderr', async () => {
    const got = await run(items, '--static', '--out=json');
    expect(got.stdout).toBe('{\n    "web1": true,\n    "db1": false\n}\n');
    expect(got.stderr).toContain('dead1: Minion did not return. [Not connected] Its connection');
    expect(got.code).toBe(1);
  });

  it('--static prints states with the highstate outputter', async () => {
    const ret = {
      'test_|-a_|-a_|-nop': { result: true, changes: {}, comment: 'ok', __run_num__: 0, start_time: 't', duration: 1 },
    };
    const got = await run([job('web1'), answer('web1', ret), end], '-s', 'web1', 'state.apply');
    expect(got.stdout).toContain('Summary for web1\n');
  });

  it('--group prints equal answers once', async () => {
    const many = Array.from({ length: 7 }, (_, i) => answer(`web${i}`, true));
    const got = await run([job(), ...many, answer('db1', 'other'), absent('dead1'), end], '--group');
    expect(got.stdout).toBe(
      '7 minions (web0, web1, web2, web3, web4 and 2 more):\n    True\n1 minion (db1):\n    other\n' +
        '1 minion did not return (dead1):\n    [Not connected] its connection to the master was lost (at noon)\n' +
        '7 minions: True · 1 minion: other · 1 missing: its connection to the master was lost (at noon)\n',
    );
    const json = await run([job(), ...many, end], '--group', '--out=json', '--out-indent=-1');
    expect(JSON.parse(json.stdout)[0]).toMatchObject({
      ret: true,
      retcode: 0,
      minions: expect.arrayContaining(['web6']),
    });
  });

  it('--summary counts at the end', async () => {
    const failed = answer('bad1', 'x', { retcode: 1 });
    const got = await run([...items.slice(0, -1), failed, absent('mute1', true), end], '--summary', '-v');
    expect(got.stdout.slice(got.stdout.indexOf('\n\n\n---'))).toBe(
      '\n\n\n-------------------------------------------\nSummary\n-------------------------------------------\n' +
        '# of minions targeted: 5\n# of minions returned: 3\n# of minions that did not return: 2\n' +
        '# of minions with errors: 1\nMinions not connected: dead1\nMinions not responding: mute1\n' +
        'Minions with failures: bad1\n-------------------------------------------\n',
    );
    expect((await run(items, '--summary', '--out=txt')).stdout).not.toContain('Summary');
  });

  it('sys.doc prints each function once', async () => {
    const doc = { 'test.ping': '\n    Pings.\n    ', 'test.a': '\n    First.\n    ' };
    const got = await run([job('a', 'b'), answer('a', doc), answer('b', doc), end], '*', 'sys.doc');
    expect(got.stdout).toBe('test.a:\n\n    First.\n    \n\ntest.ping:\n\n    Pings.\n    \n\n');
    const none = await run([job('a'), absent('a'), end], '*', 'sys.doc');
    expect([none.code, none.stderr]).toEqual([2, 'No minions found to gather docs from\n']);
  });
});

describe('a job that is announced', () => {
  it('prints nothing more than another one, and its header once', async () => {
    const sending: JobItem = { type: 'sending', jid, others: ['m2'] };
    const got = await run([sending, job('web1'), answer('web1', true), end], '-v');
    expect(got.stdout).toBe(`Executing job with jid ${jid}\n${'-'.repeat(43)}\n\nweb1:\n    True\n`);
    expect(got.call.announce).toBe(true);
    expect((await run([sending, job('web1'), answer('web1', true), end], '--static', '--out=json')).stdout).toBe(
      '{\n    "web1": true\n}\n',
    );
  });
});

describe('in batches', () => {
  it('prints steps, job ids and return codes as Salt does', async () => {
    const items: JobItem[] = [
      { type: 'job', jid: '', minions: ['db1', 'web1'], missing: [] },
      { type: 'batch', minions: ['web1', 'db1'] },
      answer('db1', true),
      answer('web1', '', { retcode: 3 }),
      end,
    ];
    const got = await run(items, '-b', '2');
    expect(got.stdout).toBe(
      `\nExecuting run on ['db1', 'web1']\n\ndb1:\n    True\njid:\n    ${jid}\nretcode:\n    0\n` +
        `jid:\n    ${jid}\nretcode:\n    3\nweb1:\n`,
    );
    // The worst code of a minion, and no line on stderr.
    expect([got.code, got.stderr]).toEqual([3, '']);
    expect(got.call.batch).toMatchObject({ size: '2', failhard: false });
    expect((await run(items, '-b', '2', '--static', '--out=json')).stdout).toBe(
      '{\n    "db1": true,\n    "web1": ""\n}\n',
    );
  });

  it('lists minions that were not reached', async () => {
    const items: JobItem[] = [job('a', 'b'), absent('a'), absent('b', true, 'silent'), end];
    const got = await run(items, '-b', '50%');
    expect(got.stdout).toContain('Minion a did not respond. No job will be sent.\n');
    expect(got.stdout).toContain("Minion 'b' failed to respond to job sent\n");
    expect(got.code).toBe(1);
  });

  it('switches automatically when the master found too many targets', async () => {
    const items: JobItem[] = [job('a'), { type: 'batch', minions: ['a'] }, answer('a', true), end];
    const got = await run(items, '--batch-safe-limit=2', '--batch-safe-size=3');
    expect(got.stdout).toMatch(
      /^\nNOTICE: Too many minions targeted, switching to batch execution\.\n\nExecuting run on \['a'\]/,
    );
    expect(got.call.batch).toMatchObject({ size: '', safe_limit: 2, safe_size: 3 });
  });
});

describe('--require', () => {
  const items = [
    job('a', 'b', 'c', 'd'),
    answer('a', 1),
    answer('b', 1),
    answer('c', 1, { retcode: 1 }),
    absent('d'),
    end,
  ];
  it.each([
    ['50%', 0],
    ['51%', 1],
    ['2', 0],
    ['3', 1],
  ])('%s of four with two good ones: %i', async (share, code) => {
    expect((await run(items, '--require', share)).code).toBe(code);
  });
});

describe('the call', () => {
  it('contains every option', async () => {
    const argv = [
      '-G',
      '-t',
      '3',
      '--return',
      'mysql,redis',
      '--metadata',
      '{a: 1}',
      '--delimiter',
      '|',
      '--subset',
      '2',
    ];
    const { call } = await run([end], ...argv, '--deadline', '90s', '--start-event', 'os|x', 'test.arg', '1', 'a=b');
    expect(call.job).toMatchObject({
      tgt: 'os|x',
      tgt_type: 'grain',
      fun: 'test.arg',
      arg: [1, { __kwarg__: true, a: 'b' }],
      ret: 'mysql,redis',
      timeoutSeconds: 3,
      gatherSeconds: 10,
      subset: 2,
      deadlineSeconds: 90,
      delimiter: '|',
      options: { metadata: { a: 1 }, start_event: true },
    });
    expect(call.batch).toBeUndefined();
    expect((await run([end], '-L', 'a,b,', 'test.ping')).call.job).toMatchObject({ tgt: ['a', 'b'], tgt_type: 'list' });
    expect((await run([end], '-t0', 'a', 'test.ping')).call.job.timeoutSeconds).toBe(5);
  });

  it('refuses incomplete requests with Salt’s texts and codes', async () => {
    await expect(run([], '-d', 'a', 'sys.doc', 'b', 'c.d')).rejects.toMatchObject({ code: 64 });
    await expect(run([], 'test.ping')).rejects.toMatchObject({ code: 42 });
    await expect(run([], '--deadline=soon', 'a', 'test.ping')).rejects.toMatchObject({ code: 64 });
  });
});
