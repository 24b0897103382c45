// Keys of minions on several members: one decision for all, whoever makes it and however.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { KeyAct } from '../../store/keys.ts';
import { KeyStore } from '../../store/keys.ts';
import { newBackup } from './backup.ts';
import { tokenOf } from './key-records.ts';
import { SharedKeyStore } from './key-store.ts';
import { SharedKeys } from './keys.ts';
import { Fabric, type FabricMember } from './testing.ts';

const [keyA, keyB] = ['A', 'B'].map((name) => `-----BEGIN PUBLIC KEY-----\n${name}\n-----END PUBLIC KEY-----\n`) as [
  string,
  string,
];
let root: string;
let fabric: Fabric;
const running: Master[] = [];

class Master {
  readonly member: FabricMember;
  readonly keys: SharedKeyStore;
  readonly shared: SharedKeys;
  readonly heard: [KeyAct, string][] = [];
  readonly pki: string;

  constructor(id: string) {
    this.pki = join(root, id, 'pki');
    const cachedir = join(root, id, 'cache');
    mkdirSync(cachedir, { recursive: true });
    this.member = fabric.get(id) ?? fabric.join(id);
    this.keys = new SharedKeyStore(this.pki);
    this.keys.prepare();
    this.shared = new SharedKeys({
      cluster: this.member,
      files: new KeyStore(this.pki),
      index: Buffer.alloc(32, 1),
      folder: cachedir,
      backup: () => newBackup(cachedir),
      log: nullLogger(),
    });
    this.shared.onForeign((act, minion) => this.heard.push([act, minion]));
    running.push(this);
  }

  async start(): Promise<this> {
    await this.shared.start();
    this.keys.share(this.shared, this.member.self.id);
    return this;
  }
  path(state: KeyState, id: string): string {
    return this.keys.path(state, id);
  }
  /** What the folders show, as `accepted:web1=A`. */
  shows(): string[] {
    const states: KeyState[] = ['accepted', 'denied', 'pending', 'rejected'];
    return states.flatMap((state) =>
      readdirSync(this.keys.folder(state))
        .filter((name) => !name.startsWith('.'))
        .map((name) => `${state}:${name}=${readFileSync(this.path(state, name), 'utf8').split('\n')[1]}`),
    );
  }
  cut(): void {
    this.member.change({ kind: 'state', state: { kind: 'cut-off', since: 0, why: 'test' } });
  }
  heal(): void {
    this.member.change({ kind: 'state', state: { kind: 'joined', since: 0 } });
  }
}

const start = (id: string): Promise<Master> => new Master(id).start();
const conflict = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(HaliteError);
  expect((error as HaliteError).code).toBe('cluster.conflict');
  return (error as HaliteError).message;
};
const all = async (masters: Master[], wanted: string[]): Promise<void> => {
  await expect.poll(() => masters.map((master) => master.shows())).toEqual(masters.map(() => wanted));
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-shared-keys-'));
  fabric = new Fabric();
});
afterEach(() => {
  for (const master of running.splice(0)) master.shared.close();
  rmSync(root, { recursive: true, force: true });
});

