// Sign-in of minions (`_auth`): which key is accepted, and the reply with the keys of the protocol.
import type { KeyObject } from 'node:crypto';
import { pack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import {
  cleanKey,
  defaultEncAlgo,
  defaultSigAlgo,
  type EncAlgo,
  fingerprint,
  isEncAlgo,
  isSigAlgo,
  loadPublicKey,
  oaepEncrypt,
  type SigAlgo,
} from '../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { minionIdProblem, shownId } from '../../base/util/valid-id.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { type AuthRequest, nextKeyField, readAuthRequest } from '../../protocol/wire/messages/auth.ts';
import { clusterField, clusterValue } from '../../protocol/wire/messages/cluster.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { hostOf } from '../rollover/minion-keys.ts';
import type { Rollover } from '../rollover/rollover.ts';
import { type AutosignParts, autoReject, autoSign } from './autosign.ts';
import type { SignInAct } from './counts.ts';
import type { KeySignatures } from './key-signatures.ts';
import type { MasterKeyPair } from './master-keys.ts';
import type { NewKeys } from './new-keys.ts';
import { decryptToken, signAsync } from './rsa.ts';
import type { Secrets } from './secrets.ts';

export interface SignInParts {
  readonly opts: AutosignParts['opts'] &
    Pick<MasterOpts, 'max_minions' | 'open_mode' | 'publish_port' | 'auth_events' | 'autoreject_file'>;
  readonly log: Logger;
  readonly keys: KeyStore;
  readonly newKeys: Pick<NewKeys, 'refusal' | 'mayDeny'>;
  readonly secrets: Secrets;
  settled(): Promise<void>;
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'members'>;
  readonly signatures: Pick<KeySignatures, 'wanted' | 'of'>;
  readonly rollover: Pick<Rollover, 'statement' | 'minions' | 'record'>;
  readonly fleet: Pick<Fleet, 'ids' | 'connected' | 'known' | 'signedIn'>;
  readonly bus: Pick<EventBus, 'fire'>;
  /** Called with the outcome of each. */
  counted?(act: SignInAct): void;
}

/** The decision of the master, and its reason; becomes the reply, the event and the record in the fleet. */
interface Decision {
  readonly ret: true | false | 'full' | 'accepted';
  readonly act: Exclude<SignInAct, 'invalid'>;
  readonly detail: string;
}
/** A request whose algorithms and id are valid. */
interface AuthLoad extends AuthRequest {
  readonly enc_algo: EncAlgo;
  readonly sig_algo: SigAlgo;
}

/** Answers one `_auth`. */
export type SignIn = (load: PlainDict, version: number, peer: string) => Promise<Value>;

export const signIn =
  (parts: SignInParts): SignIn =>
  (load, version, peer) =>
    authenticate(parts, load, version, peer);

/** There is an answer in every case. */
async function authenticate(parts: SignInParts, load: PlainDict, version: number, peer: string): Promise<Value> {
  const asked = readAuthRequest(load);
  if (isProblem(asked)) {
    parts.counted?.('invalid');
    return asked.reply;
  }
  const { id, nonce, enc_algo = defaultEncAlgo, sig_algo = defaultSigAlgo } = asked;
  if (!isSigAlgo(sig_algo)) return unsigned('bad sig algo');
  if (!isEncAlgo(enc_algo)) return unsigned('bad enc algo');
  const answer = await answerKey(parts, { ...asked, enc_algo, sig_algo });
  const reply = (inner: PlainDict): Promise<Value> => wrap(answer.pair, inner, version, nonce, sig_algo);
  const problem = minionIdProblem(id);
  if (problem !== undefined) {
    parts.counted?.('invalid');
    parts.log.limited('auth:invalid-id', 'warn', 'sign-in with an unacceptable id refused', {
      id: shownId(id),
      why: `the id ${problem}`,
    });
    return reply({ ret: false });
  }
  const request: AuthLoad = { ...asked, enc_algo, sig_algo };
  let decision: Decision;
  try {
    decision = await decide(parts, request, peer).catch((error: unknown) => {
      // Another master of the cluster was faster: the key folders now show its decision.
      if (!(error instanceof HaliteError && error.code === 'cluster.conflict')) throw error;
      return decide(parts, request, peer);
    });
  } catch (error) {
    decision = { ret: false, act: 'error', detail: messageOf(error) };
    parts.log.error('sign-in failed', { minion: id, error: messageOf(error) });
  }
  announce(parts, request, decision);
  if (decision.ret !== 'accepted') return reply({ ret: decision.ret });
  return reply(await grant(parts, request, answer, peer));
}

const unsigned = (ret: string): Value => ({ enc: 'clear', load: { ret } });

/** P2 and P3 replies are signed and contain the nonce; P0 minions support only the bare form. */
async function wrap(
  pair: MasterKeyPair,
  inner: PlainDict,
  version: number,
  nonce: string | undefined,
  algo: SigAlgo,
): Promise<Value> {
  const granted = 'aes' in inner;
  if (version < 2) return granted ? inner : { enc: 'clear', load: inner };
  if (nonce !== undefined) inner['nonce'] = nonce;
  const load = pack(inner);
  return { enc: 'clear', load, sig: await signAsync(pair.privateKey, load, algo) };
}

async function decide(parts: SignInParts, request: AuthLoad, peer: string): Promise<Decision> {
  const { keys, opts } = parts;
  const { id } = request;
  const by = `sign-in from ${peer}`;
  if (tooMany(parts, id)) return { ret: 'full', act: 'full', detail: `max_minions ${opts.max_minions} is reached` };
  const key = usableKey(request.pub);
  if (typeof key === 'string') return { ret: false, act: 'reject', detail: key };
  if (opts.open_mode) {
    const stored = keys.accepted(id);
    if (!stored || cleanKey(stored.pem) !== cleanKey(request.pub)) await keys.write('accepted', id, request.pub, by);
    return { ret: 'accepted', act: 'accept', detail: 'open_mode' };
  }
  if (keys.has('rejected', id)) return { ret: false, act: 'reject', detail: 'the key of this id is rejected' };
  if (keys.has('accepted', id)) return known(parts, request, peer);
  const rejected = autoReject(parts.opts, id);
  const signed = !rejected && autoSign(parts, id, request.autosign_grains);
  if (keys.has('pending', id)) return pending(parts, request, peer, { rejected, signed });
  if (rejected) {
    const full = parts.newKeys.refusal('rejected', peer);
    if (full === undefined) await keys.write('rejected', id, request.pub, by);
    return { ret: false, act: 'reject', detail: full === undefined ? 'autoreject_file' : `autoreject_file; ${full}` };
  }
  if (signed) {
    await keys.write('accepted', id, request.pub, by);
    return { ret: 'accepted', act: 'accept', detail: signed };
  }
  // Every other answer than "wait" makes real minions end.
  const full = parts.newKeys.refusal('pending', peer);
  if (full !== undefined) {
    parts.log.limited('new-keys', 'warn', 'the key of a new minion was not stored', { minion: id, why: full });
    return { ret: true, act: 'pend', detail: full };
  }
  await keys.write('pending', id, request.pub, by);
  return { ret: true, act: 'pend', detail: 'new key, waits for acceptance' };
}

async function known(parts: SignInParts, request: AuthLoad, peer: string): Promise<Decision> {
  const stored = parts.keys.accepted(request.id);
  if (stored && cleanKey(stored.pem) === cleanKey(request.pub))
    return { ret: 'accepted', act: 'accept', detail: 'known key' };
  return deny(parts, request, stored?.pem ?? '', peer);
}

/** Another key with a known id; stored, so that an operator can inspect it. */
async function deny(parts: SignInParts, request: AuthLoad, stored: string, peer: string): Promise<Decision> {
  const { id, pub } = request;
  if (parts.keys.readText('denied', id) !== pub && parts.newKeys.mayDeny()) {
    await parts.keys.write('denied', id, pub, `sign-in from ${peer}`);
  }
  return { ret: false, act: 'denied', detail: mismatch(stored, parts.keys.decidedBy(id), pub, peer) };
}

async function pending(
  parts: SignInParts,
  request: AuthLoad,
  peer: string,
  { rejected, signed }: { readonly rejected: boolean; readonly signed: string | false },
): Promise<Decision> {
  const { keys } = parts;
  const { id } = request;
  if (rejected) {
    await keys.move(id, 'pending', 'rejected');
    return { ret: false, act: 'reject', detail: 'autoreject_file' };
  }
  const stored = keys.readText('pending', id) ?? '';
  if (cleanKey(stored) !== cleanKey(request.pub)) {
    return deny(parts, request, stored, peer);
  }
  if (!signed) return { ret: true, act: 'pend', detail: 'waits for acceptance' };
  await keys.move(id, 'pending', 'accepted');
  return { ret: 'accepted', act: 'accept', detail: signed };
}

/** Where the first one came from is known in a cluster: it may have been at another master. */
const mismatch = (stored: string, by: string | undefined, given: string, peer: string): string =>
  `another key than the stored one: stored ${printable(stored)}${by === undefined ? '' : ` (${by})`}, presented ${printable(given)}${by === undefined ? '' : ` (from ${peer})`}`;

function printable(pem: string): string {
  try {
    return fingerprint(pem);
  } catch {
    return 'unreadable';
  }
}

/** The presented key, or the reason it cannot be used. */
function usableKey(pem: string): KeyObject | string {
  if (pem.length === 0) return 'no public key was presented';
  if (pem.length > 20_000) return 'the public key is far too large';
  try {
    const key = loadPublicKey(pem);
    const { modulusLength: bits = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
    // Every use of such a key could take arbitrarily long.
    if (bits > 16_384 || publicExponent > 0xffff_ffffn) return 'an RSA key with numbers of this size is not usable';
    return bits >= 2048 ? key : `an RSA key of ${bits} bits is too weak: at least 2048 are required`;
  } catch (error) {
    return `the public key is unreadable: ${messageOf(error)}`;
  }
}

function tooMany(parts: SignInParts, id: string): boolean {
  const limit = parts.opts.max_minions;
  if (limit <= 0) return false;
  const connected = parts.fleet
    .ids()
    .filter((other) => parts.fleet.connected(other) !== 'no' && parts.keys.has('accepted', other));
  return connected.length >= limit && !connected.includes(id);
}

interface AnswerKey {
  /** The key of the master that this minion is answered with. */
  readonly pair: MasterKeyPair;
  /** What it encrypted for the key that it trusts; undefined when that is none of ours. */
  readonly token: Uint8Array | undefined;
  readonly trusted: MasterKeyPair | undefined;
}

/**
 * While the key changes, the token tells which one a minion trusts. It is answered with the new one if it can take that
 * by itself, because the old key or the signing key signed that; others keep the old one.
 */
async function answerKey({ secrets, signatures }: SignInParts, request: AuthLoad): Promise<AnswerKey> {
  const { current, former } = secrets.ring;
  const { token, enc_algo, id } = request;
  if (!token) return { pair: current, token: undefined, trusted: undefined };
  const opened = await decryptToken(current.privateKey, token, enc_algo);
  if (opened || !former) return { pair: current, token: opened, trusted: opened && current };
  const before = await decryptToken(former.privateKey, token, enc_algo);
  const follows = request.nextKey || signatures.wanted(id, request.wantsSig);
  return { pair: before && !follows ? former : current, token: before, trusted: before && former };
}

async function grant(parts: SignInParts, request: AuthLoad, answer: AnswerKey, peer: string): Promise<PlainDict> {
  const { secrets, opts, signatures, rollover } = parts;
  const { pair, token, trusted } = answer;
  await parts.settled();
  const accepted = parts.keys.accepted(request.id);
  const key = accepted?.key ?? loadPublicKey(request.pub);
  const of = { id: request.id, fingerprint: accepted?.fingerprint ?? fingerprint(cleanKey(request.pub)) };
  const signature = signatures.wanted(request.id, request.wantsSig) ? await signatures.of(pair) : undefined;
  const inner = newDict([
    ['enc', 'pub'],
    ['pub_key', signature?.pubKeyText ?? pair.pem],
    ['publish_port', opts.publish_port],
  ]);
  const pubSig = await signature?.sign(request.sig_algo);
  if (pubSig !== undefined) inner['pub_sig'] = pubSig;
  if (token) inner['token'] = oaepEncrypt(key, token, request.enc_algo);
  else if (request.token) foreignMaster(parts, request.id);
  inner['aes'] = oaepEncrypt(key, secrets.aes.current.key, request.enc_algo);
  inner['session'] = oaepEncrypt(key, secrets.sessions.current(of).keyString, request.enc_algo);
  inner['sig'] = secrets.aes.proof(pair.privateKey);
  // Tells a Halite minion that this master supports its life-cycle messages; real minions ignore it.
  inner['halite'] = 1;
  if (request.halite && request.nextKey) inner[nextKeyField] = rollover.statement;
  if (rollover.record) {
    const trusts = trusted ? fingerprint(trusted.pem) : '';
    rollover.minions.signedIn(request.id, { host: hostOf(peer), trusts, presented: fingerprint(pair.pem) });
  }
  const { cluster } = parts;
  // Only for those that asked: others get exactly what one master would tell them.
  if (request.halite && cluster.name !== undefined) {
    const members = cluster.members().flatMap(({ addresses }) => addresses);
    inner[clusterField] = clusterValue({ name: cluster.name, member: cluster.self.id, members });
  }
  return inner;
}

/** Its challenge was encrypted for another master's key: the minion trusts another master and will refuse us. */
function foreignMaster(parts: SignInParts, id: string): void {
  const why = 'trusts another master key than ours (its minion_parts.pub)';
  parts.fleet.signedIn(id, { result: 'foreign-master', at: Date.now(), detail: why });
  parts.log.limited(`foreign:${id}`, 'warn', 'minion trusts another master key', {
    minion: id,
    ours: fingerprint(parts.secrets.pair.pem),
    hint: 'If this master is the right one, remove minion_parts.pub from the pki folder of the minion.',
  });
  parts.bus.fire('halite/auth/foreign-master', { id, fingerprint: fingerprint(parts.secrets.pair.pem) });
}

function announce(parts: SignInParts, request: AuthLoad, decision: Decision): void {
  parts.counted?.(decision.act);
  const before = parts.fleet.known(request.id)?.lastAuth?.result;
  // A refused sign-in without a stored key leaves no record either: any peer can invent ids.
  const keyed = decision.act === 'accept' || parts.keys.statesOf(request.id).length > 0;
  const auth = { result: decision.act, at: Date.now(), detail: decision.detail };
  if (keyed) parts.fleet.signedIn(request.id, auth, request.halite);
  if (decision.act === 'accept') {
    // Rotations make all minions sign in again; only the first sign-in is logged.
    parts.log.log(before === 'accept' ? 'debug' : 'info', 'minion signed in', {
      minion: request.id,
      why: decision.detail,
    });
  } else if (before !== decision.act) {
    const fields = { minion: request.id, why: decision.detail };
    parts.log.limited(`auth:${decision.act}:${request.id}`, 'warn', `sign-in answered with ${decision.act}`, fields);
  }
  if (!parts.opts.auth_events) return;
  const result = decision.ret === 'accepted' || decision.ret === true;
  parts.bus.fire('salt/auth', { result, act: decision.act, id: request.id, pub: request.pub });
}
