// Reads a master's answer to a sign-in and trusts nothing in it before it is verified: signature, nonce and key first.
import { createHash, type KeyObject } from 'node:crypto';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import {
  Crypticle,
  loadPublicKey,
  oaepDecrypt,
  oaepEncrypt,
  verifyPkcs1,
  x931Recover,
} from '../../base/crypto/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import { type AuthAnswer, authLoad, readAuthAnswer, readAuthReply } from '../../protocol/wire/messages/auth.ts';
import type { ClusterInfo } from '../../protocol/wire/messages/cluster.ts';
import { isProblem, type Problem } from '../../protocol/wire/messages/fields.ts';
import { envelopeValue } from '../../protocol/wire/messages/request.ts';
import type { Identity } from './identity.ts';
import type { MasterTrust } from './trust.ts';

/** Protocol generations of masters; see the wire protocol, section 10.3. */
export type Generation = 0 | 2 | 3;

/** What an accepted minion knows of its master. */
export interface Credentials {
  readonly generation: Generation;
  readonly aes: Crypticle;
  /** Key for requests: the minion's own session key, or the shared key with old masters. */
  readonly session: Crypticle;
  readonly publishPort: number | undefined;
  readonly masterKey: KeyObject;
  readonly masterKeyText: string;
  /** The master supports life-cycle messages. */
  readonly halite: boolean;
  readonly cluster?: ClusterInfo | undefined;
  /** The master wants to know which of its keys this minion has. */
  readonly asksForKey: boolean;
  /** What it says about its next key, not verified; empty when it says nothing. */
  readonly nextKey: string;
}

export type AuthResult =
  | { readonly kind: 'accepted'; readonly credentials: Credentials; readonly storeKey: string | undefined }
  /** `proven` is false when nothing shows that the answer is the master's: never act on it permanently. */
  | { readonly kind: 'pending' | 'rejected' | 'full'; readonly proven: boolean }
  /** The master has too much to do. */
  | { readonly kind: 'busy'; readonly seconds: number }
  | { readonly kind: 'distrusted'; readonly text: string; readonly changedKey: boolean }
  | { readonly kind: 'failed'; readonly text: string };

export interface AuthRequest {
  readonly payload: Buffer;
  readonly nonce: string;
  readonly sentToken: boolean;
}

const failed = (text: string): AuthResult => ({ kind: 'failed', text });

/** The sign-in request, section 4.1; old masters ignore unknown fields. */
export function buildAuthRequest(
  identity: Identity,
  trusted: string | undefined,
  nonce: string,
  autosignGrains: PlainDict | undefined,
  wantsSig: boolean,
): AuthRequest {
  const load = authLoad({
    ...{ id: identity.id, pub: identity.publicText, nonce, enc_algo: identity.encAlgo, sig_algo: identity.sigAlgo },
    token:
      trusted === undefined ? undefined : oaepEncrypt(loadPublicKey(trusted), identity.challenge, identity.encAlgo),
    ...{ halite: true, nextKey: true, wantsSig },
    autosign_grains: autosignGrains && Object.keys(autosignGrains).length > 0 ? autosignGrains : undefined,
  });
  const payload = pack(envelopeValue({ enc: 'clear', load, version: 3 }));
  return { payload, nonce, sentToken: trusted !== undefined };
}

const replyLimits = { maxDepth: 32, maxBytes: 1 << 20, maxItems: 10_000 };

/** Reads bytes of an unauthenticated peer; a text is the problem. */
function readBytes<T extends object>(payload: Uint8Array, read: (value: Value) => T | Problem): T | string {
  try {
    const found = read(unpack(payload, replyLimits));
    return isProblem(found) ? found.problem : found;
  } catch (error) {
    return messageOf(error);
  }
}

/** Reads and checks an answer. `minimum` is the oldest generation the administrator allows. */
export async function judgeReply(
  payload: Uint8Array,
  request: AuthRequest,
  identity: Identity,
  trust: MasterTrust,
  minimum: number,
  master: string,
): Promise<AuthResult> {
  const reply = readBytes(payload, readAuthReply);
  if (typeof reply === 'string') return failed(reply);
  if (reply.kind === 'text') return answered(reply.text);
  if (reply.kind === 'unsigned') return judgeUnsigned(reply.load, request, identity, trust, minimum, master);
  const { load, sig } = reply;
  const answer = readBytes(load, readAuthAnswer);
  if (typeof answer === 'string') return failed(answer);
  if (answer.nonce !== request.nonce) return failed('the answer has another nonce: it may be a replay of an old one');
  const presented = answer.pub_key;
  if (presented === undefined) return judgeVerdict(answer, load, sig, identity, trust, master);
  const verdict = await trust.judge(presented, answer.pub_sig, identity.sigAlgo, master, answer.nextKey);
  if (!verdict.ok) return { kind: 'distrusted', text: verdict.why.text, changedKey: verdict.why.reason === 'changed' };
  const masterKey = loadPublicKey(presented.trim());
  if (!verifyPkcs1(masterKey, load, sig, identity.sigAlgo))
    return failed('the signature of the answer does not verify');
  const generation: Generation = answer.session === undefined ? 2 : 3;
  if (generation < minimum) return tooOld(generation, master);
  // A replaced key cannot have decrypted a token made for the old one.
  const credentials = openKeys(answer, request.sentToken && !verdict.store, identity, masterKey, presented, generation);
  if (typeof credentials === 'string') return failed(credentials);
  return { kind: 'accepted', credentials, storeKey: verdict.store ? presented : undefined };
}