describe('a decision', () => {
  it('is shown in the folders of all members', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    await m1.keys.write('pending', 'web1', keyA);
    await all([m1, m2], ['pending:web1=A']);
    await m2.keys.move('web1', 'pending', 'accepted');
    await all([m1, m2], ['accepted:web1=A']);
    // The file is moved first.
    await expect.poll(() => m1.heard).toEqual([['accept', 'web1']]);
    await m1.keys.delete('accepted', 'web1');
    await all([m1, m2], []);
    await expect.poll(() => m2.heard.at(-1)).toEqual(['delete', 'web1']);
  });

  it('loses against one that another member made at the same time, and the folders show that one', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    await m1.keys.write('pending', 'web1', keyA);
    await all([m1, m2], ['pending:web1=A']);
    const results = await Promise.allSettled([
      m1.keys.move('web1', 'pending', 'accepted'),
      m2.keys.move('web1', 'pending', 'rejected'),
    ]);
    const lost = results.filter(({ status }) => status === 'rejected');
    expect(lost.length).toBeLessThanOrEqual(1);
    const agree = (): boolean => m1.shows().length === 1 && m1.shows().join() === m2.shows().join();
    await expect.poll(() => agree()).toBe(true);
  });

  it('is refused with the name of who decided otherwise, when this member had not heard of it', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    m2.shared.close();
    await m1.keys.write('rejected', 'web1', keyA, 'sign-in from 10.0.0.7');
    expect(await conflict(m2.keys.write('pending', 'web1', keyB))).toMatch(
      /The key of web1 is rejected.*sign-in from 10.0.0.7 at m1/,
    );
    expect(m2.shows()).toEqual(['rejected:web1=A']);
  });

  it('counts when the one that it follows was only written again, as after a loss of the engine', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    await m1.keys.write('accepted', 'web1', keyA);
    await all([m1, m2], ['accepted:web1=A']);
    m2.shared.close();
    const [bucket, token] = [fabric.registry.bucket<Value>('keys'), tokenOf(Buffer.alloc(32, 1), 'web1')];
    const entry = (await bucket.get(token))!;
    // What is not a decision may have changed meanwhile, and stays.
    await bucket.update(token, { ...(entry.value as PlainDict), session: 3 }, entry.revision);
    await m2.keys.delete('accepted', 'web1');
    await all([m1, m2], []);
    expect((await bucket.get(token))?.value).toMatchObject({ state: 'gone', session: 3 });
  });

  it('made twice at once is one: the first sign-in at two members', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    await Promise.all([m1.keys.write('pending', 'web1', keyA), m2.keys.write('pending', 'web1', keyA)]);
    await all([m1, m2], ['pending:web1=A']);
  });

  it('about another key of a known id is denied everywhere', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    await m1.keys.write('accepted', 'web1', keyA);
    await m2.keys.write('denied', 'web1', keyB);
    await all([m1, m2], ['accepted:web1=A', 'denied:web1=B']);
    // As "salt-key -a" does it: the other key is the right one after all.
    await m1.keys.move('web1', 'denied', 'accepted');
    await all([m1, m2], ['accepted:web1=B']);
  });
});

describe('files', () => {
  it('of the first member become those of the cluster, and of later ones they are replaced, with a copy', async () => {
    const m1 = new Master('m1');
    for (const [id, key] of [
      ['web1', keyA],
      ['web2', keyA],
    ] as const)
      writeFileSync(m1.path('accepted', id), key);
    await m1.start();
    const m2 = new Master('m2');
    writeFileSync(m2.path('accepted', 'web1'), keyB);
    writeFileSync(m2.path('accepted', 'stranger'), keyB);
    await m2.start();
    expect(m2.shows()).toEqual(['accepted:web1=A', 'accepted:web2=A']);
    expect(m1.shows()).toEqual(['accepted:web1=A', 'accepted:web2=A']);
    const { ids, folder } = m2.shared.overruled ?? { ids: [], folder: '' };
    expect([...ids].sort()).toEqual(['stranger', 'web1']);
    expect(readFileSync(join(folder, 'keys/minions/stranger'), 'utf8')).toBe(keyB);
    expect(readFileSync(join(folder, 'keys/minions/web1'), 'utf8')).toBe(keyB);
  });

  it('of a restored backup do not revive a deleted key', async () => {
    const m1 = await start('m1');
    await m1.keys.write('accepted', 'web1', keyA);
    await m1.keys.delete('accepted', 'web1');
    m1.shared.close();
    writeFileSync(m1.path('accepted', 'web1'), keyA);
    const again = await start('m1');
    expect(again.shows()).toEqual([]);
    expect(again.shared.overruled?.ids).toEqual(['web1']);
  });

  it('changed by hand while the master runs are a decision', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    await m1.keys.write('pending', 'web1', keyA);
    await all([m1, m2], ['pending:web1=A']);
    rmSync(m2.path('pending', 'web1'));
    writeFileSync(m2.path('accepted', 'web1'), keyA);
    writeFileSync(m2.path('accepted', 'web2'), keyB);
    await m2.shared.scan('salt-key');
    await all([m1, m2], ['accepted:web1=A', 'accepted:web2=B']);
    expect(m1.keys.decidedBy('web2')).toBe('salt-key at m2');
    rmSync(m1.path('accepted', 'web2'));
    await m1.shared.scan();
    await all([m1, m2], ['accepted:web1=A']);
  });

  it('with names that are no ids stay where they are', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    writeFileSync(m1.path('pending', 'no id\u0007'), keyA);
    await m1.shared.scan();
    await m1.keys.write('pending', 'web1', keyA);
    await expect.poll(() => m2.shows()).toEqual(['pending:web1=A']);
    expect(m1.shows()).toHaveLength(2);
  });
});

