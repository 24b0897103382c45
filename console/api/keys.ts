// Keys of minions, with the fingerprints that operators compare.
import { get, post, type Query } from './http.ts';
import { type Fields, fieldsOf, type Page, pageOf, textOf, textsOf } from './read.ts';

export type KeyState = 'pending' | 'accepted' | 'rejected' | 'denied';
export const keyStates: readonly KeyState[] = ['pending', 'accepted', 'rejected', 'denied'];

export interface Key {
  readonly id: string;
  readonly state: KeyState;
  /** Empty: the caller may not see it. */
  readonly fingerprint: string;
  /** Of the accepted key, beside a denied one. */
  readonly other: string;
}

export const keyRow = (row: Fields): Key => ({
  id: textOf(row['id']),
  state: keyStates.find((state) => state === row['state']) ?? 'pending',
  fingerprint: textOf(row['fingerprint']),
  other: textOf(row['other']),
});

export const keys = async (query: Query, signal?: AbortSignal): Promise<Page> =>
  pageOf(await get('keys', query, signal));

export type KeyAction = 'accept' | 'reject' | 'delete';

/** The fingerprints are those that the operator saw: a key that was replaced since then is not accepted. */
export async function changeKeys(action: KeyAction, chosen: readonly Key[]): Promise<KeyResult> {
  const shown = chosen.filter(({ fingerprint }) => fingerprint !== '');
  const fields = fieldsOf(
    await post(`keys/${action}`, {
      ids: chosen.map(({ id }) => id),
      fingerprints: Object.fromEntries(shown.map(({ id, fingerprint }) => [id, fingerprint])),
    }),
  );
  const refused = Object.entries(fieldsOf(fields['refused'])).map(([id, why]) => `${id}: ${textOf(why)}`);
  return { done: textsOf(fields['done']).length, refused };
}

export interface KeyResult {
  readonly done: number;
  readonly refused: readonly string[];
}

/** Fingerprints are compared without the signs that programs put between their parts. */
export const sameFingerprint = (one: string, other: string): boolean => bare(one) !== '' && bare(one) === bare(other);

const bare = (text: string): string =>
  text
    .toLowerCase()
    .replace(/^(sha256|md5):/, '')
    .replace(/[^0-9a-f]/g, '');
