// Finds and changes entries of access lists.

import { asList, newDict, type PlainDict, pyStr, type StateContext, textKeyed, type Value } from 'halite/sdk';
import { existsSync, isDirectory } from 'halite/sdk/fs';

const values: Readonly<Record<string, number>> = { r: 4, w: 2, x: 1 };
/** `rwx` as a number. */
export const octalOf = (perms: string): number => [...perms].reduce((sum, letter) => sum + (values[letter] ?? 0), 0);
/** A number as `rwx`. */
export const lettersOf = (octal: number): string =>
  Object.entries(values)
    .map(([letter, value]) => (octal & value ? letter : '-'))
    .join('');

export interface Lists {
  readonly name: string;
  /** Without `default:`. */
  readonly kind: string;
  readonly isDefault: boolean;
  readonly all: PlainDict;
}

/** The access lists of a path; a text on failure. */
export async function listsOf(
  name: string,
  type: string,
  recurse: boolean | undefined,
  ctx: StateContext,
): Promise<Lists | string> {
  if (!existsSync(name)) return `${name} does not exist`;
  const isDefault = /^(?:d|default):/.test(type);
  const kind = isDefault ? type.slice(type.indexOf(':') + 1) : type;
  const all = textKeyed(
    await ctx.callWith('acl.getfacl', [name], newDict(recurse === undefined ? [] : [['recursive', recurse]])),
  );
  const lists = { name, kind, isDefault, all };
  return isDefault || entriesAt(lists, name).length > 0 ? lists : 'ACL Type does not exist';
}

/** The entries of the requested kind, at one of the paths. */
function entriesAt({ kind, isDefault, all }: Lists, path: string): PlainDict[] {
  const list = textKeyed(isDefault ? textKeyed(all[path])['defaults'] : all[path])[kind];
  return (asList(list) ?? []).map(textKeyed);
}

/** The user or group of an entry without a name. */
export const searched = ({ name, kind, all }: Lists, given: string): string =>
  given || pyStr(textKeyed(textKeyed(all[name])['comment'])[kind === 'user' ? 'owner' : kind] ?? '');

const numberIn = (entry: Value | undefined): number | undefined => {
  const octal = textKeyed(entry)['octal'];
  return octal === undefined ? undefined : Number(octal);
};

/** Permissions of a user or group at a path; undefined without an entry. */
export const permsAt = (lists: Lists, path: string, who: string): number | undefined =>
  numberIn(entriesAt(lists, path).findLast((entry) => who in entry)?.[who]);

/** The paths for an entry: default entries only apply to folders. */
export const pathsOf = (lists: Lists): string[] =>
  Object.keys(lists.all).filter((path) => !lists.isDefault || isDirectory(path));

export const described = (name: string, type: string, perms: Value): PlainDict =>
  newDict(Object.entries({ acl_name: name, acl_type: type, perms }));

/** Sets an entry for each name, on request after removing all others. */
export async function setEntries(
  path: string,
  type: string,
  names: readonly string[],
  perms: string,
  options: { recurse: boolean; force: boolean },
  ctx: StateContext,
): Promise<void> {
  const how = newDict(Object.entries({ recursive: options.recurse, raise_err: true }));
  if (options.force) await ctx.callWith('acl.wipefacls', [path], how);
  for (const name of names) await ctx.callWith('acl.modfacl', [type, name, perms, path], newDict(Object.entries(how)));
}
