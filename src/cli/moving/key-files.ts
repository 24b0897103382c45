// The key folder of a master: which of its files are taken, and under which name.
import { basename, dirname, join, relative } from 'node:path';
import { HaliteError } from '../../base/errors/index.ts';
import { isInside } from '../../base/util/safe-join.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { busKeyFile } from '../../engine/cluster/bus-keys.ts';
import { identityFile } from '../../engine/cluster/identity.ts';
import type { OldMaster } from './old-master.ts';
import type { SourceFile } from './sources/source.ts';

export const stateFolders = ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'] as const;
const mostKeyBytes = 64 * 1024;

export interface KeyFiles {
  /** Each file and its path below the key folder of the new master. */
  readonly files: readonly { readonly file: SourceFile; readonly name: string }[];
  readonly notes: readonly string[];
}

/** Folders that contain the keys: with Salt's cluster, that of all its masters. */
export function keyFolders(old: OldMaster): string[] {
  const { pki_dir } = old.config.opts;
  const shared = old.config.opts.raw['cluster_pki_dir'];
  return old.config.given['cluster_id'] && typeof shared === 'string' && shared !== '' ? [shared, pki_dir] : [pki_dir];
}

export function keyFiles(old: OldMaster, listed: readonly SourceFile[]): KeyFiles {
  const [first = '', own = first] = keyFolders(old);
  const clustered = own !== first;
  const files: { file: SourceFile; name: string }[] = [];
  const notes: string[] = [];
  for (const file of listed) {
    const folder = isInside(first, file.path) ? first : isInside(own, file.path) ? own : undefined;
    if (folder === undefined) continue;
    const name = relative(folder, file.path);
    const taken = acceptedName(name, clustered, folder === first);
    if (taken === undefined) notes.push(`${file.path} is left there: it is not a key`);
    else if (file.size > mostKeyBytes) notes.push(`${file.path} is left there: it is too large for a key`);
    else if (taken !== '' && !files.some((other) => other.name === taken)) files.push({ file, name: taken });
  }
  return { files: withMasterKey(old, files), notes };
}

/** The name below the new key folder; '' for files that have no use there, undefined for what is no key. */
function acceptedName(name: string, clustered: boolean, shared: boolean): string | undefined {
  const folder = dirname(name);
  const file = basename(name);
  if ((stateFolders as readonly string[]).includes(folder) || folder === 'minions_autosign') {
    if (clustered && !shared) return '';
    return isValidMinionId(file) ? name : undefined;
  }
  if (clustered && shared && folder === '.')
    return /^cluster\.(pem|pub)$/.test(file) ? file.replace('cluster', 'master') : '';
  if (clustered && (folder !== '.' || /^master\.(pem|pub)$/.test(file))) return '';
  if (folder === 'ssh') return /^[\w.-]+$/.test(file) ? name : undefined;
  // Of one member of a cluster only.
  if (name === identityFile || name === busKeyFile) return '';
  if (folder !== '.') return undefined;
  return /^[\w@-][\w.@-]*\.(pem|pub)$/.test(file) || file === 'master_pubkey_signature' ? name : undefined;
}

/** Salt 3008 calls it `<id>.pem`; under the name of the old machine nobody would find it here. */
function withMasterKey<T extends { readonly name: string }>(
  old: OldMaster,
  files: readonly T[],
): (T & { name: string })[] {
  if (files.some(({ name }) => name === 'master.pem')) return [...files];
  const signing = `${String(old.config.opts.raw['master_sign_key_name'] ?? 'master_sign')}.pem`;
  const keys = files.map(({ name }) => name).filter((name) => /^[^/]+\.pem$/.test(name) && name !== signing);
  const [only, ...others] = keys;
  if (only === undefined)
    throw new HaliteError('crypto.key', `${old.source.name} has no master.pem in ${keyFolders(old).join(' or ')}`, {
      hint: 'Start the old master once, or name its real configuration folder.',
    });
  if (others.length > 0)
    throw new HaliteError(
      'crypto.key',
      `${old.source.name} has no master.pem, and several keys could be it: ${keys.join(', ')}`,
      {
        hint: 'Link the right one to master.pem there.',
      },
    );
  const stem = only.slice(0, -'.pem'.length);
  return files.map((item) =>
    item.name === only
      ? { ...item, name: 'master.pem' }
      : item.name === `${stem}.pub`
        ? { ...item, name: 'master.pub' }
        : item,
  );
}

/** Private keys are the owner's alone, whatever they were. */
export const keyMode = (name: string, mode: number): number => (name.endsWith('.pem') ? 0o400 : mode & 0o755 & ~0o022);

/** Where a key of that name goes. */
export const keyPlace = (pkiDir: string, name: string): string => join(pkiDir, name);
