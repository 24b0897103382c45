// Requests recorded on the wire and sent again: processed once, answered each time, also after restarts of a minion.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlainDict } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { OldMinion } from '../support/old-minion.ts';
import { RawMinion } from '../support/raw-minion.ts';

let fleet: Deployment;
let events: EventListener;

beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: "minimum_auth_version: 0\npeer: {'.*': [test.ping]}" });
  await fleet.startMaster();
  events = await EventListener.start(fleet);
});
afterAll(async () => {
  events?.stop();
  await fleet?.destroy();
});

/** Everything before this one has been heard when it is. */
async function heardAll(minion: RawMinion, tag: string): Promise<void> {
  await minion.ask(minion.seal({ cmd: '_minion_event', tag, data: {} }));
  await events.next(tag);
}

describe('a recorded request of a minion', () => {
  let minion: RawMinion;
  beforeAll(async () => {
    minion = await RawMinion.start(fleet, 'victim');
  });
  afterAll(() => minion?.stop());

  it('fires its event once, and is acknowledged each time', async () => {
    const recorded = minion.seal({ cmd: '_minion_event', tag: 'replay/me', data: {} });
    for (let i = 0; i < 20; i++) expect(minion.open(await minion.ask(recorded))).toEqual({ value: null });
    await heardAll(minion, 'replay/over');
    expect(events.seen('replay/me')).toHaveLength(1);
  });

  it('creates one job for a result that requests one', async () => {
    const recorded = minion.seal({ cmd: '_return', jid: 'req', fun: 'test.replayed', return: 1, retcode: 0 });
    const replies = await Promise.all(Array.from({ length: 10 }, () => minion.ask(recorded)));
    expect(replies.map((reply) => minion.open(reply))).toEqual(Array(10).fill({ value: null }));
    const { stdout } = await fleet.run('salt-run', ['jobs.list_jobs', 'search_function=test.replayed', '--out=json']);
    expect(Object.keys(JSON.parse(stdout) as object)).toHaveLength(1);
  });

  it('publishes the requested job once, with the same answer for a repetition', async () => {
    const load = { cmd: 'minion_pub', fun: 'test.ping', arg: [], tgt: 'victim', tgt_type: 'glob', ret: '', tmo: 1 };
    const recorded = minion.seal(load);
    const answers: PlainDict[] = [];
    for (let i = 0; i < 3; i++) answers.push(minion.open(await minion.ask(recorded))?.value as PlainDict);
    expect(answers[0]?.['jid']).toMatch(/^\d{20}$/);
    expect(new Set(answers.map((answer) => answer['jid']))).toHaveProperty('size', 1);
  });

  it('does not restore outdated grains', async () => {
    const pillarOf = (grains: PlainDict): Buffer => minion.seal({ cmd: '_pillar', grains, ver: '2', saltenv: 'base' });
    const recorded = pillarOf({ role: 'web' });
    await minion.ask(recorded);
    await minion.ask(pillarOf({ role: 'db' }));
    await minion.ask(recorded);
    const { stdout } = await fleet.run('salt-run', ['cache.grains', 'victim', '--out=json']);
    expect(JSON.parse(stdout)).toMatchObject({ victim: { role: 'db' } });
  });
});

it('a recorded event of an old generation, which has no time in it, fires once too', async () => {
  const minion = await OldMinion.start({ id: 'old', generation: 0, version: '2015.5', requests: fleet.ports.requests });
  const probe = await RawMinion.start(fleet, 'probe');
  try {
    const recorded = minion.sealed({ cmd: '_minion_event', id: 'old', tag: 'replay/old', data: {} });
    for (let i = 0; i < 5; i++) await probe.ask(recorded);
    await heardAll(probe, 'replay/old-over');
    expect(events.seen('replay/old')).toHaveLength(1);
  } finally {
    minion.stop();
    probe.stop();
  }
});
