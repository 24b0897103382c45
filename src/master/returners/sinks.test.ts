import { describe, expect, it } from 'vitest';
import { type Dict, newDict, type PlainDict } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn, returnFields } from '../../protocol/wire/messages/job-return.ts';
import type { JobRecord, JobStore, ReturnRecord } from '../../store/jobs.ts';
import { isKept } from './events.ts';
import { ForwardingJobStore } from './forwarding-store.ts';
import { History, type HistoryParts } from './history.ts';
import { passOn } from './pass-on.ts';
import type { ReturnerSettings } from './settings.ts';

const settings = (given: Partial<ReturnerSettings>): ReturnerSettings =>
  ({ jobCache: '', extJobCache: '', keepReturns: true, keepRunners: true, via: true, ...given }) as ReturnerSettings;

/** Sinks and a store that record what they are given. */
function scene(given: Partial<ReturnerSettings>): { store: ForwardingJobStore; seen: string[] } {
  const seen: string[] = [];
  const sinks = {
    add: async (purpose: string, returner: string, record: { k: string }) =>
      void seen.push(`${purpose} ${returner} ${record.k}`),
  };
  const own = {
    saveJob: async () => void seen.push('own job'),
    saveReturn: async () => {
      seen.push('own return');
      return 'stored';
    },
  } as unknown as JobStore;
  return { store: new ForwardingJobStore(own, sinks, settings(given)), seen };
}
const job = (fun: string, internal = false): JobRecord =>
  ({ jid: '20260131120000000001', fun, internal, load: newDict(), expected: [] }) as unknown as JobRecord;
const ret = (fun: string): ReturnRecord =>
  ({ jid: '20260131120000000001', id: 'a', fun, load: newDict(), received: 0 }) as unknown as ReturnRecord;

describe('destinations', () => {
  it.each([
    ['nowhere else by default', {}, 'test.ping', false, ['own job', 'own return']],
    [
      'both to master_job_cache',
      { jobCache: 'mysql' },
      'test.ping',
      false,
      ['jobs mysql load', 'own job', 'own return', 'jobs mysql ret'],
    ],
    [
      'no jobs that Halite publishes itself',
      { jobCache: 'mysql' },
      'saltutil.find_job',
      true,
      ['own job', 'own return'],
    ],
    [
      'runners, although they are internal',
      { jobCache: 'mysql' },
      'runner.test.arg',
      true,
      ['jobs mysql load', 'own job', 'own return', 'jobs mysql ret'],
    ],
    [
      'no runners without runner_returns',
      { jobCache: 'mysql', keepRunners: false },
      'runner.test.arg',
      true,
      ['own job', 'own return'],
    ],
    [
      'only the job to ext_job_cache',
      { extJobCache: 'redis' },
      'test.ping',
      false,
      ['jobs redis load', 'own job', 'own return'],
    ],
    [
      'no results without job_cache',
      { jobCache: 'mysql', keepReturns: false },
      'test.ping',
      false,
      ['jobs mysql load', 'own job'],
    ],
  ] as const)('%s', async (_name, given, fun, internal, expected) => {
    const { store, seen } = scene(given);
    await store.saveJob(job(fun, internal));
    await store.saveReturn(ret(fun));
    expect([...seen].sort()).toEqual([...expected].sort());
  });

  it('stores events by white and black list', () => {
    expect(isKept('salt/job/1/new', [], [])).toBe(true);
    expect(isKept('salt/job/1/new', ['salt/job/*'], [])).toBe(true);
    expect(isKept('salt/auth', ['salt/job/*'], [])).toBe(false);
    expect(isKept('salt/job/1/new', ['salt/job/*'], ['*/new'])).toBe(false);
    expect(isKept('salt/auth', [], ['salt/auth'])).toBe(false);
  });
});

