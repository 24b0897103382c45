import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { cleanKey, fingerprint, fingerprintWhole, publicPem, signKeyText } from '../../base/crypto/index.ts';
import { memoryLogger } from '../../base/log/testing.ts';
import { type AuthResult, judgeReply } from './auth-reply.ts';
import { loadIdentity } from './identity.ts';
import { type SignInOptions, signIn, signInOnce } from './sign-in.ts';
import { FakeMaster, recorded, testFolder, testKeys, testOpts } from './testing.ts';
import { MasterTrust } from './trust.ts';

let folder: ReturnType<typeof testFolder>;
let master: FakeMaster;
const otherPair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherText = cleanKey(publicPem(otherPair.publicKey));
const keyFile = () => join(folder.path, 'pki', 'minion_master.pub');

beforeEach(() => {
  folder = testFolder();
  master = new FakeMaster();
  mkdirSync(join(folder.path, 'pki'));
  writeFileSync(join(folder.path, 'pki', 'minion.pem'), testKeys.minion.pem, { mode: 0o400 });
  writeFileSync(join(folder.path, 'pki', 'minion.pub'), testKeys.minion.pub);
});
afterEach(() => folder.remove());

async function options(overrides: Record<string, Value> = {}, more: Partial<SignInOptions> = {}) {
  const opts = testOpts(folder.path, newDict(Object.entries(overrides)));
  const memory = memoryLogger();
  const value: SignInOptions = {
    opts,
    identity: await loadIdentity(opts),
    trust: await MasterTrust.load(opts),
    client: master.transport.dial({ host: 'salt.example', port: 4506 }),
    master: 'salt.example:4506',
    log: memory.log,
    signal: new AbortController().signal,
    autosignGrains: () => undefined,
    ...more,
  };
  return { value, memory };
}
const once = async (overrides: Record<string, Value> = {}): Promise<AuthResult> =>
  signInOnce((await options(overrides)).value);
const reason = (result: AuthResult) => ('text' in result ? result.text : result.kind);
const trustMaster = (text = testKeys.master.pub) => writeFileSync(keyFile(), text);

describe('the first contact', () => {
  it('stores the key when everything is verified, and returns the keys', async () => {
    const result = await once();
    expect(result).toMatchObject({
      kind: 'accepted',
      credentials: { generation: 3, publishPort: 14505, halite: true },
    });
    if (result.kind === 'accepted') {
      expect(result.credentials.aes.keyString).toBe(master.aes.keyString);
      expect(result.credentials.session.keyString).toBe(master.session.keyString);
    }
    expect(readFileSync(keyFile(), 'utf8')).toBe(cleanKey(testKeys.master.pub));
    expect((await once()).kind).toBe('accepted');
  });

  it.each<[string, (m: FakeMaster) => void, string]>([
    [
      'a wrong signature',
      (m) => {
        m.tamperReply = (reply) => ({ ...reply, sig: Buffer.alloc(256, 1) });
      },
      'the signature of the answer does not verify',
    ],
    [
      'another nonce',
      (m) => {
        m.tamperInner = (inner) => {
          inner['nonce'] = 'f'.repeat(32);
        };
      },
      'the answer has another nonce: it may be a replay of an old one',
    ],
    [
      'another key in the reply',
      (m) => {
        m.tamperInner = (inner) => {
          inner['pub_key'] = otherText;
        };
      },
      'the signature of the answer does not verify',
    ],
    [
      'a proof of another key',
      (m) => {
        m.tamperInner = (inner) => {
          inner['sig'] = Buffer.alloc(256, 3);
        };
      },
      '',
    ],
    [
      'no proof',
      (m) => {
        m.tamperInner = (inner) => {
          delete inner['sig'];
        };
      },
      'the answer lacks the key or its proof',
    ],
    [
      'a refusal in plain text',
      (m) => {
        m.tamperReply = () => 'bad load';
      },
      'the master answered "bad load"',
    ],
    [
      'an unsigned algorithm complaint',
      (m) => {
        m.tamperReply = () => ({ enc: 'clear', load: { ret: 'bad enc algo' } });
      },
      'the master answered "bad enc algo"',
    ],
    [
      'nonsense',
      (m) => {
        m.tamperReply = () => undefined;
      },
      'the answer is not a map',
    ],
  ])('writes nothing after %s', async (_, spoil, text) => {
    spoil(master);
    const result = await once();
    expect(result.kind).toBe('failed');
    if (text) expect(reason(result)).toBe(text);
    expect(existsSync(keyFile())).toBe(false);
  });

  it('checks master_finger in both forms before it writes', async () => {
    const clean = cleanKey(testKeys.master.pub);
    const wrong = await once({ master_finger: fingerprint(otherText) });
    expect(wrong).toMatchObject({ kind: 'distrusted', changedKey: false });
    expect(reason(wrong)).toContain(fingerprint(testKeys.master.pub));
    expect(existsSync(keyFile())).toBe(false);
    expect((await once({ master_finger: fingerprint(testKeys.master.pub) })).kind).toBe('accepted');
    expect((await once({ master_finger: fingerprintWhole(clean) })).kind).toBe('accepted');
  });

  it('treats pending and rejected answers as unproven', async () => {
    master.decision = true;
    expect(await once()).toEqual({ kind: 'pending', proven: false });
    master.decision = false;
    expect(await once()).toEqual({ kind: 'rejected', proven: false });
    master.decision = 'full';
    expect(await once()).toEqual({ kind: 'full', proven: false });
  });
});

