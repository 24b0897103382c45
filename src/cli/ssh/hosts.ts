// `salt-ssh -H`: the hosts of the roster.
import { dictEntries, dictGet, dictOf, isDict, type Value } from '../../base/codec/value.ts';
import { namesOf, type Rosters } from '../../ssh/rosters.ts';
import type { Display } from '../output.ts';

/** As Salt shows them: by roster file, the address of every id. Rosters without a file are shown by their name. */
export async function showHosts(rosters: Rosters, roster: Value | undefined, display: Display): Promise<void> {
  const everything = { tgt: '*', kind: 'glob' };
  for (const name of namesOf(roster)) {
    const entries = name === 'flat' ? await rosters.render(rosters.rosterFile()) : await rosters.find(everything);
    if (!isDict(entries)) continue;
    const hosts = dictEntries(entries).map(([id, entry]): [Value, Value] => [
      String(id),
      isDict(entry) ? (dictGet(entry, 'host') ?? String(id)) : entry,
    ]);
    await display.show(dictOf([[name === 'flat' ? rosters.rosterFile() : name, dictOf(hosts)]]), 'nested');
  }
}
