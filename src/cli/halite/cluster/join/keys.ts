// The RSA key of the masters from a member over ssh, so that it never travels through the nats-servers, sealed or not.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanKey, fingerprint } from '../../../../base/crypto/index.ts';
import { HaliteError, messageOf } from '../../../../base/errors/index.ts';
import type { Invitation } from '../../../../engine/cluster/joining/invitation.ts';
import { Blobs } from '../../../moving/blobs.ts';
import { keyFiles, keyFolders } from '../../../moving/key-files.ts';
import { readOldMaster } from '../../../moving/old-master.ts';
import { openSource } from '../../../moving/sources/open.ts';

export interface KeysWanted {
  readonly invitation: Invitation;
  /** `ssh://…`, a folder, `nats`, or '' for ssh when that works. */
  readonly from: string;
  readonly ssh: string;
  readonly scratch: string;
  say(text: string): void;
}

export interface KeysFound {
  readonly name: string;
  readonly files: ReadonlyMap<string, string>;
}

/** Undefined: a member shall send them, sealed for this machine. */
export async function keysFromElsewhere(wanted: KeysWanted): Promise<KeysFound | undefined> {
  const { invitation, from, say } = wanted;
  if (from === 'nats') return undefined;
  if (from !== '') return read(wanted, from);
  try {
    return await read(wanted, invitation.ssh);
  } catch (error) {
    if (error instanceof HaliteError && error.code === 'crypto.verify') throw error;
    say(`${invitation.ssh} cannot be used (${messageOf(error)}): the keys come sealed through the nats-servers`);
    return undefined;
  }
}

async function read({ invitation, scratch, ssh, say }: KeysWanted, from: string): Promise<KeysFound> {
  const source = await openSource(from, { config: '', root: '/', ssh, sudo: false, halite: 'halite' }, scratch);
  try {
    say(`reading the keys of ${source.name}`);
    const old = await readOldMaster(source, scratch);
    const { opts } = old.config;
    const sign = String(opts.raw['master_sign_key_name'] ?? 'master_sign');
    const names = new Set(['master.pem', 'master.pub', `${sign}.pem`, `${sign}.pub`, 'master_pubkey_signature']);
    const found = keyFiles(old, await source.list(keyFolders(old))).files.filter(({ name }) => names.has(name));
    const blobs = new Blobs(join(scratch, 'blobs'));
    await blobs.fetch(
      source,
      found.map(({ file }) => file),
    );
    const files = new Map(found.map(({ name, file }) => [name, readFileSync(blobs.path(file.sha256), 'utf8')]));
    checkKeys(files, invitation, source.name);
    return { name: source.name, files };
  } finally {
    await source.close();
  }
}

/** The pair is a pair, and that of the cluster. */
export function checkKeys(files: ReadonlyMap<string, string>, { fingerprint: wanted }: Invitation, name: string): void {
  const [pem, pub] = [files.get('master.pem'), files.get('master.pub')];
  const found = pub === undefined ? 'none' : fingerprint(cleanKey(pub));
  if (pem === undefined || found !== wanted) {
    throw new HaliteError(
      'crypto.verify',
      `${name} has the master key ${found}; the invitation says ${wanted}. Nothing was changed.`,
      {
        hint: 'Is it another master? Name one of the cluster with --keys-from ssh://host, or take the keys from the members: --keys-from nats',
      },
    );
  }
  // One with a passphrase can only be checked by the master that has it.
  if (/ENCRYPTED/.test(pem)) return;
  const own = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
  if (own.equals(createPublicKey(pub as string).export({ type: 'spki', format: 'der' }))) return;
  throw new HaliteError(
    'crypto.verify',
    `master.pem and master.pub of ${name} do not belong together. Nothing was changed.`,
  );
}
