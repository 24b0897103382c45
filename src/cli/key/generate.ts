// --gen-keys and --gen-signature.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asText } from '../../base/codec/value.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import { cleanKey, fingerprint, generateKeyPairFiles, loadPrivateKey, signKeyText } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { isFile } from '../../base/util/fs-facts.ts';
import { isPathComponent } from '../../base/util/valid-id.ts';

const signingPassphrase = (opts: ClientOpts): string | undefined => {
  const pass = opts.get('signing_key_pass');
  return asText(pass) || undefined;
};

/** Creates `<dir>/<name>.pem` and `.pub`, and returns the fingerprint of the public key. */
export async function generateKeys(dir: string, name: string, bits: number, opts: ClientOpts): Promise<string> {
  if (!isPathComponent(name)) throw new HaliteError('path.refused', `'${name}' is not a name for a key file`);
  mkdirSync(dir, { recursive: true });
  await generateKeyPairFiles(dir, name, bits, { passphrase: signingPassphrase(opts) });
  return fingerprint(readFileSync(join(dir, `${name}.pub`), 'utf8'), opts.hash_type);
}

export interface SignatureRequest {
  readonly pub: string;
  readonly priv: string;
  readonly signaturePath: string;
  readonly autoCreate: boolean;
  readonly bits: number;
}

/** True when the signature was written, false when it exists already; a text when something is missing. */
export async function generateSignature(request: SignatureRequest, opts: ClientOpts): Promise<boolean | string> {
  const pki = opts.pki_dir;
  if (request.pub !== '' && !isFile(request.pub)) return `Public-key ${request.pub} does not exist`;
  if (request.priv !== '' && !isFile(request.priv)) return `Private-key ${request.priv} does not exist`;
  const pub = request.pub || [join(pki, 'master.pub')].find(isFile);
  const passphrase = signingPassphrase(opts);
  let priv = request.priv || [join(pki, 'master_sign.pem')].find(isFile);
  if (!priv) {
    if (!request.autoCreate) return 'No usable private-key found';
    const name = String(opts.get('master_sign_key_name') ?? 'master_sign');
    mkdirSync(pki, { recursive: true, mode: 0o700 });
    priv = await generateKeyPairFiles(pki, name, request.bits, { passphrase, user: opts.user });
  }
  if (!pub) return 'No usable public-key found';
  const file = join(
    request.signaturePath || pki,
    String(opts.get('master_pubkey_signature') ?? 'master_pubkey_signature'),
  );
  const signature = signKeyText(loadPrivateKey(priv, passphrase), cleanKey(readFileSync(pub, 'utf8')));
  if (isFile(file)) return false;
  writeFileSync(file, signature);
  return true;
}
