// Documentation of functions for `-d`, read from the extensions themselves: no daemon is needed.
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { hasGlob, matchesGlob } from '../base/util/fnmatch.ts';
import type { FunctionKind } from '../extend/loader/index.ts';

/** reStructuredText markup that is not useful on a terminal. */
export function stripMarkup(text: string): string {
  return text
    .replace(/ *.. code-block:: \S+\n{1,2}/g, '')
    .replaceAll('.. note::', 'Note:')
    .replaceAll('.. warning::', 'Warning:')
    .replaceAll('.. versionadded::', 'New in version')
    .replaceAll('.. versionchanged::', 'Changed in version');
}

/** Docstrings by function name, for a function, a module, a glob or (with '') everything. */
export async function functionDocs(
  kind: FunctionKind,
  wanted: string,
  opts: Readonly<Record<string, Value>>,
): Promise<PlainDict> {
  const [{ createRegistry, Loader }, { nullLogger }] = await Promise.all([
    import('../extend/loader/index.ts'),
    import('../base/log/null-logger.ts'),
  ]);
  const loader = new Loader({ opts: () => opts, grains: () => newDict(), log: nullLogger(), userCode: 'import' });
  const registry = createRegistry(loader);
  const prefix = wanted.endsWith('.') ? wanted : `${wanted}.`;
  const matches = (name: string): boolean => {
    if (wanted === '') return true;
    return hasGlob(wanted) ? matchesGlob(name, wanted) : name === wanted || name.startsWith(prefix);
  };
  const docs = newDict();
  for (const name of await registry.functionNames(kind)) {
    if (!matches(name)) continue;
    const info = await registry.functionInfo(kind, name);
    if (info?.doc) docs[name] = info.doc;
  }
  return docs;
}
