// Results of runs that this master did not publish: scheduled runs of Salt minions, which have no jid, and jobs of another
// master with the same key that is away.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict, type PlainDict } from '../../src/base/codec/value.ts';
import { jidOf } from '../../src/base/util/jid.ts';
import { eventually } from '../support/eventually.ts';
import { HostileMinion } from '../support/hostile-minion.ts';
import { Pair } from '../support/pair.ts';

let pair: Pair;
/** The same minions at both masters: two that are honest, and one that is not. */
const at = { a: {} as Record<string, HostileMinion>, b: {} as Record<string, HostileMinion> };
beforeAll(async () => {
  pair = await Pair.start();
  for (const id of ['web1', 'web2', 'evil']) {
    at.a[id] = await HostileMinion.start(pair.a, id);
    at.b[id] = await HostileMinion.start(pair.b, id);
  }
});
afterAll(async () => {
  for (const minion of [...Object.values(at.a), ...Object.values(at.b)]) minion.stop();
  await pair?.destroy();
});

type Master = 'a' | 'b';
const minion = (master: Master, id: string): HostileMinion => at[master][id]!;
async function query(master: Master, sql: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await pair[master].run('salt-run', ['jobs.query', sql, '--out=json']);
  return JSON.parse(stdout) as Record<string, unknown>[];
}
const rows = (master: Master, jid: string) =>
  query(master, `SELECT id, full_ret ->> '$.return' AS said FROM ret WHERE jid = '${jid}' ORDER BY id`);
const events = (master: Master, tag: string) => query(master, `SELECT tag FROM event WHERE tag GLOB '${tag}'`);
/** Events are stored a moment later than results. */
async function sees(master: Master, tag: string, count: number): Promise<void> {
  await eventually(`${count} events ${tag}`, async () => (await events(master, tag)).length >= count);
  expect(await events(master, tag)).toHaveLength(count);
}
/** A time some seconds ago, as jid and as Salt writes it. */
let step = 0;
function moment(secondsAgo = 5): { jid: string; stamp: string } {
  const jid = jidOf((Date.now() - secondsAgo * 1000) * 1000 + (step++ % 1000));
  const [y, mo, d, h, mi, s, f] = [0, 4, 6, 8, 10, 12, 14].map((from, i, all) => jid.slice(from, all[i + 1]));
  return { jid, stamp: `${y}-${mo}-${d}T${h}:${mi}:${s}.${f}` };
}
const scheduled = (stamp: string, more: PlainDict = newDict()): PlainDict =>
  newDict(Object.entries({ schedule: 'highstate', _stamp: stamp, ...more }));

