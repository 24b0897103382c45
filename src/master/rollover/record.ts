// How far a change of the master's key is: one file, replaced as a whole, from which every step goes on after a kill.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { intField, textField } from '../../base/codec/fields.ts';
import { isDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';

export interface RolloverRecord {
  /** `announced`: the next key is made and told. `switched`: it is presented, and the key before still serves some. */
  readonly phase: 'announced' | 'switched';
  /** Fingerprints of the key before and of the key after. */
  readonly from: string;
  readonly to: string;
  /** What Halite minions get, signed by the key before; empty when that key is not to be believed any more. */
  readonly statement: string;
  /** In milliseconds since the epoch. */
  readonly announced: number;
  /** When it is to switch; 0: on command; 1: as soon as nobody would be late. */
  readonly at: number;
  readonly graceMs: number;
  readonly switched: number;
  /** The end of the grace. */
  readonly until: number;
}

export const whenAllHaveIt = 1;
const phases = ['announced', 'switched'] as const;
const fileOf = (pkiDir: string): string => join(pkiDir, 'master_rollover.json');

/** Undefined for anything that is not exactly such a record. */
export function readRecord(value: Value | undefined): RolloverRecord | undefined {
  if (!isDict(value)) return undefined;
  const phase = phases.find((known) => known === textField(value, 'phase'));
  const [from, to, statement] = [textField(value, 'from'), textField(value, 'to'), textField(value, 'statement')];
  const time = (name: string): number => Math.max(0, intField(value, name) ?? 0);
  if (!phase || from === undefined || to === undefined || statement === undefined || statement.length > 20_000)
    return undefined;
  const [announced, at, graceMs] = [time('announced'), time('at'), time('graceMs')];
  return { phase, from, to, statement, announced, at, graceMs, switched: time('switched'), until: time('until') };
}

export function loadRecord(pkiDir: string): RolloverRecord | undefined {
  const file = fileOf(pkiDir);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const record = readRecord(JSON.parse(text) as Value);
    if (record) return record;
  } catch {
    // Said below.
  }
  throw new HaliteError('crypto.key', `${file} cannot be read: it says how far a change of the master key is`, {
    hint: 'Restore it from the newest folder in cachedir/backup, or remove it if no change of the key is under way.',
  });
}

export function storeRecord(pkiDir: string, record: RolloverRecord | undefined): void {
  if (record) replaceFileNow(fileOf(pkiDir), `${JSON.stringify(record, undefined, 1)}\n`);
  else rmSync(fileOf(pkiDir), { force: true });
}
