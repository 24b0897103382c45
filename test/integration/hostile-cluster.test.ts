// Several masters against harm from inside: a member that sends what no version of Halite does, somebody on the nats-servers
// who sends anything, and an accepted minion that speaks for another one to a master that did not ask.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dict, newDict, type Value } from '../../src/base/codec/value.ts';
import { bucketNames, questions, signalKinds } from '../../src/engine/cluster/api.ts';
import type { LedgerItem, Publication } from '../../src/engine/cluster/messages.ts';
import { openMember, removeMember, type TestMember } from '../support/cluster-member.ts';
import type { Deployment } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { HostileMinion } from '../support/hostile-minion.ts';
import { LocalCaller } from '../support/local-caller.ts';
import { historyOf, Masters } from '../support/masters.ts';
import { natsPrograms } from '../support/servers/nats.ts';

let masters: Masters;
let [first, second]: Deployment[] = [];
const textOf = async (master: Deployment, ...args: string[]): Promise<string> => {
  const { stdout, stderr } = await master.run('salt-run', args);
  return stdout + stderr;
};

function nested(depth: number): Value {
  let value: Value = null;
  for (let at = 0; at < depth; at++) value = [value];
  return value;
}
const odd: readonly Value[] = [
  null,
  true,
  -1,
  Number.MAX_SAFE_INTEGER,
  Number.NaN,
  '',
  '../../x',
  'x'.repeat(300_000),
  Buffer.alloc(2000, 255),
  [],
  [[], [null], ['x', 'x', 'x', 'x']],
  ['web', 'boot', 'peer', 'soon'],
  nested(60),
  newDict(),
  newDict(
    Object.entries({ n: 'x', tag: 5, data: 'no map', origin: [], id: 7, jid: {} as Dict, phase: null, text: [] }),
  ),
  newDict(Object.entries({ joined: [[1, 2, 3, 4]], left: 'all', heard: [null], number: 1e300, record: [], sealed: 1 })),
  newDict([['__proto__', newDict([['x', 1]])]]),
];

describe.skipIf(natsPrograms().length === 0)('masters of a cluster', () => {
  beforeAll(async () => {
    masters = await Masters.start({ count: 2 });
    [first, second] = masters.all as [Deployment, Deployment];
    masters.startMinion('web', undefined, [], [first]);
    await masters.answering(['web'], [first]);
  });
  afterAll(() => masters?.destroy(), 60_000);

  it('go on when a member sends nonsense of every kind', async () => {
    const [, key = ''] = readFileSync(first!.path('etc/pki/master/cluster_bus.key'), 'utf8').trim().split(' ');
    const member = await openMember({
      ...{ id: 'm9', servers: masters.nats.servers, key: Buffer.from(key, 'base64'), replicas: 1 },
    });
    try {
      await eventually('both to be seen', () => member.cluster.members().length === 3);
      await nonsense(member);
    } finally {
      await member.close();
      removeMember(member);
    }
    await works('after the nonsense');
    for (const { master } of masters.all)
      expect(master.output()).not.toMatch(/not read any more|Unhandled|Traceback|TypeError/);
  });

  it('go on when somebody floods the servers with bytes', async () => {
    const nc = await connect({ servers: [...masters.nats.servers] });
    const subjects = ['log.0', 'log.9', 'pub', 'sig.event', 'to.0.event', 'ask.0', 'ask.1', 'join'];
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(20, 1), randomBytes(1000), randomBytes(900_000)])
      for (const subject of subjects) nc.publish(`halite.test.${subject}`, bytes, { reply: 'halite.test.join' });
    for (const bucket of ['members', 'reg', 'keys', 'data', 'claims'])
      for (const name of ['m.0', 'aes', 'leader', 'x'.repeat(200)])
        nc.publish(`$KV.halite_test_${bucket}.${name}`, randomBytes(500));
    await nc.flush();
    await nc.close();
    await works('after the flood');
    const refused = /something from the nats-servers is not taken/;
    for (const { master } of masters.all) expect(master.output()).toMatch(refused);
  });

  it('take no result, event or report of one minion from another, whichever of them it speaks to', async () => {
    const evil = await HostileMinion.start(second!, 'evil');
    const root = await LocalCaller.connect(first!, 'root');
    const listeners = await Promise.all(masters.all.map((master) => EventListener.start(master)));
    try {
      const items: string[] = [];
      let jid = '';
      for await (const item of root.stream('publish', {
        ...{ tgt: 'web', tgt_type: 'glob', fun: 'test.sleep', arg: [3], timeout: 60 },
      })) {
        items.push(`${String(item['type'])} ${String(item['id'] ?? '')} ${String(item['text'] ?? item['ret'] ?? '')}`);
        if (item['type'] !== 'job') continue;
        jid = String(item['jid']);
        await evil.returnOf(jid, 'FORGED');
        await evil.returnOf(jid, 'FORGED', newDict([['id', 'web']])).catch(() => undefined);
        const event = (tag: string): Promise<unknown> =>
          evil
            .send(
              '_minion_event',
              newDict(Object.entries({ id: 'web', tag, data: { text: 'FORGED', return: 'FORGED' } })),
            )
            .catch(() => undefined);
        await event(`halite/job/${jid}/progress/web`);
        await event(`salt/job/${jid}/ret/web`);
        await event('salt/minion/web/start');
        // One that is taken, and so all before it were judged.
        await event('seen/at/all');
      }
      expect(items.filter((item) => item.startsWith('return'))).toEqual(['return web true']);
      expect(items.join('\n')).not.toContain('FORGED');
      for (const listener of listeners)
        await eventually('the last event', () => listener.seen('seen/at/all').length === 1);
      for (const listener of listeners) {
        const forged = listener
          .tags()
          .flatMap((tag) => listener.seen(tag).map((data) => JSON.stringify({ tag, data })));
        const inItsName = forged.filter((event) => event.includes('FORGED') && !event.includes('"id":"evil"'));
        expect(inItsName).toEqual([]);
        expect(forged.filter((event) => event.includes('FORGED') && event.includes(`${jid}/ret/web`))).toEqual([]);
      }
      for (const master of masters.all) {
        await eventually('the result', async () => (await resultsOf(master, jid)).length > 0);
        expect(await resultsOf(master, jid)).toEqual(['web']);
      }
    } finally {
      for (const listener of listeners) listener.stop();
      root.close();
      evil.stop();
    }
  });
});

