// Cryptography of the wire protocol: symmetric envelope, RSA, keys and fingerprints.

export { type ChunkRequest, chunkHeadBytes } from './chunks.ts';
export { Crypticle } from './crypticle.ts';
export { cleanKey, fingerprint, fingerprintWhole, matchesFingerprint } from './fingerprint.ts';
export {
  generateKeyPairFiles,
  loadPrivateKey,
  loadPublicKey,
  parsePrivateKey,
  publicPem,
} from './keys.ts';
export {
  defaultEncAlgo,
  defaultSigAlgo,
  type EncAlgo,
  isEncAlgo,
  isSigAlgo,
  oaepDecrypt,
  oaepEncrypt,
  type SigAlgo,
  signKeyText,
  signPkcs1,
  verifyKeyText,
  verifyPkcs1,
} from './rsa.ts';
export { signStatement, verifyStatement } from './statement.ts';
export { makeToken, verifyToken, x931Recover, x931Sign } from './x931.ts';