const answered = (word: string): AuthResult => failed(`the master answered "${word.slice(0, 80)}"`);

/** "Pending", "rejected" and "full" contain no key: only a stored one can verify them. */
function judgeVerdict(
  { ret }: AuthAnswer,
  load: Uint8Array,
  sig: Uint8Array,
  identity: Identity,
  trust: MasterTrust,
  master: string,
): AuthResult {
  if (trust.stored === undefined) return verdictOf(ret, false);
  const proven = verifyPkcs1(loadPublicKey(trust.stored), load, sig, identity.sigAlgo);
  // A rebuilt master answers this way until it has accepted our key; only then it sends its own.
  return proven ? verdictOf(ret, true) : { kind: 'distrusted', text: trust.otherSigner(master), changedKey: true };
}

function verdictOf(ret: AuthAnswer['ret'], proven: boolean): AuthResult {
  if (ret === true) return { kind: 'pending', proven };
  if (ret === false) return { kind: 'rejected', proven };
  return ret === 'full' ? { kind: 'full', proven } : answered(ret ?? '');
}

/** Answers without signature: refused requests, and masters from before 2022. */
async function judgeUnsigned(
  load: Dict,
  request: AuthRequest,
  identity: Identity,
  trust: MasterTrust,
  minimum: number,
  master: string,
): Promise<AuthResult> {
  const answer = readAuthAnswer(load);
  if (isProblem(answer)) return failed(answer.problem);
  const { ret, pub_key: presented } = answer;
  if (presented === undefined) {
    // Anyone could have sent this, so it is never a reason to stop.
    if (answer.retryAfter !== undefined) return { kind: 'busy', seconds: answer.retryAfter };
    if (typeof ret === 'string' && ret !== 'full') return answered(ret);
    return minimum === 0 ? verdictOf(ret, false) : tooOld(0, master);
  }
  if (minimum !== 0) return tooOld(0, master);
  // Without a signature only a known key makes the answer trustworthy.
  const verdict = await trust.judge(presented, answer.pub_sig, identity.sigAlgo, master);
  if (!verdict.ok) return { kind: 'distrusted', text: verdict.why.text, changedKey: verdict.why.reason === 'changed' };
  if (verdict.store && !trust.hasFinger) {
    return failed(
      `${master} speaks the oldest protocol: put its public key into ${trust.path} or set master_finger first`,
    );
  }
  const checkToken = request.sentToken && !verdict.store;
  const credentials = openKeys(answer, checkToken, identity, loadPublicKey(presented.trim()), presented, 0);
  if (typeof credentials === 'string') return failed(credentials);
  return { kind: 'accepted', credentials, storeKey: verdict.store ? presented : undefined };
}

function tooOld(generation: Generation, master: string): AuthResult {
  return failed(
    `${master} speaks protocol generation ${generation}, this minion accepts 3 or newer. Upgrade the master, or set minimum_master_version: ${generation} if you accept the risk`,
  );
}

/** Decrypts the keys and verifies that the master itself created them; a text is the problem. */
function openKeys(
  answer: AuthAnswer,
  checkToken: boolean,
  identity: Identity,
  masterKey: KeyObject,
  masterKeyText: string,
  generation: Generation,
): Credentials | string {
  const { aes: aesCipher, sig: proof, token, session: sessionCipher, publish_port: port, halite, cluster } = answer;
  const { nextKey } = answer;
  if (!aesCipher || !proof) return 'the answer lacks the key or its proof';
  try {
    // Very old masters join key and token.
    const aesText = oaepDecrypt(identity.privateKey, aesCipher, identity.encAlgo).toString('latin1').split('_|-')[0]!;
    const digest = createHash('sha256').update(aesText).digest('hex');
    if (x931Recover(masterKey, proof).toString('latin1') !== digest)
      return 'the proof of the shared key does not verify';
    if (checkToken) {
      const back = token && oaepDecrypt(identity.privateKey, token, identity.encAlgo).toString('latin1');
      if (back !== identity.challenge)
        return 'the master could not decrypt our token: it does not have the key we trust';
    }
    const aes = new Crypticle(aesText);
    const session =
      generation === 3 && sessionCipher
        ? new Crypticle(oaepDecrypt(identity.privateKey, sessionCipher, identity.encAlgo))
        : aes;
    return {
      generation,
      aes,
      session,
      publishPort: port !== undefined && port > 0 && port < 65536 ? port : undefined,
      masterKey,
      masterKeyText: masterKeyText.trim(),
      halite,
      // Only a signed answer proves whose claim it is.
      cluster: generation === 3 ? cluster : undefined,
      asksForKey: generation === 3 && nextKey !== undefined,
      nextKey: (generation === 3 && nextKey) || '',
    };
  } catch (error) {
    return messageOf(error);
  }
}