describe('a known master', () => {
  it('is authenticated by the token, and its refusals by its signature', async () => {
    trustMaster();
    expect((await once()).kind).toBe('accepted');
    master.tamperInner = (inner) => void delete inner['token'];
    expect(reason(await once())).toContain('could not decrypt our token');
    master.decision = false;
    master.tamperInner = () => undefined;
    expect(await once()).toEqual({ kind: 'rejected', proven: true });
  });

  it('with another key is refused with both fingerprints, the file, and what to do', async () => {
    trustMaster(otherText);
    const result = await once();
    expect(result).toMatchObject({ kind: 'distrusted', changedKey: true });
    for (const part of [
      fingerprint(otherText),
      fingerprint(testKeys.master.pub),
      keyFile(),
      'salt-key -F master',
      'salt.example:4506',
    ]) {
      expect(reason(result)).toContain(part);
    }
    expect(readFileSync(keyFile(), 'utf8')).toBe(otherText);
    master.decision = true;
    expect(await once()).toMatchObject({ kind: 'distrusted', changedKey: true });
    expect(reason(await once())).toContain(fingerprint(otherText));
  });

  it('notices immediately when the administrator removes the old key', async () => {
    trustMaster(otherText);
    const { value } = await options();
    expect((await signInOnce(value)).kind).toBe('distrusted');
    writeFileSync(keyFile(), '');
    expect((await signInOnce(value)).kind).toBe('accepted');
  });

  it('may change its key when the signing key signs it', async () => {
    trustMaster(otherText);
    writeFileSync(join(folder.path, 'pki', 'master_sign.pub'), testKeys.master_sign.pub);
    master.pubSig = signKeyText(createPrivateKey(testKeys.master_sign.pem), master.keyText);
    expect((await once({ verify_master_pubkey_sign: true })).kind).toBe('accepted');
    expect(readFileSync(keyFile(), 'utf8')).toBe(master.keyText);
    master.pubSig = signKeyText(otherPair.privateKey, master.keyText);
    expect(reason(await once({ verify_master_pubkey_sign: true, always_verify_signature: true }))).toContain(
      'does not verify',
    );
    master.pubSig = undefined;
    expect(reason(await once({ verify_master_pubkey_sign: true }))).toContain('did not sign');
    master.pubSig = signKeyText(createPrivateKey(testKeys.master_sign.pem), master.keyText);
    expect(reason(await once())).toContain('verify_master_pubkey_sign is off');
  });
});

describe('older masters', () => {
  it('are refused by default and admitted by minimum_master_version', async () => {
    master.generation = 2;
    expect(reason(await once())).toContain('minimum_master_version: 2');
    expect(await once({ minimum_master_version: 2 })).toMatchObject({
      kind: 'accepted',
      credentials: { generation: 2 },
    });
    master.generation = 0;
    expect(reason(await once({ minimum_master_version: 2 }))).toContain('minimum_master_version: 0');
  });

  it('without signatures need a key that is already known', async () => {
    master.generation = 0;
    expect(reason(await once({ minimum_master_version: 0 }))).toContain('master_finger');
    expect(existsSync(keyFile())).toBe(false);
    const finger = fingerprint(testKeys.master.pub);
    expect((await once({ minimum_master_version: 0, master_finger: finger })).kind).toBe('accepted');
    expect((await once({ minimum_master_version: 0 })).kind).toBe('accepted');
  });
});

const busy = (seconds: number): PlainDict => ({ enc: 'clear', load: { ret: 'busy', retry_after: seconds } });

