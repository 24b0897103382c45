// One AES key for all members: who makes it, when each uses it, and who waits.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { Registry, Relay } from '../../engine/cluster/api.ts';
import { type AesGeneration, AesKeys } from '../sign-in/aes-keys.ts';
import { Rotation } from './rotation.ts';
import { readAesRecord } from './secret-records.ts';
import { loadSharedSecrets } from './secrets.ts';
import { Fabric } from './testing.ts';

let root: string;
let fabric: Fabric;
const masters: Master[] = [];
/** Members that do not get publications now. */
const deaf = new Set<Master>();
let engineAway = false;

class Master {
  readonly id: string;
  aes!: AesKeys;
  rotation!: Rotation;
  made = 0;

  constructor(id: string) {
    this.id = id;
    masters.push(this);
  }

  async start(gatherMs = 60_000): Promise<this> {
    const member = fabric.get(this.id) ?? fabric.join(this.id);
    const folder = mkdtempSync(join(root, `${this.id}-`));
    const log = nullLogger();
    const { aes: first } = await loadSharedSecrets({ cluster: member, folder, log, before: {} });
    this.aes = new AesKeys({ cachedir: folder, first: keyOf(first), failed: () => undefined });
    // The order of publications: everybody does the same at one place before the next is read.
    const relay: Relay = {
      publish: async (_key, message) => {
        if (engineAway) throw new HaliteError('cluster.cut-off', 'no word from the engine');
        if (message.kind === 'rotate')
          for (const other of masters) if (!deaf.has(other)) await other.rotation.changeAt(message.generation);
        return 1;
      },
      onPublication: () => undefined,
      place: 0,
    };
    const cluster = { ...parts(member), relay };
    const rotated = (): void => void this.made++;
    this.rotation = new Rotation({ cluster, aes: this.aes, log, keep: () => undefined, rotated, gatherMs });
    return this;
  }
  get uses(): number {
    return this.aes.current.generation;
  }
}

/** One holder after the other, as a real engine has it. */
let leases: Promise<unknown> = Promise.resolve();
const lease: Registry['lease'] = (_name, { signal }) => {
  const turn = leases.then(() => ({ term: 1, isHeld: () => true }));
  leases = turn.then(() => new Promise((free) => signal.addEventListener('abort', free, { once: true })));
  return turn;
};

const keyOf = ({ generation, key, since }: AesGeneration): AesGeneration => ({ generation, key, since });
const parts = (member: ReturnType<Fabric['join']>) => ({
  self: member.self,
  members: () => member.members(),
  registry: { ...member.registry, lease },
});
const start = (id: string, gatherMs?: number): Promise<Master> => new Master(id).start(gatherMs);
const record = async () => readAesRecord((await fabric.registry.bucket<Value>('reg').get('aes'))?.value);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-rotation-'));
  fabric = new Fabric();
  engineAway = false;
  deaf.clear();
});
afterEach(async () => {
  const all = masters.splice(0);
  for (const { rotation } of all) rotation?.close();
  await Promise.all(all.map(({ aes }) => aes?.stored));
  rmSync(root, { recursive: true, force: true });
});

describe('the AES key', () => {
  it('is the same on all members, and stays when one restarts', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    expect(m2.aes.current.key).toBe(m1.aes.current.key);
    m1.rotation.close();
    const again = await start('m1');
    expect(again.aes.current.key).toBe(m2.aes.current.key);
  });

  it('changes on all members at one place', async () => {
    const [m1, m2, m3] = [await start('m1'), await start('m2'), await start('m3')];
    const before = m1.aes.current.key;
    expect(await m2.rotation.rotate()).toBe(2);
    expect([m1, m2, m3].map((master) => master.uses)).toEqual([2, 2, 2]);
    expect(new Set([m1, m2, m3].map(({ aes }) => aes.current.key)).size).toBe(1);
    expect(m1.aes.current.key).not.toBe(before);
    expect(await record()).toEqual(m1.aes.current);
  });

  it('changes once, when all members want that at the same time', async () => {
    const all = [await start('m1'), await start('m2'), await start('m3')];
    const numbers = await Promise.all(all.map(({ rotation }) => rotation.rotate()));
    expect(new Set(numbers)).toEqual(new Set([2]));
    expect(all.map(({ uses }) => uses)).toEqual([2, 2, 2]);
    expect(all.map(({ made }) => made).reduce((sum, made) => sum + made)).toBe(1);
  });

  it('changes once for several minions that lost their trust', async () => {
    const all = [await start('m1', 50), await start('m2', 50)];
    await Promise.all([all[0], all[1], all[0]].map((master) => master!.rotation.wanted()));
    await expect.poll(() => all.map(({ uses }) => uses)).toEqual([2, 2]);
    await expect.poll(() => fabric.registry.bucket('reg').get('aes-wanted')).toBe(undefined);
    expect(all.map(({ made }) => made).sort()).toEqual([0, 1]);
    await all[1]!.rotation.wanted();
    await expect.poll(() => all.map(({ uses }) => uses)).toEqual([3, 3]);
  });
});

