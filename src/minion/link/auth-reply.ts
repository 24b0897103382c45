// Reads a master's answer to a sign-in and believes nothing in it before it is proven: signature, nonce and key first.
import { createHash, type KeyObject } from 'node:crypto';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import {
  Crypticle,
  loadPublicKey,
  oaepDecrypt,
  oaepEncrypt,
  verifyPkcs1,
  x931Recover,
} from '../../base/crypto/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Identity } from './identity.ts';
import type { MasterTrust } from './trust.ts';

/** Protocol generations of masters; see the wire protocol, section 10.3. */
export type Generation = 0 | 2 | 3;

/** What an accepted minion holds of its master. */
export interface Credentials {
  readonly generation: Generation;
  readonly aes: Crypticle;
  /** Key for requests: the minion's own session key, or the shared key with old masters. */
  readonly session: Crypticle;
  readonly publishPort: number | undefined;
  readonly masterKey: KeyObject;
  readonly masterKeyText: string;
  /** The master understands life-cycle messages. */
  readonly halite: boolean;
}

export type AuthResult =
  | { readonly kind: 'accepted'; readonly credentials: Credentials; readonly storeKey: string | undefined }
  /** `proven` is false when nothing shows that the answer is the master's: never act on it for good. */
  | { readonly kind: 'pending' | 'rejected' | 'full'; readonly proven: boolean }
  | { readonly kind: 'distrusted'; readonly text: string; readonly changedKey: boolean }
  | { readonly kind: 'failed'; readonly text: string };

export interface AuthRequest {
  readonly payload: Buffer;
  readonly nonce: string;
  readonly sentToken: boolean;
}

const failed = (text: string): AuthResult => ({ kind: 'failed', text });

/** The sign-in request, section 4.1; old masters ignore the fields they do not know. */
export function buildAuthRequest(
  identity: Identity,
  trusted: string | undefined,
  nonce: string,
  autosignGrains: PlainDict | undefined,
): AuthRequest {
  const load = newDict([
    ['cmd', '_auth'],
    ['id', identity.id],
    ['nonce', nonce],
    ['enc_algo', identity.encAlgo],
    ['sig_algo', identity.sigAlgo],
  ]);
  if (autosignGrains && Object.keys(autosignGrains).length > 0) load['autosign_grains'] = autosignGrains;
  if (trusted !== undefined) load['token'] = oaepEncrypt(loadPublicKey(trusted), identity.challenge, identity.encAlgo);
  load['pub'] = identity.publicText;
  const payload = pack(
    newDict([
      ['enc', 'clear'],
      ['load', load],
      ['version', 3],
    ]),
  );
  return { payload, nonce, sentToken: trusted !== undefined };
}

const text = (value: Value | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : undefined;
};
const bytes = (value: Value | undefined): Uint8Array | undefined => (value instanceof Uint8Array ? value : undefined);

function readMap(payload: Uint8Array): PlainDict | string {
  try {
    const value = unpack(payload, { raw: true, maxDepth: 32, maxBytes: 1 << 20, maxItems: 10_000 });
    if (value instanceof Uint8Array) return `the master answered "${text(value)?.slice(0, 80)}"`;
    return isDict(value) && !(value instanceof Map) ? value : 'the answer is not a map';
  } catch (error) {
    return messageOf(error);
  }
}

/** Reads and checks an answer. `minimum` is the oldest generation the administrator allows. */
export async function readAuthReply(
  reply: Uint8Array,
  request: AuthRequest,
  identity: Identity,
  trust: MasterTrust,
  minimum: number,
  master: string,
): Promise<AuthResult> {
  const envelope = readMap(reply);
  if (typeof envelope === 'string') return failed(envelope);
  const { load, sig } = envelope;
  if (!(load instanceof Uint8Array) || !(sig instanceof Uint8Array)) {
    return readUnsigned(envelope, request, identity, trust, minimum, master);
  }
  const inner = readMap(load);
  if (typeof inner === 'string') return failed(inner);
  if (text(inner['nonce']) !== request.nonce)
    return failed('the answer carries another nonce: it may be an old one sent again');
  const presented = text(inner['pub_key']);
  if (presented === undefined) return readVerdict(inner, load, sig, identity, trust, master);
  const verdict = await trust.judge(presented, text(inner['pub_sig']), identity.sigAlgo, master);
  if (!verdict.ok) return { kind: 'distrusted', text: verdict.why.text, changedKey: verdict.why.reason === 'changed' };
  const masterKey = loadPublicKey(presented.trim());
  if (!verifyPkcs1(masterKey, load, sig, identity.sigAlgo))
    return failed('the signature of the answer does not verify');
  const generation: Generation = inner['session'] === undefined ? 2 : 3;
  if (generation < minimum) return tooOld(generation, master);
  // A replaced key cannot have decrypted a token made for the old one.
  const credentials = openKeys(inner, request.sentToken && !verdict.store, identity, masterKey, presented, generation);
  if (typeof credentials === 'string') return failed(credentials);
  return { kind: 'accepted', credentials, storeKey: verdict.store ? presented : undefined };
}