describe('while a member is cut off', () => {
  it.each([
    ['reject', 'delete', []],
    ['delete', 'reject', []],
    ['accept', 'reject', ['rejected:web1=A']],
    ['reject', 'accept', ['rejected:web1=A']],
    ['accept', 'accept', ['accepted:web1=A']],
  ] as const)('“%s” there and “%s” here end in the stricter one', async (there, here, wanted) => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    await m1.keys.write('pending', 'web1', keyA);
    await all([m1, m2], ['pending:web1=A']);
    const act = ({ keys }: Master, what: typeof here | typeof there): Promise<unknown> =>
      what === 'delete'
        ? keys.delete('pending', 'web1')
        : keys.move('web1', 'pending', what === 'accept' ? 'accepted' : 'rejected');
    m2.cut();
    await act(m2, there);
    await act(m1, here);
    m2.heal();
    await all([m1, m2], [...wanted]);
  });

  it('its decisions are told again when the engine refuses at the moment of joining', async () => {
    const m1 = await start('m1');
    let refusals = 0;
    const member = fabric.join('m2');
    const bucket: typeof member.registry.bucket = (name) => {
      const real = fabric.registry.bucket(name);
      const get = async (key: string): Promise<never> => {
        if (refusals-- > 0) throw new HaliteError('cluster.cut-off', 'temporarily unavailable');
        return real.get(key) as Promise<never>;
      };
      return new Proxy(real, {
        get: (target, word) => {
          if (word === 'get') return get;
          const found: unknown = Reflect.get(target, word);
          return typeof found === 'function' ? found.bind(target) : found;
        },
      }) as never;
    };
    Object.assign(member, { registry: { ...fabric.registry, bucket } });
    const m2 = await start('m2');
    await m1.keys.write('accepted', 'web1', keyA);
    await all([m1, m2], ['accepted:web1=A']);
    m2.cut();
    await m2.keys.delete('accepted', 'web1');
    refusals = 1;
    m2.heal();
    await all([m1, m2], []);
  });

  it('its decisions survive a restart', async () => {
    const [m1, m2] = [await start('m1'), await start('m2')];
    m2.cut();
    await m2.keys.write('accepted', 'web1', keyA);
    expect(m2.shows()).toEqual(['accepted:web1=A']);
    m2.shared.close();
    m2.heal();
    const again = await start('m2');
    await all([m1, again], ['accepted:web1=A']);
  });
});

it('records that nobody can have written are ignored', async () => {
  const m1 = await start('m1');
  const bucket = fabric.registry.bucket('keys');
  const forged = [
    null,
    'text',
    { id: '../../etc/cron.d/x', state: 'accepted', pem: keyA },
    { id: 'web1', state: 'accepted', pem: 'x'.repeat(50_000) },
    { id: 'web1', state: 'god', pem: keyA },
    { id: 'web1', state: 'accepted', pem: '' },
    // Well formed, under the name of another id.
    { id: 'web1', state: 'accepted', pem: keyA },
  ];
  for (const [n, value] of forged.entries()) await bucket.create(`t${n}`, value);
  await m1.keys.write('pending', 'web2', keyB);
  expect(m1.shows()).toEqual(['pending:web2=B']);
});
