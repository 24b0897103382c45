// Who a TCP subscriber is: proven by the shared key of now or of before a restart, and by the token of an accepted key.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import { Crypticle } from '../../src/base/crypto/index.ts';
import { joinFrame } from '../../src/protocol/wire/tcp/frame.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { RawMinion } from '../support/raw-minion.ts';

let fleet: Deployment;

class Subscriber {
  readonly #socket: Socket;
  received = 0;
  open = true;

  constructor(identification: Buffer) {
    this.#socket = connect(fleet.ports.publish, '127.0.0.1');
    this.#socket.on('data', (bytes) => (this.received += bytes.length));
    this.#socket.on('close', () => (this.open = false));
    this.#socket.on('error', () => (this.open = false));
    this.#socket.write(joinFrame(pack({}), identification));
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Publishes to one minion alone until this connection got it. */
  async getsJobsFor(id: string): Promise<void> {
    const before = this.received;
    await eventually(`a job for ${id} to reach its connection`, async () => {
      await fleet.salt('-L', id, 'test.ping', '-t', '1');
      return this.received > before;
    });
  }
}

async function restartMaster(): Promise<void> {
  await fleet.master.stop();
  await fleet.startMaster();
}

beforeAll(async () => {
  fleet = await Deployment.create({ transport: 'tcp' });
  await fleet.startMaster();
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('the identification of a TCP subscriber', () => {
  it('counts when it is sealed with the shared key of before one restart and of before two', async () => {
    const minion = await RawMinion.start(fleet, 'raw1', 'tcp');
    minion.stop();
    const first = new Subscriber(minion.identification());
    await first.getsJobsFor('raw1');
    for (const _ of [1, 2]) {
      await restartMaster();
      const again = new Subscriber(minion.identification());
      await again.getsJobsFor('raw1');
      expect(again.open).toBe(true);
      again.close();
    }
    first.close();
  });

  it('proves nothing for another id, and nothing after the key was deleted', async () => {
    const mallory = await RawMinion.start(fleet, 'mallory', 'tcp');
    mallory.stop();
    const honest = await RawMinion.start(fleet, 'raw2', 'tcp');
    honest.stop();
    await restartMaster();
    const proven = new Subscriber(honest.identification());
    const forged = new Subscriber(mallory.identification('raw2'));
    await proven.getsJobsFor('raw2');
    // What it got is the message that makes a minion sign in again, and no job of another.
    const unreadable = forged.received;
    await proven.getsJobsFor('raw2');
    expect(forged.received).toBe(unreadable);
    expect((await fleet.run('salt-key', ['-y', '-d', 'mallory'])).code).toBe(0);
    const deleted = new Subscriber(mallory.identification());
    await eventually('the message that nobody can open', () => deleted.received > 0);
    const before = deleted.received;
    await fleet.salt('-L', 'mallory,raw2', 'test.ping', '-t', '1');
    await proven.getsJobsFor('raw2');
    expect(deleted.received).toBe(before);
    for (const subscriber of [proven, forged, deleted]) subscriber.close();
  });

  it('is asked for again without losing the connection when its key was never known here', async () => {
    const unknown = new Crypticle(Crypticle.generateKeyString());
    const foreign = new Subscriber(pack({ enc: 'aes', load: unknown.seal({ id: 'raw1', tok: 'x' }), version: 3 }));
    await eventually('the message that nobody can open', () => foreign.received > 0);
    const honest = await RawMinion.start(fleet, 'raw3', 'tcp');
    honest.stop();
    const proven = new Subscriber(honest.identification());
    await proven.getsJobsFor('raw3');
    proven.close();
    expect(foreign.open).toBe(true);
    foreign.close();
  });
});

describe('a master that starts', () => {
  const isOpen = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });

  // A real 3007 minion whose former subscription comes back before it has signed in never answers again.
  it('takes sign-ins before subscriptions', async () => {
    const takesOnlySignIns = async (): Promise<boolean> => {
      await fleet.master.stop();
      const started = fleet.startMaster();
      await eventually('the request port to be open', () => isOpen(fleet.ports.requests));
      const alone = !(await isOpen(fleet.ports.publish));
      await started;
      expect(await isOpen(fleet.ports.publish)).toBe(true);
      return alone;
    };
    // Where this process was held up in between, it looks again at the next start.
    await eventually('only the request port to be open', takesOnlySignIns);
  });
});