/** "Pending", "rejected" and "full" carry no key: only a stored one can prove them. */
function readVerdict(
  inner: PlainDict,
  load: Uint8Array,
  sig: Uint8Array,
  identity: Identity,
  trust: MasterTrust,
  master: string,
): AuthResult {
  if (trust.stored === undefined) return verdictOf(inner['ret'], false);
  const proven = verifyPkcs1(loadPublicKey(trust.stored), load, sig, identity.sigAlgo);
  // A rebuilt master answers so until it has accepted our key; only then it shows its own.
  return proven
    ? verdictOf(inner['ret'], true)
    : { kind: 'distrusted', text: trust.otherSigner(master), changedKey: true };
}

function verdictOf(ret: Value | undefined, proven: boolean): AuthResult {
  if (ret === true) return { kind: 'pending', proven };
  if (ret === false) return { kind: 'rejected', proven };
  const word = text(ret);
  if (word === 'full') return { kind: 'full', proven };
  return failed(`the master answered "${(word ?? '').slice(0, 80)}"`);
}

/** Answers without signature: refused requests, and masters from before 2022. */
async function readUnsigned(
  envelope: PlainDict,
  request: AuthRequest,
  identity: Identity,
  trust: MasterTrust,
  minimum: number,
  master: string,
): Promise<AuthResult> {
  const { load } = envelope;
  if (load !== undefined && isDict(load) && !(load instanceof Map)) {
    const word = text(load['ret']);
    // Anyone could have sent this, so it is never a reason to give up.
    if (word !== undefined && word !== 'full') return failed(`the master answered "${word.slice(0, 80)}"`);
    return minimum === 0 ? verdictOf(load['ret'], false) : tooOld(0, master);
  }
  const presented = text(envelope['pub_key']);
  if (presented === undefined) return failed('the answer has neither load nor key');
  if (minimum !== 0) return tooOld(0, master);
  // Without a signature only a key we already know makes the answer trustworthy.
  const verdict = await trust.judge(presented, text(envelope['pub_sig']), identity.sigAlgo, master);
  if (!verdict.ok) return { kind: 'distrusted', text: verdict.why.text, changedKey: verdict.why.reason === 'changed' };
  if (verdict.store && !trust.hasFinger) {
    return failed(
      `${master} speaks the oldest protocol: put its public key into ${trust.path} or set master_finger first`,
    );
  }
  const checkToken = request.sentToken && !verdict.store;
  const credentials = openKeys(envelope, checkToken, identity, loadPublicKey(presented.trim()), presented, 0);
  if (typeof credentials === 'string') return failed(credentials);
  return { kind: 'accepted', credentials, storeKey: verdict.store ? presented : undefined };
}

function tooOld(generation: Generation, master: string): AuthResult {
  return failed(
    `${master} speaks protocol generation ${generation}, this minion accepts 3 or newer. Upgrade the master, or set minimum_master_version: ${generation} if you accept the risk`,
  );
}

/** Decrypts the keys and checks that the master itself made them; the text says what is wrong. */
function openKeys(
  inner: PlainDict,
  checkToken: boolean,
  identity: Identity,
  masterKey: KeyObject,
  masterKeyText: string,
  generation: Generation,
): Credentials | string {
  const aesCipher = bytes(inner['aes']);
  const proof = bytes(inner['sig']);
  if (!aesCipher || !proof) return 'the answer lacks the key or its proof';
  try {
    // Very old masters join key and token.
    const aesText = oaepDecrypt(identity.privateKey, aesCipher, identity.encAlgo).toString('latin1').split('_|-')[0]!;
    const digest = createHash('sha256').update(aesText).digest('hex');
    if (x931Recover(masterKey, proof).toString('latin1') !== digest)
      return 'the proof of the shared key does not verify';
    if (checkToken) {
      const token = bytes(inner['token']);
      const back = token && oaepDecrypt(identity.privateKey, token, identity.encAlgo).toString('latin1');
      if (back !== identity.challenge)
        return 'the master could not decrypt our token: it does not hold the key we trust';
    }
    const aes = new Crypticle(aesText);
    const sessionCipher = bytes(inner['session']);
    const session =
      generation === 3 && sessionCipher
        ? new Crypticle(oaepDecrypt(identity.privateKey, sessionCipher, identity.encAlgo))
        : aes;
    const port = inner['publish_port'];
    return {
      generation,
      aes,
      session,
      publishPort: typeof port === 'number' && port > 0 && port < 65536 ? port : undefined,
      masterKey,
      masterKeyText: masterKeyText.trim(),
      halite: inner['halite'] === 1,
    };
  } catch (error) {
    return messageOf(error);
  }
}
