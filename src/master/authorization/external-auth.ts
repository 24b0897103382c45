// `external_auth`: which rules of the configuration apply to a user whom a module has authenticated.
import { pyStr } from '../../base/codec/python/index.ts';
import { type Dict, dictEntries, isDict, type Value } from '../../base/codec/value.ts';
import { isListed } from './publisher-acl.ts';

/** Who was authenticated, and by which module. */
export interface Identity {
  readonly name: string;
  readonly eauth: string;
  readonly groups: readonly string[];
  /** Rules from the module or the token, which apply instead of those of the configuration. */
  readonly rules?: readonly Value[];
}

/** The block of a module; undefined when it is not configured. */
export function blockOf(externalAuth: Value | undefined, eauth: string): Dict | undefined {
  if (!isDict(externalAuth)) return undefined;
  const found = dictEntries(externalAuth).find(([name]) => name === eauth);
  return found && isDict(found[1]) ? found[1] : undefined;
}

/** `^filename` and similar keys are parameters of the module and never users; Salt writes one of them without the mark. */
const isParameter = (key: string, value: Value): boolean =>
  key.startsWith('^') || (key === 'ca_file' && typeof value === 'string');

/** Parameters of the module, by name without the `^`. */
export function parametersOf(block: Dict): [string, Value][] {
  return dictEntries(block)
    .map(([key, value]) => [pyStr(key), value] as [string, Value])
    .filter(([key, value]) => isParameter(key, value))
    .map(([key, value]) => [key.replace(/^\^/, ''), value]);
}

type EntryKind = 'user' | 'group' | 'everybody';
export interface Entry {
  readonly kind: EntryKind;
  readonly name: string;
  readonly rules: Value;
}

/** Users, groups and `*` of a block. */
export function entriesOf(block: Dict): Entry[] {
  return dictEntries(block)
    .map(([key, rules]) => [pyStr(key), rules] as const)
    .filter(([key, value]) => !isParameter(key, value))
    .map(([key, rules]): Entry => {
      if (key === '*') return { kind: 'everybody', name: key, rules };
      return key.endsWith('%') ? { kind: 'group', name: key.slice(0, -1), rules } : { kind: 'user', name: key, rules };
    });
}

/**
 * What applies to a user: own entries and those of groups; `*` too unless an entry names the user, or always with
 * `permissive_acl`. Keys are patterns; the name of the user is always literal.
 */
export function configuredRules(
  block: Dict,
  { name, groups }: Pick<Identity, 'name' | 'groups'>,
  permissive: boolean,
): Value[] {
  const found: Value[] = [];
  let named = false;
  const entries = entriesOf(block);
  for (const entry of entries) {
    const own = entry.kind === 'user' && isListed(name, [entry.name]);
    const joint = entry.kind === 'group' && groups.some((group) => isListed(group, [entry.name]));
    // Directories and databases do not tell FRED from fred: what `*` gives to others must not come by another spelling.
    named ||= own || (entry.kind === 'user' && entry.name.toLowerCase() === name.toLowerCase());
    if (own || joint) found.push(entry.rules);
  }
  if (permissive || !named) found.push(...entries.filter(({ kind }) => kind === 'everybody').map(({ rules }) => rules));
  return found.flatMap((rules) => (isDict(rules) || !Array.isArray(rules) ? [rules] : rules));
}
