// TCP minions identify themselves on the publish connection: the shared key and their token prove the id.
//
// After a restart of the master a real 3007 minion reconnects before it signs in, so its identification is encrypted
// with an earlier shared key. It is accepted: the token is verified with the currently accepted key, and jobs can be
// decrypted only with the new shared key.
import { isDict } from '../../base/codec/value.ts';
import { verifyToken } from '../../base/crypto/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Secrets } from './secrets.ts';

export interface IdentityParts {
  readonly secrets: Pick<Secrets, 'aes'>;
  readonly keys: Pick<KeyStore, 'accepted'>;
}

export function tcpIdentity({ secrets, keys }: IdentityParts): (body: unknown) => Promise<string | undefined> {
  return async (body) => {
    if (!isDict(body) || body instanceof Map) return undefined;
    const sealed = body['load'];
    try {
      const load = secrets.aes.openIdentification(
        typeof sealed === 'string' ? Buffer.from(sealed) : (sealed as Uint8Array),
      );
      if (!isDict(load) || load instanceof Map) return undefined;
      const id = load['id'];
      const token = load['tok'];
      if (!isValidMinionId(id)) return undefined;
      const key = keys.accepted(id)?.key;
      const bytes = typeof token === 'string' ? Buffer.from(token) : token instanceof Uint8Array ? token : undefined;
      if (!key || !bytes || !verifyToken(key, bytes)) return undefined;
      return id;
    } catch {
      // Encrypted with a key that this master never had or no longer has.
      return undefined;
    }
  };
}
