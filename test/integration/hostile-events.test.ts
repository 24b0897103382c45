// Events of minions: each may fire events only for itself, none for the master, in every form of the tag.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { RawMinion } from '../support/raw-minion.ts';

const jid = '20310402000000000001';
let fleet: Deployment;
let evil: RawMinion;
let events: EventListener;

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
  evil = await RawMinion.start(fleet, 'evil');
  events = await EventListener.start(fleet);
});
afterAll(async () => {
  events?.stop();
  evil?.stop();
  await fleet?.destroy();
});

const mark = { id: 'm1', SPOOF: 1 };
const send = async (load: PlainDict): Promise<unknown> =>
  evil.open(await evil.ask(evil.seal({ cmd: '_minion_event', ...load })));
let rounds = 0;
/** Sends, waits until all of it must have been heard, and gives the tags that were. */
async function heard(...loads: PlainDict[]): Promise<string[]> {
  const end = `round/${rounds++}`;
  events.forget();
  for (const load of loads) expect(await send(load)).toEqual({ value: null });
  await send({ tag: end, data: {} });
  await events.next(end);
  return events
    .tags()
    .filter((tag) => tag !== end && events.seen(tag).some((data) => JSON.stringify(data).includes('SPOOF')));
}
const each = (...tags: string[]): PlainDict[] => [
  ...tags.map((tag) => ({ tag, data: mark })),
  { events: tags.map((tag) => ({ tag, data: mark })) },
];

it('events in the name of the master are refused, alone or in a list', async () => {
  const tags = ['auth', 'key', 'presence/change', `run/${jid}/ret`, `wheel/${jid}/ret`, `job/${jid}/new`, 'cloud/x'];
  expect(await heard(...each(...tags.map((tag) => `salt/${tag}`), 'key', jid, 'halite/error'))).toEqual([]);
});

it('events in the name of another minion are refused', async () => {
  const tags = ['salt/minion/m1/start', 'salt/beacon/m1/load/', `salt/job/${jid}/ret/m1`, `salt/job/${jid}/prog/m1/1`];
  expect(await heard(...each(...tags, `salt/job/${jid}/ret/evil/ret/m1`, 'minion/refresh/m1', 'syndic/m1/x'))).toEqual(
    [],
  );
});

it('a tag is judged as it is after a prefix was put before it', async () => {
  const listed = (pretag: Value, ...tags: string[]): PlainDict => ({
    pretag,
    events: tags.map((tag) => ({ tag, data: mark })),
  });
  const found = await heard(
    listed('salt', 'auth', `job/${jid}/new`, `job/${jid}/ret/m1`, 'minion/m1/start'),
    listed(`salt/job/${jid}/ret`, 'm1'),
    listed('salt/minion/m1', 'start'),
    listed('', 'salt/auth'),
    listed(['salt'], 'salt/auth'),
  );
  expect(found.filter((tag) => tag.startsWith('salt/') || tag.includes('m1/'))).toEqual([]);
});

it('similar tags are refused too', async () => {
  const tags = [
    'salt//auth',
    '/salt/auth',
    'salt/auth/',
    'SALT/AUTH',
    ' salt/auth',
    'salt/auth\n',
    'salt//minion/m1/start',
  ];
  expect(await heard(...each(...tags))).toEqual([]);
});

it('valid events are accepted', async () => {
  const tags = ['salt/minion/evil/start', 'salt/beacon/evil/load/', `salt/job/${jid}/prog/evil/1`, 'myapp/deploy/done'];
  expect(await heard(...each(...tags))).toEqual(tags);
});

it('accepts a bounded number of events at once, and large ones', async () => {
  const many = Array.from({ length: 6000 }, (_, n) => ({ tag: `many/${n}`, data: { SPOOF: 1 } }));
  expect((await heard({ events: many })).length).toBeLessThanOrEqual(5000);
  const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`field${n}`, n]));
  expect(await heard({ tag: 'large/one', data: { SPOOF: 1, text: 'x'.repeat(2_000_000), fields } })).toEqual([
    'large/one',
  ]);
  expect(JSON.stringify(events.seen('large/one')).length).toBeLessThan(2_000_000);
  expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
});