const resultsOf = async (master: Deployment, jid: string): Promise<string[]> =>
  (await historyOf(master, `SELECT id FROM ret WHERE jid = '${jid}'`)).map(({ id }) => String(id));

/** A job of the second master for a minion of the first one, and what both say of each other. */
async function works(text: string): Promise<void> {
  await eventually(
    'a job of one master at the minion of the other',
    async () =>
      ((await second!.json('web', 'test.echo', text, '-t', '5').catch(() => ({}))) as Record<string, unknown>)[
        'web'
      ] === text,
    {
      timeoutMs: 120_000,
      describe: () => masters.all.map(({ master }) => master.output().slice(-3000)).join('\n---\n'),
    },
  );
  for (const master of masters.all)
    await eventually('both to be members', async () => {
      const told = await textOf(master, 'cluster.status');
      return /^ {2}m1 .*held 0/m.test(told) && /^ {2}m2 .*held 0/m.test(told);
    });
}

async function nonsense({ cluster }: TestMember): Promise<void> {
  const { relay, ledger, registry, signals } = cluster;
  const others = cluster.members().filter(({ id }) => id !== cluster.self.id);
  for (const value of odd) {
    for (const kind of signalKinds) {
      signals.send(kind, value);
      for (const { id } of others) signals.send(kind, value, id);
    }
    const asked = others.flatMap(({ id }) => questions.map((what) => signals.ask(id, what, value, { timeoutMs: 300 })));
    await Promise.all(asked.map(answered));
    void relay
      .publish(`odd-${odd.indexOf(value)}`, { kind: 'mark', what: 'rollover', data: value }, 5000)
      .catch(() => {});
    for (const made of [
      { kind: 'job', job: value },
      { kind: 'rotate', generation: value, term: value },
      { kind: value },
    ])
      void relay
        .publish(`odd-${JSON.stringify(made).length}-${odd.indexOf(value)}`, made as unknown as Publication, 5000)
        .catch(() => {});
    for (const made of [
      { kind: 'ret', jid: value, id: value, load: value },
      { kind: 'verdict', jid: '20261119000000000009', id: value, verdict: value, evidence: value },
      { kind: 'job', job: { jid: value, expected: [value], owner: 3 } },
      { kind: value },
    ])
      try {
        void ledger.append(made as unknown as LedgerItem).catch(() => {});
      } catch {
        // It cannot even be packed.
      }
    for (const name of bucketNames) {
      const bucket = registry.bucket<Value>(name);
      await bucket.create(`odd${odd.indexOf(value)}`, value).catch(() => undefined);
    }
  }
}

async function answered(answers: AsyncIterable<Value>): Promise<void> {
  try {
    let count = 0;
    for await (const _ of answers) if (++count > 3) return;
  } catch {
    // Refused, or not answered.
  }
}
