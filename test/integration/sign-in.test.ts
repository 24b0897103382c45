// Sign-in over the wire in every protocol generation, and the options that affect it.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Request } from 'zeromq';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import {
  Crypticle,
  fingerprint,
  loadPublicKey,
  makeToken,
  oaepDecrypt,
  publicPem,
  type SigAlgo,
  verifyPkcs1,
} from '../../src/base/crypto/index.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
afterEach(async () => {
  await fleet?.destroy();
});

/** One minion as bytes on the wire; what it gets back is checked by the test. */
class Peer {
  readonly id: string;
  readonly key: KeyObject;
  readonly pem: string;

  constructor(id: string) {
    this.id = id;
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.key = privateKey;
    this.pem = publicPem(publicKey);
  }

  async ask(envelope: PlainDict): Promise<PlainDict | string> {
    const socket = new Request({ linger: 0, receiveTimeout: 10_000 });
    socket.connect(`tcp://127.0.0.1:${fleet.ports.requests}`);
    try {
      await socket.send(pack(envelope));
      const [reply] = await socket.receive();
      const value = unpack(reply!, { raw: true });
      return value instanceof Uint8Array ? Buffer.from(value).toString() : (value as PlainDict);
    } finally {
      socket.close();
    }
  }

  signIn(version: number, extra: PlainDict = {}): Promise<PlainDict | string> {
    const load: PlainDict = { cmd: '_auth', id: this.id, pub: this.pem, ...extra };
    return this.ask(version > 0 ? { enc: 'clear', load, version } : { enc: 'clear', load });
  }

  open(value: Value | undefined, algo: 'OAEP-SHA1' | 'OAEP-SHA224' = 'OAEP-SHA1'): string {
    return oaepDecrypt(this.key, value as Uint8Array, algo).toString();
  }
}

const nonce = (): string => randomUUID().replaceAll('-', '');
const masterKey = (): KeyObject => loadPublicKey(readFileSync(fleet.path('etc/pki/master/master.pub'), 'utf8'));

/** Checks the signature of a P2 or P3 reply and gives its inside. */
function verified(reply: PlainDict | string, algo: SigAlgo = 'PKCS1v15-SHA1'): PlainDict {
  const { load, sig } = reply as PlainDict;
  expect(verifyPkcs1(masterKey(), load as Uint8Array, sig as Uint8Array, algo)).toBe(true);
  return unpack(load as Uint8Array, { raw: true }) as PlainDict;
}

const text = (value: Value | undefined): string => Buffer.from(value as Uint8Array).toString();

describe('generations', () => {
  it('P3 is signed, carries the nonce and a session key, with either hash', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    for (const [encAlgo, sigAlgo] of [
      ['OAEP-SHA1', 'PKCS1v15-SHA1'],
      ['OAEP-SHA224', 'PKCS1v15-SHA224'],
    ] as const) {
      const peer = new Peer(`p3-${encAlgo.toLowerCase()}`);
      const asked = nonce();
      const inner = verified(await peer.signIn(3, { nonce: asked, enc_algo: encAlgo, sig_algo: sigAlgo }), sigAlgo);
      expect(text(inner['nonce'])).toBe(asked);
      expect(inner['publish_port']).toBe(fleet.ports.publish);
      const session = new Crypticle(peer.open(inner['session'], encAlgo));
      const load: PlainDict = {
        cmd: '_file_envs',
        id: peer.id,
        nonce: nonce(),
        ts: Math.floor(Date.now() / 1000),
        tok: makeToken(peer.key),
      };
      const reply = await peer.ask({ enc: 'aes', load: session.seal(load), version: 3, id: peer.id });
      expect(typeof reply).toBe('string');
    }
  });

  it('older ones are refused by default and named in the log', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    expect(await new Peer('old0').signIn(0)).toBe('bad load');
    expect(await new Peer('old2').signIn(2, { nonce: nonce() })).toBe('bad load');
    await eventually(
      'the log to name them',
      () => /old0/.test(fleet.master.output()) && /old2/.test(fleet.master.output()),
    );
    expect(existsSync(fleet.path('etc/pki/master/minions/old0'))).toBe(false);
  });

  it('minimum_auth_version: 0 accepts P0 and P2, each in its own format', async () => {
    fleet = await Deployment.create({ masterConfig: 'minimum_auth_version: 0' });
    await fleet.startMaster();
    const oldest = new Peer('p0');
    const bare = (await oldest.signIn(0)) as PlainDict;
    expect(text(bare['enc'])).toBe('pub');
    expect(new Crypticle(oldest.open(bare['aes']))).toBeDefined();
    const middle = new Peer('p2');
    const asked = nonce();
    const inner = verified(await middle.signIn(2, { nonce: asked }));
    expect(text(inner['nonce'])).toBe(asked);
    const aes = new Crypticle(middle.open(inner['aes']));
    const reply = await middle.ask({
      enc: 'aes',
      load: aes.seal({ cmd: '_file_envs', id: 'p2', nonce: asked, tok: makeToken(middle.key) }),
      version: 2,
    });
    expect(typeof reply).toBe('string');
  });

  it('unknown algorithms get their answer', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    const reply = (await new Peer('x').signIn(3, { nonce: nonce(), enc_algo: 'ROT13' })) as PlainDict;
    expect(text((reply['load'] as PlainDict)['ret'])).toBe('bad enc algo');
  });
});