describe('looking up', () => {
  const own = {
    load: async (jid: string) => (jid === '1' ? newDict([['fun', 'own']]) : undefined),
    expected: async (jid: string) => (jid === '1' ? ['a', 'b'] : []),
    returns: async (jid: string) => new Map<string, Dict>(jid === '1' ? [['a', newDict([['return', 'own']])]] : []),
    list: async () => [{ jid: '20260131120000000001', load: newDict([['fun', 'own']]) }],
    listText: async () => undefined,
    returnsText: async () => undefined,
  };
  const there: Record<string, PlainDict> = {
    load: newDict([['fun', 'other']]),
    returns: newDict([
      ['a', newDict([['return', 'other']])],
      ['b', newDict([['return', 'late']])],
    ]),
    jids: newDict([
      ['20260131120000000001', newDict([['fun', 'again']])],
      ['20250131120000000001', newDict([['fun', 'test.old']])],
      ['20250131120000000002', newDict([['fun', 'runner.jobs.list_jobs']])],
    ]),
  };
  const asks = { ask: async (_returner: string, what: string) => there[what] ?? null };
  const history = (sinks: HistoryParts['sinks'], given: Partial<ReturnerSettings> = { jobCache: 'mysql' }): History =>
    new History({ store: own, sinks, settings: settings(given), log: nullLogger() });

  it('combines both, and the own store takes precedence', async () => {
    const both = history(asks);
    expect(await both.load('1')).toEqual({ fun: 'own' });
    expect(await both.load('2')).toEqual({ fun: 'other' });
    expect(await both.returns('1')).toEqual({ a: { return: 'own' }, b: { return: 'late' } });
    expect(await both.expected('2')).toEqual(['a', 'b']);
    const jids = async (filter: object): Promise<string[]> => (await both.list(filter)).map(({ jid }) => jid);
    expect(await jids({})).toEqual(['20260131120000000001', '20250131120000000001']);
    expect(await jids({ internal: true })).toHaveLength(3);
    expect(await jids({ startAfter: new Date('2026-01-01') })).toEqual(['20260131120000000001']);
  });

  it('answers from the own store when the other one is unavailable, and fails when it was named explicitly', async () => {
    const away = {
      ask: async () => {
        throw new Error('away');
      },
    };
    expect(await history(away).returns('1')).toEqual({ a: { return: 'own' } });
    expect(await history(away).list({})).toHaveLength(1);
    await expect(history(away).returns('1', 'mysql')).rejects.toThrow('away');
  });
});

describe('results that the master passes on', () => {
  const read = (load: PlainDict): JobReturn => {
    const ret = readJobReturn(load);
    if (isProblem(ret)) throw new Error(ret.problem);
    return ret;
  };
  const published = { jid: '1', fun: 'test.ping', arg: [], tgt: '*' };
  const ofOperator = newDict(Object.entries({ ...published, ret_config: 'other' }));
  const whole = { cmd: '_return', id: 'a', jid: '1', fun: 'test.ping', return: 5 };
  async function passed(load: PlainDict, given: Partial<ReturnerSettings> = {}, job = ofOperator): Promise<unknown[]> {
    const seen: unknown[] = [];
    const sinks = { pass: async (...args: unknown[]) => void seen.push(args) };
    const parts = { sinks, returnerSettings: settings(given), store: { load: async () => job }, log: nullLogger() };
    const ret = read(load);
    await passOn(parts, ret, returnFields(ret));
    return seen;
  }
  const asked = (names: string[]): PlainDict =>
    newDict([
      ...Object.entries(whole),
      [
        'returners',
        newDict([
          ['names', names],
          ['kwargs', newDict([['host', 'evil']])],
        ]),
      ],
    ]);

  it('go to the returners they name, with the options of the job, not of the minion', async () => {
    expect(await passed(asked(['mysql']))).toEqual([['mysql', whole, { config: 'other' }]]);
  });

  it('are passed on only when requested, and only where allowed', async () => {
    const { returners: _none, ...plain } = asked([]);
    expect(await passed(plain)).toEqual([]);
    expect(await passed(asked(['mysql', 'redis']), { via: ['redis'] })).toHaveLength(1);
    expect(await passed(asked(['mysql']), { via: false })).toEqual([]);
  });

  it('lose the request on the way', async () => {
    expect(returnFields(read(asked(['mysql'])))).toEqual(whole);
  });

  it('have no options when the job is a run that a minion reported', async () => {
    const job = newDict([
      ...Object.entries(published),
      ['cmd', '_return'],
      ['id', 'a'],
      ['ret_config', 'evil'],
      ['ret_kwargs', newDict([['url', 'http://evil']])],
    ]);
    expect(await passed(asked(['mysql']), {}, job)).toEqual([['mysql', expect.anything(), {}]]);
  });
});
