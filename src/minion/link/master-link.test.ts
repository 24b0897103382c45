import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { Crypticle, signPkcs1 } from '../../base/crypto/index.ts';
import { memoryLogger } from '../../base/log/testing.ts';
import { durableField } from '../../protocol/job/verdict.ts';
import { jobFields } from '../../protocol/wire/messages/job.ts';
import { readBoot, readPresenceTopic, verifyPresence } from '../../protocol/wire/presence-topic.ts';
import { RecentJobs } from '../jobs/recent-jobs.ts';
import { loadIdentity } from './identity.ts';
import { MasterLink } from './master-link.ts';
import { Receiver } from './receive.ts';
import { eventually, FakeMaster, recorded, testFolder, testKeys, testOpts } from './testing.ts';
import { MasterTrust } from './trust.ts';

let folder: ReturnType<typeof testFolder>;
let master: FakeMaster;
const links: MasterLink[] = [];

beforeEach(() => {
  folder = testFolder();
  master = new FakeMaster();
  mkdirSync(join(folder.path, 'pki'));
  writeFileSync(join(folder.path, 'pki', 'minion.pem'), testKeys.minion.pem, { mode: 0o400 });
  writeFileSync(join(folder.path, 'pki', 'minion.pub'), testKeys.minion.pub);
});
afterEach(() => {
  for (const link of links.splice(0)) link.stop();
  folder.remove();
});

