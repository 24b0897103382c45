import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pack } from '../../../base/codec/msgpack/index.ts';
import { newDict, type Value } from '../../../base/codec/value.ts';
import { cleanKey } from '../../../base/crypto/index.ts';
import { memoryLogger } from '../../../base/log/testing.ts';
import { identityOf, newIdentityPem } from '../../../engine/cluster/identity.ts';
import { invitationLine, readInvitation, verifierOf } from '../../../engine/cluster/joining/invitation.ts';
import { type JoinRequest, openHandover, readAnswer, requestBytes } from '../../../engine/cluster/joining/messages.ts';
import { readClusterOptions } from '../../../engine/cluster/options.ts';
import { slotKey, slotValue } from '../../../engine/cluster/slots.ts';
import { Fabric } from '../testing.ts';
import { Invitations } from './invitations.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
let folder: string;
let fabric: Fabric;
let lines: readonly string[];
let invitations: Invitations;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  folder = mkdtempSync(join(tmpdir(), 'halite-invitations-'));
  const { privateKey, publicKey } = pair;
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const file = join(folder, 'master.pem');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(folder, 'master.pub'), pem);
  writeFileSync(join(folder, 'cluster_bus.key'), `1 ${randomBytes(32).toString('base64')}\n`);
  fabric = new Fabric();
  const made = memoryLogger();
  lines = made.lines;
  const raw = newDict([
    ['peer', newDict()],
    ['conf_file', '/etc/salt/master'],
  ] as [string, Value][]);
  invitations = new Invitations({
    cluster: fabric.join('m1'),
    options: readClusterOptions(
      newDict([
        ['name', 'test'],
        ['servers', ['nats://127.0.0.1:4222']],
      ] as [string, Value][]),
    )!,
    opts: {
      pki_dir: folder,
      master_sign_key_name: 'master_sign',
      master_pubkey_signature: 'master_pubkey_signature',
      raw,
    },
    ring: { current: { privateKey, publicKey, pem: cleanKey(pem), file } },
    bus: { fire: () => undefined },
    log: made.log,
  });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const newMachine = () => identityOf(newIdentityPem());
type Machine = ReturnType<typeof newMachine>;

/** What a machine gets: the handover, or why not. */
async function ask(line: string, machine: Machine, more: Partial<JoinRequest> = {}, secret?: Uint8Array) {
  const { id, secret: right } = readInvitation(line);
  const request: JoinRequest = {
    ...{ invitation: id, key: machine.publicKey, member: 'm2', level: 1, version: '0.1.0', wantsKeys: true },
    ...{ nonce: randomBytes(16), ...more },
  };
  const verifier = verifierOf(id, secret ?? right);
  const bytes = await invitations.answer(requestBytes(request, verifier));
  const answer = bytes && readAnswer(request, verifierOf(id, right), bytes);
  if (answer?.kind !== 'sealed') return answer;
  return openHandover(request, (purpose, sealed) => machine.open(purpose, sealed), answer.sealed);
}