describe('options', () => {
  it('max_minions answers "full" to one more', async () => {
    fleet = await Deployment.create({ masterConfig: 'max_minions: 1' });
    await fleet.startMaster();
    const first = new Peer('one');
    expect(verified(await first.signIn(3, { nonce: nonce() }))['aes']).toBeDefined();
    expect(text(verified(await new Peer('two').signIn(3, { nonce: nonce() }))['ret'])).toBe('full');
    expect(verified(await first.signIn(3, { nonce: nonce() }))['aes']).toBeDefined();
  });

  it('autosign_grains accepts by a grain', async () => {
    fleet = await Deployment.create({ autoAccept: false, masterConfig: 'autosign_grains_dir: /autosign' });
    mkdirSync(fleet.path('autosign'));
    writeFileSync(fleet.path('autosign/uuid'), '# accepted\n4711\n');
    await fleet.startMaster();
    const good = verified(await new Peer('good').signIn(3, { nonce: nonce(), autosign_grains: { uuid: '4711' } }));
    expect(good['aes']).toBeDefined();
    const other = verified(await new Peer('other').signIn(3, { nonce: nonce(), autosign_grains: { uuid: '4712' } }));
    expect(other['ret']).toBe(true);
    expect(existsSync(fleet.path('etc/pki/master/minions_pre/other'))).toBe(true);
  });

  it('the drop file rotates the AES key, and a minion follows', async () => {
    fleet = await Deployment.create({ masterConfig: 'loop_interval: 1' });
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    const peer = new Peer('watcher');
    const before = peer.open(verified(await peer.signIn(3, { nonce: nonce() }))['aes']);
    writeFileSync(fleet.path('cache/master/.dfn'), '');
    chmodSync(fleet.path('cache/master/.dfn'), 0o400);
    await eventually(
      'another AES key',
      async () => peer.open(verified(await peer.signIn(3, { nonce: nonce() }))['aes']) !== before,
    );
    expect(existsSync(fleet.path('cache/master/.dfn'))).toBe(false);
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
  });

  it('master_finger makes a minion refuse another master', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    const right = fingerprint(readFileSync(fleet.path('etc/pki/master/master.pub'), 'utf8'));
    fleet.startMinion('good', undefined, `master_finger: '${right}'`);
    fleet.startMinion(
      'wary',
      undefined,
      `master_finger: '${right.replace(/^../, right.startsWith('00') ? '11' : '00')}'`,
    );
    await fleet.answering('good');
    await eventually('the minion with master_finger to report why', () =>
      fleet.minion('wary').output().includes(right),
    );
    expect(existsSync(fleet.path('wary/pki/minion_master.pub'))).toBe(false);
  });

  it('verify_master_pubkey_sign accepts a new master key that the old authority signed', async () => {
    fleet = await Deployment.create({ masterConfig: 'master_sign_pubkey: True' });
    await fleet.startMaster();
    fleet.configureMinion('m1');
    mkdirSync(fleet.path('m1/pki'), { recursive: true });
    cpSync(fleet.path('etc/pki/master/master_sign.pub'), fleet.path('m1/pki/master_sign.pub'));
    fleet.startMinion('m1', undefined, 'verify_master_pubkey_sign: True');
    await fleet.answering('m1');
    await fleet.master.stop();
    for (const name of ['master.pem', 'master.pub', 'master_pubkey_signature'])
      rmSync(fleet.path('etc/pki/master', name), { force: true });
    await fleet.startMaster();
    await fleet.answering('m1');
  });
});
