// The sign-in of simulated minions, in each generation of the protocol. What a real minion verifies is verified here too;
// `light` leaves out what only costs the machine that the fleet runs on.
import { createHash, type KeyObject, randomUUID } from 'node:crypto';
import { pack, unpack } from '../base/codec/msgpack/index.ts';
import type { Dict } from '../base/codec/value.ts';
import {
  Crypticle,
  cleanKey,
  defaultEncAlgo,
  defaultSigAlgo,
  loadPublicKey,
  oaepDecrypt,
  oaepEncrypt,
  verifyPkcs1,
  x931Recover,
} from '../base/crypto/index.ts';
import { messageOf } from '../base/errors/index.ts';
import { type AuthAnswer, authLoad, readAuthAnswer, readAuthReply } from '../protocol/wire/messages/auth.ts';
import { isProblem } from '../protocol/wire/messages/fields.ts';
import type { MinionKey } from './keys.ts';
import type { FleetOptions } from './options.ts';

/** What all minions of a process know of their master. */
export interface KnownMaster {
  readonly keyText: string;
  readonly key: KeyObject;
  readonly aes: Crypticle;
  /** The master's signature of the shared key: as long as it is the same, the key is. */
  readonly proof: Buffer;
  readonly publishPort: number;
  readonly halite: boolean;
}

export type SignInResult =
  | { readonly kind: 'accepted'; readonly master: KnownMaster; readonly session: () => Crypticle }
  | { readonly kind: 'pending' | 'rejected' | 'full' }
  /** The master has too much to do, and says when to come back. */
  | { readonly kind: 'busy'; readonly seconds: number }
  | { readonly kind: 'failed'; readonly why: string };

export interface SignInRequest {
  readonly payload: Buffer;
  readonly nonce: string;
  readonly sentToken: boolean;
}

export const newNonce = (): string => randomUUID().replaceAll('-', '');
const limits = { maxDepth: 16, maxBytes: 1 << 20, maxItems: 5000 };
const failed = (why: string): SignInResult => ({ kind: 'failed', why });

export function signInRequest(
  options: FleetOptions,
  id: string,
  key: MinionKey,
  known: KnownMaster | undefined,
): SignInRequest {
  const { protocol, behaviour } = options;
  const nonce = newNonce();
  const sentToken = options.token && known !== undefined;
  const named = protocol === 3;
  const halite = behaviour === 'halite' && protocol === 3;
  const load = authLoad({
    ...{ id, pub: key.publicText, nonce: protocol === 0 ? undefined : nonce },
    ...{ enc_algo: named ? defaultEncAlgo : undefined, sig_algo: named ? defaultSigAlgo : undefined },
    token: sentToken ? oaepEncrypt(known.key, key.challenge) : undefined,
    ...{ autosign_grains: undefined, halite, nextKey: false, wantsSig: false },
  });
  // Without the generation, P0 would look like P3.
  const envelope: Dict = protocol === 0 ? { enc: 'clear', load } : { enc: 'clear', load, version: protocol };
  return { payload: pack(envelope), nonce, sentToken };
}

export interface Judging {
  readonly options: FleetOptions;
  readonly key: MinionKey;
  readonly request: SignInRequest;
  readonly known: KnownMaster | undefined;
}

export function readSignIn(bytes: Uint8Array, judging: Judging): SignInResult {
  try {
    return judge(bytes, judging);
  } catch (error) {
    return failed(messageOf(error));
  }
}

function judge(bytes: Uint8Array, judging: Judging): SignInResult {
  const reply = readAuthReply(unpack(bytes, limits));
  if (isProblem(reply)) return failed(reply.problem);
  if (reply.kind === 'text') return failed(`the master answered "${reply.text.slice(0, 80)}"`);
  const oldest = judging.options.protocol === 0;
  if (reply.kind === 'unsigned') return judgeUnsigned(reply.load, judging, oldest);
  const answer = readAuthAnswer(unpack(reply.load, limits));
  if (isProblem(answer)) return failed(answer.problem);
  if (oldest) return failed('the master answered in a newer protocol than was asked');
  if (answer.nonce !== judging.request.nonce) return failed('the answer has another nonce');
  if (answer.pub_key === undefined) return verdictOf(answer.ret);
  const key = masterKey(answer.pub_key, judging.known);
  if (typeof key === 'string') return failed(key);
  const trusted = judging.options.light && judging.known !== undefined;
  if (!trusted && !verifyPkcs1(key, reply.load, reply.sig))
    return failed('the signature of the answer does not verify');
  return accept(answer, key, judging);
}

