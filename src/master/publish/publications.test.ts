// Publications: alone they are sent at once and in order; in a cluster by place, and by the own sockets when it is away.
import { describe, expect, it } from 'vitest';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import { aloneCluster } from '../../engine/cluster/alone.ts';
import type { Cluster, ClusterState, Relay } from '../../engine/cluster/api.ts';
import type { JobPublication } from '../../engine/cluster/messages.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { Publications } from './publications.ts';

const table = { get: () => undefined, all: () => [], set: () => undefined, remove: () => undefined };
const alone = (): Cluster => aloneCluster({ id: 'm1', addresses: [], table });
const jobOf = (jid: string): PublishedJob => ({ jid, fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob' });

interface Out {
  readonly jid: string;
  readonly serial: number | undefined;
  readonly afterMs?: number;
}

/** What reaches the sockets; `fail` names a job that cannot be sent. */
function sockets(fail = ''): {
  sent: Out[];
  send(job: PublishedJob, ids?: unknown, serial?: number, afterMs?: number): Promise<void>;
} {
  const sent: Out[] = [];
  return {
    sent,
    send: async ({ jid }, _ids, serial, afterMs = 0) => {
      if (jid === fail) throw new Error('cannot be signed');
      sent.push({ jid, serial, ...(afterMs > 0 ? { afterMs } : {}) });
    },
  };
}

/** The relay of a member, whose engine is there or not, and through which others publish. */
class Line implements Relay {
  #handler: Parameters<Relay['onPublication']>[0] = async () => undefined;
  readonly kept: JobPublication[] = [];
  place = 100;
  away = false;

  async publish(_key: string, message: JobPublication): Promise<number> {
    this.kept.push(message);
    if (this.away) throw new HaliteError('cluster.cut-off', 'no word from NATS');
    return this.deliver(message);
  }
  async deliver(message: Parameters<typeof this.handle>[0], late = false): Promise<number> {
    await this.handle(message, ++this.place, late);
    return this.place;
  }
  get handle(): Parameters<Relay['onPublication']>[0] {
    return this.#handler;
  }
  onPublication(handler: Parameters<Relay['onPublication']>[0]): void {
    this.#handler = handler;
  }
}

function member(line: Line, publisher: ReturnType<typeof sockets>, isDrained = (): boolean => false): Publications {
  const state: ClusterState = { kind: 'joined', since: 0 };
  const cluster = { name: 'test', self: { ...alone().self, slot: 3 }, state, relay: line };
  return new Publications({ cluster, publisher, log: nullLogger(), isDrained });
}

const foreign = (jid: string): JobPublication => ({
  ...{ kind: 'job', job: jobOf(jid), owner: 7, at: Date.now(), ttlMs: 15_000 },
});

describe('a master alone', () => {
  it('sends in the order of the calls, with serials of its own, and reports a failure to its sender only', async () => {
    const publisher = sockets('b');
    const publications = new Publications({ cluster: alone(), publisher, log: nullLogger() });
    const all = await Promise.allSettled(['a', 'b', 'c', 'd'].map((jid) => publications.send(jobOf(jid))));
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(publisher.sent).toEqual(['a', 'c', 'd'].map((jid) => ({ jid, serial: undefined })));
  });
});

describe('a member of a cluster', () => {
  it('counts on from where an earlier process was, when the engine is away at the start', async () => {
    const line = new Line();
    const publisher = sockets();
    line.away = true;
    const publications = member(line, publisher);
    await publications.send(jobOf('x'));
    expect(publisher.sent).toEqual([{ jid: 'x', serial: 100 * 2 ** 20 + 1 }]);
  });

  it('sends the jobs of all members, with the place as serial', async () => {
    const [line, publisher] = [new Line(), sockets()];
    const publications = member(line, publisher);
    expect(await publications.send(jobOf('own'))).toEqual({});
    await line.deliver(foreign('other'));
    expect(publisher.sent).toEqual([
      { jid: 'own', serial: 101 * 2 ** 20 },
      { jid: 'other', serial: 102 * 2 ** 20 },
    ]);
  });

  it('sends after the others while it is drained, and at once what only its own minions get', async () => {
    const [line, publisher] = [new Line(), sockets()];
    let drained = true;
    const publications = member(line, publisher, () => drained);
    await line.deliver(foreign('a'));
    line.away = true;
    await publications.send(jobOf('b'));
    drained = false;
    await line.deliver(foreign('c'));
    const place = 2 ** 20;
    expect(publisher.sent).toEqual([
      { jid: 'a', serial: 101 * place, afterMs: 300 },
      { jid: 'b', serial: 101 * place + 1 },
      { jid: 'c', serial: 102 * place },
    ]);
  });

  it('does not send late ones, and tells of them', async () => {
    const [line, publisher] = [new Line(), sockets()];
    const heard: [string, boolean][] = [];
    member(line, publisher).onJob(({ job }, late) => heard.push([job.jid, late]));
    await line.deliver(foreign('old'), true);
    await line.deliver(foreign('new'));
    expect(publisher.sent.map(({ jid }) => jid)).toEqual(['new']);
    expect(heard).toEqual([
      ['old', true],
      ['new', false],
    ]);
  });

  it('sends to its own minions while it is cut off, says why, and sends nothing twice afterwards', async () => {
    const [line, publisher] = [new Line(), sockets()];
    const publications = member(line, publisher);
    await publications.send(jobOf('before'));
    line.away = true;
    expect(await publications.send(jobOf('x'))).toEqual({ cutOff: 'no word from NATS' });
    expect(await publications.send(jobOf('y'))).toEqual({ cutOff: 'no word from NATS' });
    line.away = false;
    // The engine is back: it has them now, in its order.
    for (const publication of line.kept.slice(1)) await line.deliver(publication);
    await publications.send(jobOf('after'));
    const place = 2 ** 20;
    expect(publisher.sent).toEqual([
      { jid: 'before', serial: 101 * place },
      { jid: 'x', serial: 101 * place + 1 },
      { jid: 'y', serial: 101 * place + 2 },
      { jid: 'after', serial: 104 * place },
    ]);
    const serials = publisher.sent.map(({ serial = 0 }) => serial);
    expect([...serials].sort((a, b) => a - b)).toEqual(serials);
  });

  it('does what a key rotation asks for at its place, before the next job is sent', async () => {
    const [line, publisher] = [new Line(), sockets()];
    const publications = member(line, publisher);
    publications.handle({
      rotate: ({ generation }) => void publisher.sent.push({ jid: 'rotate', serial: generation }),
    });
    await line.deliver({ kind: 'rotate', generation: 5, term: 1 });
    await line.deliver({ kind: 'mark', what: 'nobody handles this', data: null });
    await line.deliver(foreign('next'));
    expect(publisher.sent.map(({ jid }) => jid)).toEqual(['rotate', 'next']);
  });
});
