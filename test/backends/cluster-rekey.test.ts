// A new key for what members tell each other, on real nats-servers: nobody loses anything, who was away follows, and who was
// forgotten does not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterEach, describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../src/base/codec/value.ts';
import { memoryLogger } from '../../src/base/log/testing.ts';
import { busKeyFile, busKeysOf, fileBusKeys } from '../../src/engine/cluster/bus-keys.ts';
import type { LedgerItem } from '../../src/engine/cluster/messages.ts';
import { Envelope } from '../../src/engine/cluster/nats/envelope.ts';
import { slotKey, slotRecord, slotValue } from '../../src/engine/cluster/slots.ts';
import { Rekey } from '../../src/master/shared/rekey.ts';
import { openMember, publication, removeMember, result, type TestMember } from '../support/cluster-member.ts';
import { eventually } from '../support/eventually.ts';
import { type NatsCluster, natsPrograms, startNats } from '../support/servers/nats.ts';

const jid = '20261118120000000000';
const now = { minutes: 0, dryRun: false };

interface Running extends TestMember {
  readonly rekey: Rekey;
  /** Publications and results that it read, in order. */
  readonly published: string[];
  readonly results: string[];
}

describe.each(natsPrograms())('the key of a cluster on nats-server $name', ({ program }) => {
  let nats: NatsCluster;
  const members: Running[] = [];
  const folders = new Map<string, TestMember>();

  const open = async (id: string, folder?: string): Promise<Running> => {
    const member = await openMember({ id, servers: nats.servers, hasIdentity: true, ...(folder ? { folder } : {}) });
    const { cluster } = member;
    const [published, results]: [string[], string[]] = [[], []];
    cluster.relay.onPublication(async (message) => {
      if (message.kind === 'job') published.push(message.job.jid);
    });
    const follow = async ({ items }: { items: readonly LedgerItem[] }): Promise<void> => {
      for (const item of items) if (item.kind === 'ret') results.push(item.id);
    };
    void cluster.ledger.follow(undefined, follow, new AbortController().signal);
    const rekey = new Rekey({
      cluster,
      keyring: cluster.keyring!,
      log: memoryLogger().log,
      lookMs: 100,
    });
    const running = { ...member, rekey, published, results };
    members.push(running);
    folders.set(id, member);
    await eventually(`${id} to join`, () => cluster.state.kind === 'joined');
    return running;
  };
  const close = async (member: Running): Promise<void> => {
    members.splice(members.indexOf(member), 1);
    member.rekey.close();
    await member.close();
  };
  const together = (): Promise<void> =>
    eventually('all to see each other', () =>
      members.every(({ cluster }) => cluster.members().length === members.length && cluster.leader() !== undefined),
    );
  const keysOf = ({ folder }: TestMember): number[] => [
    ...busKeysOf(readFileSync(join(folder, busKeyFile), 'utf8'), busKeyFile).keys(),
  ];
  afterEach(async () => {
    for (const member of [...members]) await close(member);
    for (const member of folders.values()) removeMember(member);
    folders.clear();
    await nats.stop();
  });

  it('changes while all work; one that was away follows, also two changes', async () => {
    nats = await startNats(program);
    const [m1, m2, m3] = [await open('m1'), await open('m2'), await open('m3')];
    await together();
    const bucket = m1.cluster.registry.bucket<Value>('keys');
    for (let n = 0; n < 300; n++) await bucket.create(`key${n}`, n);
    await bucket.remove('key7');
    await close(m3);
    await together();
    const sent: string[] = [];
    let goesOn = true;
    const work = async (member: Running): Promise<void> => {
      for (let n = 0; goesOn; n++) {
        const name = `${member.id}-${n}`;
        sent.push(name);
        await member.cluster.relay.publish(name, publication(name), 15_000);
        await member.cluster.ledger.append(result(jid, name));
        const entry = await bucket.get('key1');
        await bucket.update('key1', name, entry!.revision).catch(() => undefined);
      }
    };
    const working = [m1, m2].map(work);
    expect(await m2.rekey.rekey({ minutes: 60, dryRun: true })).toMatch(
      /make the key 2 .* m1, m2, m3;.*\nNot running now, and take it when they start: m3\..*\nNothing was changed/s,
    );
    expect([m1, m2].map(({ cluster }) => cluster.keyring!.newest)).toEqual([1, 1]);
    expect(await m2.rekey.rekey(now)).toBe(
      'All masters have the key 2 of the cluster and use it. The old one opens nothing any more.',
    );
    await eventually('both to forget the old one', () => keysOf(m1).join() === '2' && keysOf(m2).join() === '2');
    expect(await m1.rekey.rekey(now)).toMatch(/the key 3 .*any more/);
    goesOn = false;
    await Promise.all(working);
    for (const member of [m1, m2]) {
      await eventually('every publication and result', () =>
        [member.published, member.results].every((all) => sent.every((name) => all.includes(name))),
      );
      expect(member.cluster.report()!.refused).not.toHaveProperty('unknown-key');
    }
    expect(m1.published).toEqual(m2.published);
    // It has the first key only; each of the two others is sealed for it, with the one before.
    expect(keysOf(m3)).toEqual([1]);
    const back = await open('m3', m3.folder);
    await together();
    expect(back.cluster.keyring!.newest).toBe(3);
    await eventually('it to forget the old ones', () => keysOf(back).join() === '3');
    const values = await Promise.all(
      Array.from({ length: 300 }, (_, n) => back.cluster.registry.bucket('keys').get(`key${n}`)),
    );
    expect(values.flatMap((entry, n) => (entry?.value === (n === 1 ? undefined : n) ? [] : [n]))).toEqual([1, 7]);
    await back.cluster.relay.publish('back', publication('back'), 20_000);
    await eventually('the others to hear it', () => [m1, m2].every(({ published }) => published.includes('back')));
  });

  it('has no place for one that was forgotten, nor for what is sealed with an ended key', async () => {
    nats = await startNats(program);
    const [m1, m2] = [await open('m1'), await open('m2')];
    await together();
    await close(m2);
    await together();
    const old = fileBusKeys(join(m2.folder, busKeyFile));
    const reg = m1.cluster.registry.bucket<Value>('reg');
    const entry = (await reg.get(slotKey(1)))!;
    const record = slotRecord(entry.value)!;
    await reg.update(slotKey(1), slotValue({ ...record, freeAt: Date.now() + 60_000 }), entry.revision);
    expect(await m1.rekey.rekey(now)).toMatch(/any more/);
    await eventually('the end of the old key', () => keysOf(m1).join() === '2');
    await expect(open('m2', m2.folder)).rejects.toThrow(/m2 does not get the new one: it was forgotten/);
    expect(m1.cluster.members().map(({ id }) => id)).toEqual(['m1']);
    // Whoever kept the old key and the way to the servers.
    const stranger = await connect({ servers: nats.servers[0]!.replace('nats://', '') });
    const subject = 'halite.test.pub';
    const thief = new Envelope('test', old);
    thief.takeSlot(0);
    stranger.publish(subject, thief.seal(subject, newDict()).bytes);
    // A number that nobody offers.
    const strange = thief.seal(subject, newDict()).bytes;
    strange[1] = 200;
    stranger.publish(subject, strange);
    await stranger.flush();
    await m1.cluster.relay.publish('own', publication('own'), 20_000);
    await eventually('what follows', () => m1.published.includes('own'));
    expect(m1.published).toEqual(['own']);
    const refused = Object.keys(m1.cluster.report()!.refused);
    expect(refused).toEqual(expect.arrayContaining(['retired-key', 'unknown-key']));
    await stranger.close();
  });

  it('goes on after the end of the one that began it, and waits for one that cannot take the key', async () => {
    nats = await startNats(program);
    const [m1, m2] = [await open('m1'), await open('m2')];
    // Without the part that says what it has, as an older version.
    const m3 = await openMember({ id: 'm3', servers: nats.servers, hasIdentity: true });
    await eventually('all to be there', () => m2.cluster.members().length === 3);
    const { cluster } = m2;
    const hasty = new Rekey({ cluster, keyring: cluster.keyring!, log: memoryLogger().log, confirmMs: 500 });
    await expect(hasty.rekey(now)).rejects.toThrow(/These masters have not taken the new key: .*m3/);
    hasty.close();
    expect(m2.cluster.keyring!.current).toBe(1);
    await m3.close();
    removeMember(m3);
    await together();
    // It ends after the key was made: nobody seals with it yet.
    expect(await m1.cluster.keyring!.make()).toBe(2);
    await close(m1);
    await together();
    expect(await m2.rekey.rekey({ minutes: 60, dryRun: false })).toMatch(/the key 2 .* opens nothing from 20/);
    const again = await open('m1', m1.folder);
    await together();
    expect(again.cluster.keyring!.current).toBe(2);
    expect(keysOf(again)).toEqual([1, 2]);
    // The end is made earlier by the same command; another leader does it.
    await close(m2);
    await together();
    expect(await again.rekey.rekey(now)).toMatch(/the key 2 .*any more/);
    await eventually('the end of the old key', () => keysOf(again).join() === '2');
  });
});
