// The identity of this minion: its id, its key pair, and the values derived from them for every request.
import type { KeyObject } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MinionOpts } from '../../base/config/index.ts';
import {
  Crypticle,
  cleanKey,
  type EncAlgo,
  fingerprint,
  generateKeyPairFiles,
  isEncAlgo,
  isSigAlgo,
  loadPrivateKey,
  makeToken,
  publicPem,
  type SigAlgo,
} from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { minionIdProblem, shownId } from '../../base/util/index.ts';

export interface Identity {
  readonly id: string;
  readonly privateKey: KeyObject;
  /** The public key as it is sent: no surrounding space, `\n` line ends. */
  readonly publicText: string;
  readonly fingerprint: string;
  /** Proof that the sender has the key; the same for every request, so computed once. */
  readonly tok: Buffer;
  /** Random text for this process: a master that returns it can decrypt what is encrypted for its key. */
  readonly challenge: string;
  readonly encAlgo: EncAlgo;
  readonly sigAlgo: SigAlgo;
}

/** Reads the key pair, or creates one on the first start. */
export async function loadIdentity(opts: MinionOpts): Promise<Identity> {
  const { id, pki_dir: pkiDir } = opts;
  const problem = minionIdProblem(id);
  if (problem !== undefined) {
    throw new HaliteError('config.value', `"${shownId(String(id))}" cannot be a minion id: it ${problem}`, {
      hint: 'Set id in the minion configuration (or the first line of the file minion_id) to a name like a host name.',
    });
  }
  const { encryption_algorithm: encAlgo, signing_algorithm: sigAlgo } = opts;
  if (!isEncAlgo(encAlgo)) throw unknownAlgorithm('encryption_algorithm', encAlgo);
  if (!isSigAlgo(sigAlgo)) throw unknownAlgorithm('signing_algorithm', sigAlgo);
  await mkdir(pkiDir, { recursive: true, mode: 0o700 });
  const path = await generateKeyPairFiles(pkiDir, 'minion', opts.keysize, { user: opts.user });
  const privateKey = loadPrivateKey(path);
  const publicText = await readPublicText(join(pkiDir, 'minion.pub'), privateKey);
  return {
    id,
    privateKey,
    publicText,
    fingerprint: fingerprint(publicText, opts.hash_type),
    tok: makeToken(privateKey),
    challenge: Crypticle.generateKeyString(),
    encAlgo,
    sigAlgo,
  };
}

/** The file's text, because masters compare text; derived from the private key when the file is missing. */
async function readPublicText(path: string, privateKey: KeyObject): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return cleanKey(text.trim() ? text : publicPem(privateKey));
}

function unknownAlgorithm(option: string, value: string): HaliteError {
  return new HaliteError('config.value', `${option}: "${value}" is not supported`, {
    hint: 'Known are OAEP-SHA1, OAEP-SHA224, PKCS1v15-SHA1 and PKCS1v15-SHA224.',
  });
}
