// Takes states of keys from another folder on purpose: from another master that joined, or from a backup.
import { statSync } from 'node:fs';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { cleanKey } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { ImportKeysOptions } from '../../extend/sdk/index.ts';
import { KeyStore } from '../../store/keys.ts';
import { printable } from './key-effects.ts';
import { type Filed, filed, idsOf } from './key-folders.ts';
import { type KeyRecord, stricter } from './key-records.ts';
import type { SharedKeys } from './keys.ts';

export interface ImportParts {
  readonly keys: Pick<SharedKeys, 'known' | 'take' | 'overruled'>;
  readonly member: string;
}

/** What was taken, and what was not and why, by id. */
export async function importKeys({ keys, member }: ImportParts, options: ImportKeysOptions): Promise<PlainDict> {
  const folder = options.folder ?? (keys.overruled && `${keys.overruled.folder}/keys`);
  if (folder === undefined) {
    throw new HaliteError('call.failed', 'No keys differed when this master started: there is nothing to import', {
      hint: 'Name a folder with the folders minions, minions_pre and so on.',
    });
  }
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new HaliteError('call.failed', `There is no folder ${folder}`);
  const files = new KeyStore(folder);
  const [taken, left] = [newDict(), newDict()];
  for (const id of [...idsOf(files)].sort()) {
    const found = filed(files, id);
    const record = keys.known(id);
    if (found.state === 'none') continue;
    const why = options.force ? undefined : reasonAgainst(found, record);
    if (why !== undefined) {
      left[id] = why;
    } else if (found.state !== record.state || cleanKey(found.pem) !== cleanKey(record.pem)) {
      const decision = { state: found.state, pem: found.pem, by: `import at ${member}` };
      if (!options.dryRun) await keys.take(id, decision);
      taken[id] = found.state;
    }
  }
  return newDict([
    ['taken', taken],
    ['left', left],
  ]);
}

function reasonAgainst(found: Filed, record: KeyRecord): string | undefined {
  if (record.state === 'none') return undefined;
  if (record.state === 'gone') return `it was deleted (${record.by})`;
  if (cleanKey(found.pem) !== cleanKey(record.pem))
    return `the cluster has another key, ${printable(record.pem)}; the one here is ${printable(found.pem)}`;
  if (found.state === record.state || stricter(found.state, record.state) === found.state) return undefined;
  return `the cluster says ${record.state}, which is stricter than ${found.state}`;
}