describe('a member that', () => {
  it('was not there for the change reads the key when it is recorded', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    deaf.add(m2);
    await m1.rotation.rotate();
    expect(m2.uses).toBe(1);
    await expect.poll(() => m2.uses).toBe(2);
  });

  it('does not know the key at the place of the change reads it there', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    m2.rotation.close();
    deaf.add(m2);
    fabric.leave('m2');
    await m1.rotation.rotate();
    const again = await start('m2');
    await again.rotation.changeAt(2);
    expect(again.aes.current).toEqual(m1.aes.current);
  });

  it('is dead keeps nobody from changing the key', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    m2.rotation.close();
    fabric.leave('m2');
    deaf.add(m2);
    expect(await m1.rotation.rotate()).toBe(2);
  });

  it('could not publish a change leaves it to the next one, which uses the same key', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    engineAway = true;
    await expect(m1.rotation.rotate()).rejects.toThrow('no word from the engine');
    const begun = (await record())?.next;
    expect(begun?.generation).toBe(2);
    expect([m1.uses, m2.uses]).toEqual([1, 1]);
    engineAway = false;
    expect(await m2.rotation.rotate()).toBe(2);
    expect(m1.aes.current.key).toBe(begun?.key);
  });
});

describe('a sign-in', () => {
  it('during a change gets the new key', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    deaf.add(m2);
    const changed = m1.rotation.rotate();
    await expect.poll(async () => (await record())?.next?.generation ?? (await record())?.generation).toBe(2);
    const waiting = m2.rotation.settled().then(() => m2.uses);
    await changed;
    await m2.rotation.changeAt(2);
    expect(await waiting).toBe(2);
  });
  it('otherwise waits for nothing, and a change that does not end delays it only once', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    let immediate = false;
    const settled = m2.rotation.settled().then(() => {
      immediate = true;
    });
    await Promise.resolve();
    await Promise.resolve();
    expect(immediate).toBe(true);
    await settled;
    engineAway = true;
    await expect(m1.rotation.rotate()).rejects.toThrow();
    await m2.rotation.settled();
    expect(m2.uses).toBe(1);
    // Timers may fire a little early, which is left to wait then; after that nothing waits any more.
    const isImmediate = async (): Promise<boolean> => {
      let over = false;
      void m2.rotation.settled().then(() => {
        over = true;
      });
      await Promise.resolve();
      await Promise.resolve();
      return over;
    };
    await expect.poll(isImmediate).toBe(true);
  });
});

it('a record that nobody can have written changes nothing', async () => {
  const m1 = await start('m1');
  const reg = fabric.registry.bucket<Value>('reg');
  const { key, since } = m1.aes.current;
  const forged: Value[] = [
    null,
    { generation: 9, key: 'short', since },
    { generation: 2 ** 60, key, since },
    { generation: 1, key, since, next: { generation: 7, key, since } },
  ];
  for (const value of forged) {
    const entry = await reg.get('aes');
    await reg.update('aes', value, entry?.revision ?? 0);
  }
  expect(m1.uses).toBe(1);
  await expect(m1.rotation.rotate()).rejects.toThrow('no readable record');
});

it('secrets come from the own disk while the engine is away, and are given anew when it lost them', async () => {
  const member = fabric.join('m1');
  const folder = mkdtempSync(join(root, 'm1-'));
  const log = nullLogger();
  const first = await loadSharedSecrets({ cluster: member, folder, log, before: {} });
  const away = {
    name: 'test',
    registry: { ...member.registry, bucket: () => ({ ...member.registry.bucket<never>('reg'), get: gone }) },
  };
  expect(await loadSharedSecrets({ cluster: away, folder, log, before: {} })).toEqual(first);
  const never = loadSharedSecrets({ cluster: away, folder: mkdtempSync(join(root, 'm2-')), log, before: {} });
  await expect(never).rejects.toThrow('cannot start');
  const empty = new Fabric().join('m1');
  const anew = await loadSharedSecrets({ cluster: empty, folder, log, before: {} });
  expect(anew.base).toEqual(first.base);
  expect(anew.aes.generation).toBe(2);
  expect(anew.aes.key).not.toBe(first.aes.key);
});

async function gone(): Promise<never> {
  throw new HaliteError('cluster.cut-off', 'no word from the engine');
}
