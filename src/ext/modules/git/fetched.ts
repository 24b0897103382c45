// Reads the output of `git fetch`.
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { lineList } from './run.ts';

/** What a fetch changed, read from its output. */
export function fetched(text: string): PlainDict {
  const found = newDict();
  const add = (key: string, name: string): void => {
    found[key] = [...((found[key] as Value[] | undefined) ?? []), name];
  };
  for (const line of lineList(text)) {
    const match = /^[\s*]*(?:([0-9a-f]+)\.\.([0-9a-f]+)|\[(?:new (tag|branch)|tag update)\])\s+(.+)->/.exec(line);
    if (!match) continue;
    const [, old, now, kind, ref = ''] = match;
    const name = ref.trimEnd();
    if (kind) add(kind === 'tag' ? 'new tags' : 'new branches', name);
    else if (old) {
      const branches = (found['updated branches'] as PlainDict | undefined) ?? newDict();
      branches[name] = newDict([
        ['old', old],
        ['new', now ?? ''],
      ]);
      found['updated branches'] = branches;
    } else add('updated tags', name);
  }
  return found;
}
