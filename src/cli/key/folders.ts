// The key folders of a master in salt-key: by Salt's names, in Salt's order.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { globMatcher } from '../../base/util/fnmatch.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { KeyStore } from '../../store/keys.ts';

/** Salt's names of the states, in the order results list them. */
export const folderOf: Readonly<Record<KeyState, string>> = {
  accepted: 'minions',
  pending: 'minions_pre',
  rejected: 'minions_rejected',
  denied: 'minions_denied',
};
export const keyStates = Object.keys(folderOf) as KeyState[];

/** Ids by state; states without ids are omitted. */
export type KeySelection = ReadonlyMap<KeyState, readonly string[]>;

/** Sorted ignoring case, as in all lists of salt-key. */
function ignoringCase(ids: readonly string[]): string[] {
  const keyed = ids.map((id) => [id.toLowerCase(), id] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, id]) => id);
}

export function idsOf(store: KeyStore, state: KeyState): string[] {
  return ignoringCase([...store.ids(state), ...store.oddNames(state)]);
}

/** One glob, or several separated by commas. */
export function globsOf(match: string): (text: string) => boolean {
  const tests = match.split(',').map((glob) => globMatcher(glob));
  return (text) => tests.some((test) => test(text));
}

export function matchKeys(store: KeyStore, match: string, among: readonly KeyState[] = keyStates): KeySelection {
  const wanted = globsOf(match);
  const found = new Map<KeyState, string[]>();
  for (const state of among) {
    const ids = idsOf(store, state).filter(wanted);
    if (ids.length > 0) found.set(state, ids);
  }
  return found;
}

/** The master's own key files: name → text. */
export function localKeys(pkiDir: string): Map<string, string> {
  const found = new Map<string, string>();
  // Before the first start of the daemon there is none.
  if (!existsSync(pkiDir)) return found;
  for (const name of ignoringCase(readdirSync(pkiDir))) {
    const path = join(pkiDir, name);
    if (/\.(pem|pub)$/.test(name) && statSync(path, { throwIfNoEntry: false })?.isFile()) {
      found.set(name, readFileSync(path, 'utf8'));
    }
  }
  return found;
}
