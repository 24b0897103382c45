// Lists, public keys and fingerprints.
import { dictOf, newDict, type PlainDict } from '../../base/codec/value.ts';
import { fingerprint } from '../../base/crypto/fingerprint.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { KeyStore } from '../../store/keys.ts';
import { folderOf, globsOf, idsOf, type KeySelection, keyStates, localKeys, matchKeys } from './folders.ts';

const beginnings: readonly (readonly [string, KeyState])[] = [
  ['acc', 'accepted'],
  ['pre', 'pending'],
  ['un', 'pending'],
  ['rej', 'rejected'],
  ['den', 'denied'],
];

/** The states that an argument of `-l` names; undefined for an unknown one. */
export function statesNamed(word: string): readonly KeyState[] | undefined {
  if (word.startsWith('all')) return keyStates;
  const found = beginnings.find(([start]) => word.startsWith(start));
  return found ? [found[1]] : undefined;
}

export function listKeys(store: KeyStore, states: readonly KeyState[]): PlainDict {
  return newDict(states.map((state) => [folderOf[state], idsOf(store, state)]));
}

export const selectionData = (selection: KeySelection): PlainDict =>
  newDict([...selection].map(([state, ids]) => [folderOf[state], [...ids]]));

/** A value for each matching key, by state. A key that was deleted meanwhile is skipped. */
function perKey(store: KeyStore, selection: KeySelection, about: (text: string) => string): PlainDict {
  const shown = newDict();
  for (const [state, ids] of selection) {
    const texts = ids.map((id) => [id, store.readText(state, id)] as const);
    shown[folderOf[state]] = dictOf(
      texts.flatMap(([id, text]) => (text === undefined ? [] : [[id, about(text)] as const])),
    );
  }
  return shown;
}

export const publicKeys = (store: KeyStore, match: string): PlainDict =>
  perKey(store, matchKeys(store, match), (text) => text);

/** Fingerprints of minion keys and of the master's own files. */
export function fingerprints(store: KeyStore, pkiDir: string, match: string, hashType: string): PlainDict {
  const shown = perKey(store, matchKeys(store, match), (text) => fingerprint(text, hashType));
  const wanted = globsOf(match);
  const own = [...localKeys(pkiDir)].filter(([name]) => wanted(name));
  if (own.length > 0) shown['local'] = newDict(own.map(([name, text]) => [name, fingerprint(text, hashType)]));
  return shown;
}