describe('trying again', () => {
  it('waits for acceptance, reports it once, and continues', async () => {
    master.decision = true;
    const states: string[] = [];
    const { value, memory } = await options({}, { onState: (state) => void states.push(state) });
    const askedThrice = vi
      .waitUntil(() => master.signIns > 2, { timeout: 30_000 })
      .then(() => {
        master.decision = 'accept';
      });
    await signIn(value);
    await askedThrice;
    expect(states.every((state) => state === 'pending')).toBe(true);
    const lines = memory.lines.filter((line) => JSON.stringify(line).includes('salt-key -a m1'));
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain(fingerprint(testKeys.minion.pub));
  });

  it('comes back when a master that has too much to do says so', async () => {
    trustMaster();
    let refusals = 1;
    master.tamperReply = (reply) => (refusals-- > 0 ? busy(-5) : reply);
    const { value, memory } = await options();
    expect((await signIn(value)).generation).toBe(3);
    expect(master.signIns).toBe(2);
    const told = memory.lines.filter((line) => JSON.stringify(line).includes('too many sign-ins'));
    expect(told).toHaveLength(1);
  });

  it.each([
    [Number.MAX_VALUE, /about 6\d seconds/],
    [Number.NaN, /about 1 seconds/],
  ])('does not believe a master that says %s seconds', async (seconds, text) => {
    master.tamperReply = () => busy(seconds);
    const control = new AbortController();
    const abort = () => setImmediate(() => control.abort());
    const { value, memory } = await options({}, { signal: control.signal, onState: abort });
    await expect(signIn(value)).rejects.toThrow(/abort/i);
    expect(JSON.stringify(memory.lines)).toMatch(text);
  });

  it('never ends because of an unproven rejection', async () => {
    master.decision = false;
    const control = new AbortController();
    const { value } = await options(
      {},
      { signal: control.signal, onState: (state) => state === 'rejected' && control.abort() },
    );
    await expect(signIn(value)).rejects.toThrow(/abort/i);
  });

  it('ends after a proven rejection unless rejected_retry is set', async () => {
    trustMaster();
    master.decision = false;
    const { value } = await options();
    await expect(signIn(value)).rejects.toMatchObject({ code: 'auth.denied' });
    const control = new AbortController();
    const again = await options({ rejected_retry: true }, { signal: control.signal, onState: () => control.abort() });
    await expect(signIn(again.value)).rejects.toThrow(/abort/i);
  });

  it('stops after the attempts of a command, with the reason', async () => {
    master.decision = true;
    await expect(signIn((await options({}, { tries: 3 })).value)).rejects.toMatchObject({ code: 'auth.pending' });
    expect(master.signIns).toBe(1);
    master.down = true;
    await expect(signIn((await options({}, { tries: 1 })).value)).rejects.toMatchObject({ code: 'daemon.unreachable' });
    master.down = false;
    master.decision = 'accept';
    trustMaster(otherText);
    await expect(signIn((await options({}, { tries: 1 })).value)).rejects.toMatchObject({ code: 'auth.master-key' });
  });
});

describe('recorded replies of real masters', () => {
  it.each(['3006.27', '3007.14', '3008.2'])('%s', async (version) => {
    const vector = recorded(version);
    const { value } = await options({ id: vector.minion_id });
    const request = { payload: Buffer.alloc(0), nonce: vector.nonce as string, sentToken: false };
    const readReply = (frame: string, identity = value.identity, sentToken = false) =>
      judgeReply(Buffer.from(frame, 'base64'), { ...request, sentToken }, identity, value.trust, 3, 'recorded');
    const first = await readReply(vector.auth_first_contact_sha1.reply_zmq_frame_b64);
    expect(first).toMatchObject({ kind: 'accepted', credentials: { generation: 3, publishPort: 4505, halite: false } });
    if (first.kind !== 'accepted') return;
    expect(first.credentials.aes.keyString).toBe(vector.aes_key_string);
    expect(first.credentials.session.keyString).toBe(vector.session_key_string);
    expect(first.storeKey && cleanKey(first.storeKey)).toBe(cleanKey(testKeys.master.pub));
    await value.trust.store(first.storeKey!);
    const known = { ...value.identity, challenge: vector.minion_token as string };
    for (const [name, algos] of [
      ['auth_known_master_sha1', {}],
      ['auth_known_master_sha224', { encAlgo: 'OAEP-SHA224', sigAlgo: 'PKCS1v15-SHA224' }],
    ] as const) {
      expect(await readReply(vector[name].reply_zmq_frame_b64, { ...known, ...algos }, true)).toMatchObject({
        kind: 'accepted',
        storeKey: undefined,
      });
    }
    expect(await readReply(vector.auth_pending_reply_zmq_frame_b64)).toEqual({ kind: 'pending', proven: true });
    expect(await readReply(vector.auth_denied_reply_zmq_frame_b64)).toEqual({ kind: 'rejected', proven: true });
    const legacy = vector.auth_legacy_v0_reply_zmq_frame_b64 as string;
    expect((await readReply(legacy)).kind).toBe('failed');
  });
});