describe('an invitation', () => {
  it('gives keys to one machine, which may ask again', async () => {
    const [line, machine] = [await invitations.invite(15), newMachine()];
    const handover = await ask(line, machine);
    expect(handover).toMatchObject({ member: 'm1', slot: 0, members: ['m1'], options: { peer: {} } });
    expect([...(handover as unknown as { files: Map<string, string> }).files.keys()]).toEqual([
      'master.pem',
      'master.pub',
    ]);
    expect(await ask(line, machine, { wantsKeys: false })).toMatchObject({ slot: 0, files: new Map() });
    expect(await ask(line, newMachine())).toMatchObject({
      proven: true,
      why: expect.stringMatching(/used already, by another/),
    });
    const { secret, id } = readInvitation(line);
    const stored = (await fabric.registry.bucket('reg').get(`invite.${id}`))?.value;
    // Neither the store nor the log has what makes the line.
    for (const text of [JSON.stringify(stored), lines.join('\n')])
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(text).not.toContain(Buffer.from(secret).toString(form));
  });

  it('lets in one of two machines that use it at the same moment', async () => {
    const line = await invitations.invite(15);
    const answers = await Promise.all([ask(line, newMachine()), ask(line, newMachine(), { member: 'm3' })]);
    expect(answers.filter((each) => each && 'slot' in each)).toHaveLength(1);
    expect(answers.filter((each) => each && 'why' in each)).toHaveLength(1);
  });

  it.each([
    [
      'is too old',
      (line: string) => {
        vi.setSystemTime(Date.now() + 15 * 60_000 + 1);
        return ask(line, newMachine());
      },
      /too old/,
    ],
    [
      'has another secret',
      (line: string) => ask(line, newMachine(), {}, randomBytes(32)),
      /secret of this invitation is not the right one/,
    ],
    [
      'is not known',
      (line: string) => ask(invitationLine({ ...readInvitation(line), id: '00'.repeat(8) }), newMachine()),
      /does not know this invitation/,
    ],
    [
      'is of an older level',
      async (line: string) => {
        await fabric.registry.bucket('reg').create('level', 2);
        return ask(line, newMachine());
      },
      /works at level 2, Halite 0\.1\.0 at 1 at most\. Install/,
    ],
    [
      'comes with the id of a live member',
      async (line: string) => {
        await fabric.registry.bucket('reg').create(slotKey(0), slotValue({ id: 'm1', identity: 'x', key: '', at: 0 }));
        return ask(line, newMachine(), { member: 'm1' });
      },
      /id m1 is already in the cluster, in slot 0\. Give this master another/,
    ],
    [
      'finds no slot',
      async (line: string) => {
        for (let slot = 0; slot < 10; slot++)
          await fabric.registry
            .bucket('reg')
            .create(slotKey(slot), slotValue({ id: `x${slot}`, identity: `${slot}`, key: '', at: 0 }));
        return ask(line, newMachine());
      },
      /All 10 slots/,
    ],
  ])('is refused when it %s', async (_what, act, why) => {
    const line = await invitations.invite(15);
    expect(await act(line)).toMatchObject({ kind: 'refused', why: expect.stringMatching(why) });
  });

  it('tells nothing to a stranger: noise, wrong types, requests of others', async () => {
    const line = await invitations.invite(15);
    const { id, secret } = readInvitation(line);
    const noise: Value[] = [
      null,
      1,
      'x',
      [],
      [1, 2],
      ['00', 'zz'],
      newDict(),
      ['00'.repeat(20), '00'.repeat(32)],
      [[['a']], newDict()],
      ['7f'.repeat(9000), '00'.repeat(32)],
    ];
    for (const value of noise) expect(await invitations.answer(pack(value))).toBeUndefined();
    for (let n = 0; n < 200; n++) expect(await invitations.answer(randomBytes(n * 7))).toBeUndefined();
    // A request that was recorded is answered again, and only its machine can read the answer.
    const [machine, thief] = [newMachine(), newMachine()];
    const request: JoinRequest = {
      invitation: id,
      key: machine.publicKey,
      member: 'm2',
      level: 1,
      version: '1',
      nonce: randomBytes(16),
      wantsKeys: true,
    };
    const verifier = verifierOf(id, secret);
    const recorded = requestBytes(request, verifier);
    await invitations.answer(recorded);
    const replayed = readAnswer(request, verifier, (await invitations.answer(recorded))!);
    if (replayed?.kind !== 'sealed') throw new Error('it was not answered');
    expect(openHandover(request, thief.open, replayed.sealed)).toBeUndefined();
    expect(openHandover(request, machine.open, replayed.sealed)).toBeDefined();
    // An answer to another request is none to this one.
    expect(openHandover({ ...request, nonce: randomBytes(16) }, machine.open, replayed.sealed)).toBeUndefined();
    let answered = 0;
    for (let n = 0; n < 60; n++)
      if (readAnswer(request, verifier, (await invitations.answer(recorded))!)?.kind === 'sealed') answered += 1;
    expect(answered).toBeLessThanOrEqual(50);
  });
});

describe('the line', () => {
  it('is refused when a part is missing or changed, without a part of it in the message', async () => {
    const line = await invitations.invite(15);
    expect(readInvitation(`  '${line}'\n`)).toMatchObject({
      cluster: 'test',
      servers: ['nats://127.0.0.1:4222'],
      ssh: expect.stringMatching(/^ssh:.*\/etc\/salt$/),
    });
    for (const bad of [
      line.slice(0, -1),
      line.slice(0, 60),
      line.replace(/.(?=\.[\w-]{8}$)/, (c) => (c === 'A' ? 'B' : 'A')),
      `x${line}`,
      '',
      'halite-join-1..',
    ]) {
      const error = (() => {
        try {
          readInvitation(bad);
          return '';
        } catch (thrown) {
          return String((thrown as Error).message);
        }
      })();
      expect(error).toMatch(/invitation/);
      expect(error).not.toContain(line.slice(14, 60));
    }
  });
});
