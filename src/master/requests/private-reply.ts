// The "private" form of reply for `_pillar`: a one-time key for this minion, and a signature of the content.
import { pack } from '../../base/codec/msgpack/index.ts';
import type { Dict, Value } from '../../base/codec/value.ts';
import { Crypticle, type EncAlgo, oaepEncrypt, type SigAlgo } from '../../base/crypto/index.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { MasterKeyPair } from '../sign-in/master-keys.ts';
import { signAsync } from '../sign-in/rsa.ts';
import type { Sender } from './sender.ts';

export interface PrivateReplyParts {
  readonly keys: Pick<KeyStore, 'accepted'>;
  /** The key of the master that a minion trusts. */
  keyFor(id: string, peer: string): MasterKeyPair;
}

export async function sealPrivate(
  { keys, keyFor }: PrivateReplyParts,
  sender: Sender,
  pillar: Dict,
  nonce: string | undefined,
  encAlgo: EncAlgo,
  sigAlgo: SigAlgo,
): Promise<Value> {
  const minionKey = keys.accepted(sender.id)?.key;
  if (!minionKey) return 'bad load';
  const keyText = Crypticle.generateKeyString();
  const once = new Crypticle(keyText);
  const key = oaepEncrypt(minionKey, keyText, encAlgo);
  if (sender.version < 2) return { key, pillar: once.seal(pillar) };
  const data = pack({ key, pillar, nonce: nonce ?? '' });
  const sig = await signAsync(keyFor(sender.id, sender.peer).privateKey, data, sigAlgo);
  return { key, pillar: once.seal({ data, sig }) };
}