/** Masters from before 2022, and refusals. */
function judgeUnsigned(load: Dict, judging: Judging, oldest: boolean): SignInResult {
  const answer = readAuthAnswer(load);
  if (isProblem(answer)) return failed(answer.problem);
  if (answer.retryAfter !== undefined) return { kind: 'busy', seconds: answer.retryAfter };
  if (answer.pub_key === undefined) return verdictOf(answer.ret);
  if (!oldest) return failed('the master does not sign its answers: it speaks protocol 0');
  const key = masterKey(answer.pub_key, judging.known);
  return typeof key === 'string' ? failed(key) : accept(answer, key, judging);
}

function verdictOf(ret: AuthAnswer['ret']): SignInResult {
  if (ret === true) return { kind: 'pending' };
  if (ret === false) return { kind: 'rejected' };
  return ret === 'full' ? { kind: 'full' } : failed(`the master answered "${String(ret).slice(0, 80)}"`);
}

/** The first key that a master presents is the one that it has to keep. */
function masterKey(presented: string, known: KnownMaster | undefined): KeyObject | string {
  const text = cleanKey(presented);
  if (known && known.keyText !== text) return 'the master presents another key than before';
  return known?.key ?? loadPublicKey(text);
}

function accept(answer: AuthAnswer, key: KeyObject, judging: Judging): SignInResult {
  const { options, key: own, request, known } = judging;
  const { aes: sealedAes, sig: proof, session: sealedSession, publish_port: port, halite } = answer;
  if (!sealedAes || !proof) return failed('the answer lacks the key or its proof');
  const same = known?.proof.equals(proof) === true;
  const open = (sealed: Uint8Array): Buffer => oaepDecrypt(own.privateKey, sealed);
  // A real minion opens the shared key each time.
  const aes = same && options.light ? known.aes : openShared(open(sealedAes), key, proof);
  if (typeof aes === 'string') return failed(aes);
  if (request.sentToken && !(answer.token && open(answer.token).toString('latin1') === own.challenge))
    return failed('the master could not decrypt the token: it does not have the key that it presented');
  if (options.protocol === 3 && !sealedSession) return failed('the master has no session keys: it speaks protocol 2');
  const session = sessionOf(options, aes, sealedSession, open);
  const publishPort = port !== undefined && port > 0 && port < 65_536 ? port : 4505;
  const keyText = known?.keyText ?? cleanKey(answer.pub_key ?? '');
  const master = { keyText, key, aes, proof: Buffer.from(proof), publishPort, halite };
  return { kind: 'accepted', master: same ? { ...master, aes: known.aes } : master, session };
}

/** The shared key when the master itself signed it; otherwise why not. Very old masters join key and token. */
function openShared(opened: Buffer, key: KeyObject, proof: Uint8Array): Crypticle | string {
  const text = opened.toString('latin1').split('_|-')[0] ?? '';
  const digest = createHash('sha256').update(text).digest('hex');
  if (x931Recover(key, proof).toString('latin1') !== digest) return 'the proof of the shared key does not verify';
  return new Crypticle(text);
}

/** With `light` it is opened when it is first needed, which is never when minions only sign in. */
function sessionOf(
  options: FleetOptions,
  aes: Crypticle,
  sealed: Uint8Array | undefined,
  open: (sealed: Uint8Array) => Buffer,
): () => Crypticle {
  if (options.protocol !== 3 || !sealed) return () => aes;
  let made: Crypticle | undefined = options.light ? undefined : new Crypticle(open(sealed));
  const kept = made ? undefined : Buffer.from(sealed);
  return () => {
    made ??= new Crypticle(open(kept as Buffer));
    return made;
  };
}
