// From files to decisions about keys and back: what a change of a folder decides, and what a decision means for others.
import { fingerprint } from '../../base/crypto/index.ts';
import type { KeyAct } from '../../store/keys.ts';
import type { Filed } from './key-folders.ts';
import type { KeyRecord, SharedState } from './key-records.ts';

/** A decision as its maker sees it; the rest of the record stays. */
export interface Decision {
  readonly state?: SharedState;
  readonly pem?: string;
  readonly denied?: string;
  readonly by: string;
}

/** What the files say now, against what was known. */
export function decisionOf(found: Filed, record: KeyRecord): Omit<Decision, 'by'> {
  const { denied } = found;
  if (found.state === 'none') {
    const isKnown = record.state !== 'none' || record.pem !== '';
    return isKnown ? { state: 'gone', denied } : { denied };
  }
  return { state: found.state, pem: found.pem, denied };
}

/** What a change of files means for the rest of the master. */
export function actOf(before: Filed, { state, pem }: KeyRecord): KeyAct | undefined {
  if (state === 'accepted') return 'accept';
  if (state === 'rejected') return before.state === 'rejected' ? undefined : 'reject';
  if (state === 'pending') return before.state === 'accepted' || before.pem !== pem ? 'delete' : undefined;
  return before.state === 'none' ? undefined : 'delete';
}

export function shown({ state, pem }: KeyRecord): string {
  const word = state === 'gone' ? 'deleted' : state;
  return pem === '' || state === 'gone' ? word : `${word}, with the key ${printable(pem)}`;
}

export function printable(pem: string): string {
  try {
    return fingerprint(pem);
  } catch {
    return 'unreadable';
  }
}
