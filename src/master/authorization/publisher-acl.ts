// publisher_acl and publisher_acl_blacklist: the rules of system users, and what is forbidden to everybody.
import { pyStr } from '../../base/codec/python/index.ts';
import { asList, dictEntries, dictGet, isDict, type Value } from '../../base/codec/value.ts';
import { matchesGlob } from '../../base/util/fnmatch.ts';
import { matchesIdRule } from '../../base/util/function-rule.ts';
import { matchesWhole } from '../../base/util/pyregex.ts';
import { type Rule, readRules } from './rules.ts';

/** Users are written literally, as globs, or as regular expressions for the whole name. */
export function isListed(name: string, expressions: readonly string[]): boolean {
  return expressions.some((item) => name === item || matchesGlob(name, item) || matchesIdRule(item, name));
}

/** A prohibition is matched as widely as possible: also in small letters, which directories do not tell from others. */
function isForbidden(name: string, expressions: Value | undefined): boolean {
  const small = name.toLowerCase();
  return (asList(expressions) ?? []).some(
    (item) =>
      typeof item === 'string' &&
      (small === item.toLowerCase() ||
        [name, small].some((each) => matchesGlob(each, item) || matchesWhole(each, item))),
  );
}

/** The blacklist applies to all users, including root. */
export function isBlacklisted(blacklist: Value | undefined, user: string, functions: readonly string[]): boolean {
  if (!isDict(blacklist)) return false;
  const modules = dictGet(blacklist, 'modules');
  return isForbidden(user, dictGet(blacklist, 'users')) || functions.some((fun) => isForbidden(fun, modules));
}

/** The rules of an account of this machine. */
export function aclRules(acl: Value | undefined, account: string): Rule[] {
  if (!isDict(acl)) return [];
  return dictEntries(acl)
    .filter(([name]) => isListed(account, [pyStr(name)]))
    .flatMap(([, own]) => readRules(own));
}