describe('a scheduled run of a Salt minion', () => {
  it('has one jid on both masters, and is recorded once however often it arrives', async () => {
    const { jid, stamp } = moment();
    // 3006 writes no zone, 3008 does.
    await minion('a', 'web1').returnOf('req', 'done', scheduled(stamp));
    await minion('b', 'web1').returnOf('req', 'done', scheduled(`${stamp}+00:00`));
    await Promise.all([1, 2, 3].map(() => minion('a', 'web1').returnOf('req', 'again', scheduled(stamp))));
    for (const master of ['a', 'b'] as const) expect(await rows(master, jid)).toEqual([{ id: 'web1', said: 'done' }]);
    expect(
      await query('a', "SELECT jid FROM job WHERE fun = 'test.ping' AND load ->> '$.schedule' = 'highstate'"),
    ).toEqual([{ jid }]);
    await sees('a', `salt/job/${jid}/ret/web1`, 1);
  });

  it('is one job with that of another minion in the same microsecond, but not with other jobs', async () => {
    const { jid, stamp } = moment();
    for (const id of ['web1', 'web2']) await minion('a', id).returnOf('req', id, scheduled(stamp));
    await minion('a', 'evil').returnOf('req', 'other schedule', scheduled(stamp, newDict([['schedule', 'other']])));
    await minion('a', 'evil').returnOf('req', 'other fun', scheduled(stamp, newDict([['fun', 'cmd.run']])));
    expect(await rows('a', jid)).toEqual([
      { id: 'web1', said: 'web1' },
      { id: 'web2', said: 'web2' },
    ]);
  });

  it('cannot write into a job of the master', async () => {
    const { stdout } = await pair.a.salt('-L', 'web1', 'test.arg', 'x', '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    const stamp = `${jid.slice(0, 4)}-${jid.slice(4, 6)}-${jid.slice(6, 8)}T${jid.slice(8, 10)}:${jid.slice(10, 12)}:${jid.slice(12, 14)}.${jid.slice(14)}`;
    await minion('a', 'evil').returnOf('req', 'FORGED', scheduled(stamp));
    expect(await rows('a', jid)).toEqual([]);
    // Stored, but elsewhere.
    expect(await query('a', "SELECT id FROM ret WHERE full_ret ->> '$.return' = 'FORGED' AND jid != ''")).toEqual([
      { id: 'evil' },
    ]);
  });

  it.each([
    ['far in the future', '2999-01-01T00:00:00.000001'],
    ['long ago', '1999-01-01T00:00:00.000001'],
    ['of no calendar', '2026-99-99T99:99:99.000001'],
    ['no time', '/etc/passwd'],
  ])('with a time %s gets a jid of the master', async (_name, stamp) => {
    const before = jidOf(Date.now() * 1000);
    await minion('a', 'evil').returnOf('req', stamp, scheduled(stamp));
    const found = await query('a', `SELECT jid FROM ret WHERE full_ret ->> '$.return' = '${stamp}'`);
    expect(found).toHaveLength(1);
    expect(String(found[0]?.['jid']) > before).toBe(true);
    expect(String(found[0]?.['jid']) <= jidOf(Date.now() * 1000)).toBe(true);
  });

  it('of a clock somewhat ahead keeps its jid, which this master then generates for no job', async () => {
    const { jid, stamp } = moment(-20);
    await minion('a', 'web1').returnOf('req', 'ahead', scheduled(stamp));
    expect(await rows('a', jid)).toEqual([{ id: 'web1', said: 'ahead' }]);
  });

  it('that is not stored is one event, sent again or not', async () => {
    const { stamp } = moment();
    for (let i = 0; i < 3; i++) await minion('a', 'web1').returnOf('nocache', i, scheduled(stamp));
    await minion('a', 'web2').returnOf('nocache', 0, scheduled(stamp));
    for (const id of ['web1', 'web2']) await sees('a', `salt/job/nocache/ret/${id}`, 1);
  });
});

describe('a result of a job of the other master, which is away', () => {
  const keptFor = (name: string): PlainDict => newDict([['halite_for', name]]);

  it('is stored and shown with the master that asked, and that one takes it once when it is back', async () => {
    const [asking] = pair.addresses;
    const { stdout } = await pair.a.salt('-L', 'web1,web2', 'test.arg', 'x', '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    for (const id of ['web1', 'web2', 'web1']) await minion('b', id).returnOf(jid, id, keptFor(asking!));
    const shown = await pair.b.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
    expect(JSON.parse(shown.stdout)).toEqual({ web1: 'web1', web2: 'web2' });
    expect(shown.stderr).toContain(`This job was asked by the master ${asking}.`);
    const listed = await pair.b.run('salt-run', ['jobs.list_jobs', '--out=json']);
    expect((JSON.parse(listed.stdout) as Record<string, object>)[jid]).toMatchObject({
      ...{ Function: 'test.ping', 'Asked-by': asking },
    });
    expect((await pair.b.run('salt-run', ['jobs.explain', jid])).stdout).toContain(
      `by the master ${asking}; this one keeps`,
    );
    // No reaction of this master: those are of the one that asked.
    expect(await events('b', `salt/job/${jid}/*`)).toEqual([]);
    for (const id of ['web1', 'web1', 'web2']) await minion('a', id).returnOf(jid, id);
    expect(await rows('a', jid)).toHaveLength(2);
    await sees('a', `salt/job/${jid}/ret/*`, 2);
  });

  it('that this master asked for itself is an ordinary result, and of others refused', async () => {
    const { stdout } = await pair.a.salt('-L', 'web1', 'test.arg', 'x', '--async');
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    await minion('a', 'evil').returnOf(jid, 'FORGED', keptFor('m9:4506'));
    await minion('a', 'web1').returnOf(jid, 'own', keptFor('m9:4506'));
    expect(await rows('a', jid)).toEqual([{ id: 'web1', said: 'own' }]);
    const { stderr } = await pair.a.run('salt-run', ['jobs.lookup_jid', jid]);
    expect(stderr).not.toContain('asked by the master');
  });

  it('never changes a job that a minion reported, nor one that this master may still publish', async () => {
    const { jid, stamp } = moment();
    await minion('b', 'web1').returnOf('req', 'scheduled', scheduled(stamp));
    await minion('b', 'evil').returnOf(jid, 'FORGED', keptFor('m1:4506'));
    expect(await rows('b', jid)).toEqual([{ id: 'web1', said: 'scheduled' }]);
    const later = jidOf((Date.now() + 600_000) * 1000);
    await minion('b', 'evil').returnOf(later, 'FORGED', keptFor('m1:4506'));
    expect(await rows('b', later)).toEqual([]);
  });

  it.each([
    ['a name with a line break', 'm1:4506\nroot'],
    ['a long name', `${'m'.repeat(400)}:4506`],
    ['no text', 7],
    ['a map', newDict([['a', 1]])],
  ])('from %s is stored without it', async (_name, name) => {
    const { jid } = moment(30);
    await minion('b', 'evil').returnOf(jid, 'odd', newDict([['halite_for', name]]));
    expect(await rows('b', jid)).toEqual([{ id: 'evil', said: 'odd' }]);
    const { stdout } = await pair.b.run('salt-run', ['jobs.list_jobs', '--out=json']);
    expect(stdout).not.toContain(jid);
  });
});