async function connect(overrides: Record<string, Value> = {}) {
  const opts = testOpts(folder.path, newDict(Object.entries({ random_reauth_delay: 0, ...overrides })));
  const memory = memoryLogger();
  const jobs: Dict[] = [];
  const ready: string[] = [];
  const link = new MasterLink({
    opts,
    address: { host: 'salt.example', port: 4506 },
    identity: await loadIdentity(opts),
    trust: await MasterTrust.load(opts),
    transport: master.transport,
    log: memory.log,
    boot: 'b00t',
    recent: new RecentJobs(100),
    grains: async () =>
      newDict([
        ['os', 'Test'],
        ['role', 'web'],
      ]),
    isTarget: async (_link, { tgt }) => tgt === '*' || tgt === 'm1',
    onJob: (_link, job) => void jobs.push(jobFields(job)),
    onReady: (self) => void ready.push(self.state),
    onPillar: () => undefined,
  });
  links.push(link);
  return { link, jobs, ready, memory, opts };
}
const job = (jid: string, more: Record<string, Value> = {}): PlainDict =>
  newDict(
    Object.entries({ fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', jid, ret: '', user: 'root', ...more }),
  );
const commands = () => master.requests.map((load) => [load['cmd'], load['tag'] ?? null]);

describe('a link', () => {
  it('signs in, fetches the verified pillar, subscribes with presence and announces itself', async () => {
    const { link, ready } = await connect({ start_event_grains: ['role'] });
    await link.start();
    expect(link.pillar).toEqual(newDict([['from', 'master']]));
    expect(commands()).toEqual([
      ['_pillar', null],
      ['_minion_event', 'minion_start'],
      ['_minion_event', 'salt/minion/m1/start'],
    ]);
    expect(master.requests[0]).toMatchObject({ id: 'm1', ver: '2', grains: { os: 'Test' }, pillar_override: {} });
    expect(master.requests[2]?.['data']).toMatch(/^Minion m1 started at \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/);
    expect(master.requests[2]?.['grains']).toEqual(newDict([['role', 'web']]));
    const claim = readPresenceTopic(master.presence[0]!)!;
    expect(claim).toMatchObject({ id: 'm1', boot: expect.stringMatching(/^b00t~\d+~/) });
    expect(readBoot(claim.boot).pid).toBe(process.pid);
    expect(verifyPresence(claim, master.session.keyString)).toBe(true);
    expect(master.subscriber).toMatchObject({ host: 'salt.example', port: 14505, id: 'm1' });
    await eventually(() => ready.length === 1);
    expect(link.ready).toBe(true);
  });

  it('refuses a pillar that was tampered with, and keeps the old one', async () => {
    const { link, memory } = await connect();
    await link.start();
    const real = master.key;
    master.key = (await import('node:crypto')).generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    expect(await link.loadPillar()).toBe(false);
    expect(link.pillar).toEqual(newDict([['from', 'master']]));
    expect(memory.lines.join('\n')).toContain('has a wrong signature');
    master.key = real;
    master.pillar = newDict([['new', true]]);
    expect(await link.loadPillar()).toBe(true);
    expect(link.pillar).toEqual(newDict([['new', true]]));
  });

  it('signs in again and resends once when the master no longer has its keys', async () => {
    const { link } = await connect();
    await link.start();
    master.session = new Crypticle(Crypticle.generateKeyString());
    master.handle = (load) => load['cmd'] ?? null;
    const before = master.signIns;
    // Concurrent requests share one sign-in.
    const answers = await Promise.all(
      [1, 2, 3].map(() => link.request(newDict([['cmd', '_mine_get']]), { timeoutMs: 20_000 })),
    );
    expect(answers).toEqual(['_mine_get', '_mine_get', '_mine_get']);
    expect(master.signIns).toBe(before + 1);
    expect(master.presence).toHaveLength(2);
    master.plainReplies.push('bad load', 'bad load');
    await expect(link.request(newDict([['cmd', 'x']]), { timeoutMs: 20_000 })).rejects.toMatchObject({
      code: 'auth.failed',
    });
    master.plainReplies.push('Server-side exception handling payload');
    await expect(link.request(newDict([['cmd', 'x']]), { timeoutMs: 20_000 })).rejects.toThrow('Server-side exception');
  });

  it('waits for a cluster member that is not ready', async () => {
    const { link } = await connect();
    await link.start();
    master.plainReplies.push({ enc: 'clear', load: { ret: false, cluster_retry: true } });
    master.handle = () => 'ok';
    expect(await link.request(newDict([['cmd', 'x']]), { timeoutMs: 20_000 })).toBe('ok');
  });

  it('accepts the job that follows a rotation of the shared key', async () => {
    const { link, jobs } = await connect();
    await link.start();
    master.publish(job('20200101000000000001'));
    await eventually(() => jobs.length === 1);
    master.rotate();
    master.publish(job('20200101000000000002'));
    master.publish(job('20200101000000000003'));
    await eventually(() => jobs.length === 3);
    expect(jobs.map((item) => (item as PlainDict)['jid'])).toEqual(
      ['1', '2', '3'].map((n) => `2020010100000000000${n}`),
    );
    expect(master.signIns).toBe(2);
  });

  it('renews its keys after a reconnection and reports that it is ready again', async () => {
    const { link, ready } = await connect();
    await link.start();
    await eventually(() => ready.length === 1);
    master.subscriber?.onState('disconnected', 'gone');
    expect([link.state, link.ready]).toEqual(['disconnected', false]);
    master.rotate();
    master.subscriber?.onState('connected', '');
    await eventually(() => master.signIns === 2 && link.ready && ready.length >= 2);
  });

  it('uses the old format with an old master', async () => {
    master.generation = 2;
    const { link } = await connect({ minimum_master_version: 2 });
    await link.start();
    expect(link.credentials?.generation).toBe(2);
    expect(master.presence).toEqual([]);
  });
});

describe('receiving jobs', () => {
  async function receiver(more: { requireSignature?: boolean; recent?: RecentJobs } = {}) {
    const { link, jobs } = await connect();
    await link.start();
    const log = memoryLogger().log;
    const made = new Receiver({
      log,
      master: 'm1:4506',
      requireSignature: more.requireSignature ?? false,
      credentials: () => link.credentials,
      renew: (stale) => link.renew(stale),
      otherKeys: () => [],
      recent: more.recent ?? new RecentJobs(2),
      isTarget: async ({ tgt }) => tgt === '*',
      accept: (accepted) => void jobs.push(jobFields(accepted)),
    });
    return { receive: (payload: Uint8Array) => made.receive(payload), jobs };
  }
  const payload = (jid: string, more: Record<string, Value> = {}, change?: (envelope: PlainDict) => void) =>
    master.publishPayload(job(jid, more), change);

  it('accepts publishes that are signed, fresh and for this minion', async () => {
    const { receive, jobs } = await receiver();
    const message = payload('20200101000000000001');
    expect(await receive(message)).toBe('accepted');
    expect(jobs).toEqual([job('20200101000000000001')]);
    expect(await receive(message)).toBe('replayed');
    expect(await receive(payload('20200101000000000001'))).toBe('repeated');
    expect(await receive(payload('20200101000000000002', { tgt: 'other' }))).toBe('not-targeted');
  });

  it('drops forged publishes, unsigned ones if configured, and garbage', async () => {
    const { receive, jobs } = await receiver({ requireSignature: true });
    expect(await receive(payload('20200101000000000001', {}, (e) => void delete e['sig']))).toBe('unsigned');
    expect(
      await receive(
        payload('20200101000000000002', {}, (e) => {
          e['sig'] = Buffer.alloc(256);
        }),
      ),
    ).toBe('forged');
    expect(
      await receive(
        payload('20200101000000000003', {}, (e) => {
          e['sig_algo'] = 'none';
        }),
      ),
    ).toBe('forged');
    expect(await receive(payload('20200101000000000004', {}, (e) => void delete e['sig_algo']))).toBe('accepted');
    expect(
      await receive(
        payload('20200101000000000005', {}, (e) => {
          e['enc'] = 'clear';
        }),
      ),
    ).toBe('malformed');
    expect(await receive(Buffer.from([0xc1]))).toBe('malformed');
    expect(await receive(payload('', {}))).toBe('malformed');
    expect(await receive(payload('20200101000000000006', { fun: 5 }))).toBe('malformed');
    expect(await receive(payload('20200101000000000007', { tgt: { a: 1 } }))).toBe('malformed');
    const foreign = new Crypticle(Crypticle.generateKeyString()).seal(job('20200101000000000008'));
    const forged = payload('x', {}, (e) => Object.assign(e, { load: foreign, sig: signPkcs1(master.key, foreign) }));
    expect(await receive(forged)).toBe('undecryptable');
    expect(jobs).toHaveLength(1);
  });

  it('requires a signature from a master that signs, even where it is not configured', async () => {
    master.halite = false;
    const { receive } = await receiver();
    const unsigned = (n: number) => payload(`2020010100000000000${n}`, {}, (e) => void delete e['sig']);
    expect(await receive(unsigned(1))).toBe('accepted');
    expect(await receive(payload('20200101000000000002'))).toBe('accepted');
    expect(await receive(unsigned(3))).toBe('unsigned');
  });

  it('does not sign in for every garbage message', async () => {
    master.halite = false;
    const { receive } = await receiver();
    const before = master.signIns;
    const garbage = () =>
      payload('x', {}, (envelope) => {
        envelope['load'] = Buffer.alloc(128, 0xff);
        delete envelope['sig'];
      });
    for (let n = 0; n < 5; n++) expect(await receive(garbage())).toBe('undecryptable');
    expect(master.signIns).toBe(before + 1);
  });

  it('drops what an earlier process of this minion has received', async () => {
    const place = { file: join(folder.path, 'recent'), log: memoryLogger().log };
    const restarted = async () => {
      const recent = new RecentJobs(2, place);
      await recent.restore();
      return { ...(await receiver({ recent })), recent };
    };
    const first = await restarted();
    const recorded = ['1', '2', '3'].map((end) => payload(`2020010100000000000${end}`));
    for (const message of recorded) expect(await first.receive(message)).toBe('accepted');
    const durable = { [durableField]: 60 };
    expect(await first.receive(payload('20200101000000000009', durable))).toBe('accepted');
    expect(await first.receive(payload('20200101000000000009', durable))).toBe('repeated');
    await first.recent.flush();
    const second = await restarted();
    for (const message of recorded) expect(await second.receive(message)).toBe('replayed');
    expect(await second.receive(payload('20200101000000000003'))).toBe('repeated');
    expect(await second.receive(payload('20200101000000000004'))).toBe('accepted');
    // A durable job that is delivered again is handled by the memory of durable jobs.
    expect(await second.receive(payload('20200101000000000009', durable))).toBe('accepted');
    // Another key starts again.
    master.aes = new Crypticle(Crypticle.generateKeyString());
    master.serial = 0;
    expect(await second.receive(payload('20200101000000000005'))).toBe('accepted');
  });

  it('goes on with the serials of each master, although those of a cluster have one key', async () => {
    const place = { file: join(folder.path, 'recent'), log: memoryLogger().log };
    const recent = new RecentJobs(10, place);
    const keyString = Crypticle.generateKeyString();
    const sealed = (serial: number): Buffer => new Crypticle(keyString).seal(newDict([['serial', serial]]));
    // Each sign-in gives another instance of the key.
    const receives = (from: string, serial: number, by = recent): boolean => {
      const aes = new Crypticle(keyString);
      by.resume(aes, from);
      const isNew = aes.openPublish(sealed(serial)) !== undefined;
      by.opened(aes);
      return isNew;
    };
    expect([receives('m1:4506', 100), receives('m2:4506', 100)]).toEqual([true, true]);
    // m1 is cut off: the others go on counting, and the minion signs in at m1 again.
    expect([receives('m2:4506', 900), receives('m1:4506', 101)]).toEqual([true, true]);
    expect([receives('m1:4506', 101), receives('m2:4506', 900)]).toEqual([false, false]);
    await recent.flush();
    const next = new RecentJobs(10, place);
    await next.restore();
    expect([receives('m1:4506', 101, next), receives('m2:4506', 900, next)]).toEqual([false, false]);
    expect([receives('m1:4506', 102, next), receives('m2:4506', 901, next)]).toEqual([true, true]);
  });

  it('starts empty when the stored data is damaged', async () => {
    const file = join(folder.path, 'recent');
    for (const text of ['', '{"jids": 7, "serials": [1]}', '[]', 'null']) {
      writeFileSync(file, text);
      const recent = new RecentJobs(2, { file, log: memoryLogger().log });
      await recent.restore();
      expect(recent.add('20200101000000000001')).toBe(true);
      await recent.flush();
    }
  });

  it('stores a limited number of job ids', () => {
    const recent = new RecentJobs(2);
    expect(['a', 'b', 'a', 'c', 'a'].map((jid) => recent.add(jid))).toEqual([true, true, false, true, true]);
  });

  it('remembers more of them itself than it stores for the next process', async () => {
    const place = { file: join(mkdtempSync(join(tmpdir(), 'halite-recent-')), 'recent'), log: memoryLogger().log };
    const jids = Array.from({ length: 1000 }, (_, n) => `2020010100000000${String(n).padStart(4, '0')}`);
    const recent = new RecentJobs(100, place, 1000);
    for (const jid of jids) expect(recent.add(jid)).toBe(true);
    // Sent again by another master after it was cut off.
    for (const jid of jids) expect(recent.add(jid)).toBe(false);
    await recent.flush();
    const next = new RecentJobs(100, place, 1000);
    await next.restore();
    expect(jids.map((jid) => next.add(jid)).filter((isNew) => !isNew)).toHaveLength(100);
    rmSync(dirname(place.file), { recursive: true, force: true });
  });

  it.each(['3006.27', '3007.14', '3008.2'])('reads the recorded publish of %s', async (version) => {
    const vector = recorded(version);
    const accepted: Dict[] = [];
    const { link } = await connect();
    await link.start();
    const keys = { ...link.credentials!, aes: new Crypticle(vector.aes_key_string) };
    const made = new Receiver({
      log: memoryLogger().log,
      master: 'm1:4506',
      requireSignature: true,
      credentials: () => keys,
      renew: async () => keys,
      otherKeys: () => [],
      recent: new RecentJobs(2),
      isTarget: async () => true,
      accept: (item) => void accepted.push(jobFields(item)),
    });
    expect(await made.receive(Buffer.from(vector.publish.zmq_single_frame_b64, 'base64'))).toBe('accepted');
    expect({ ...accepted[0] }).toEqual(vector.publish.job);
  });
});
