// RSA private operations outside the event loop: in Node's thread pool where there is an asynchronous form.
import { constants, type KeyObject, sign, webcrypto } from 'node:crypto';
import { type EncAlgo, oaepDecrypt, type SigAlgo } from '../../base/crypto/index.ts';

/** PKCS#1 v1.5 signature computed in the thread pool. */
export function signAsync(key: KeyObject, data: Uint8Array, algo: SigAlgo): Promise<Buffer> {
  const hash = algo === 'PKCS1v15-SHA224' ? 'sha224' : 'sha1';
  return new Promise((resolve, reject) => {
    sign(hash, data, { key, padding: constants.RSA_PKCS1_PADDING }, (error, signature) =>
      error ? reject(error) : resolve(signature),
    );
  });
}

const imported = new WeakMap<KeyObject, Promise<webcrypto.CryptoKey>>();

/**
 * The token that a minion encrypted for us; undefined when it was encrypted for another key (the minion then notices
 * itself).
 */
export async function decryptToken(key: KeyObject, token: Uint8Array, algo: EncAlgo): Promise<Uint8Array | undefined> {
  try {
    // WebCrypto has no SHA-224; that rare choice blocks the event loop for half a millisecond.
    if (algo === 'OAEP-SHA224') return oaepDecrypt(key, token, algo);
    let ready = imported.get(key);
    if (!ready) {
      const der = key.export({ format: 'der', type: 'pkcs8' });
      ready = webcrypto.subtle.importKey('pkcs8', der, { name: 'RSA-OAEP', hash: 'SHA-1' }, false, ['decrypt']);
      imported.set(key, ready);
    }
    return new Uint8Array(await webcrypto.subtle.decrypt({ name: 'RSA-OAEP' }, await ready, token));
  } catch {
    return undefined;
  }
}
