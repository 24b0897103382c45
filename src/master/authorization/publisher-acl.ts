// publisher_acl and publisher_acl_blacklist: which system users may publish what, with which arguments, and where.
import { pyStr } from '../../base/codec/python/index.ts';
import { asList, type Dict, dictEntries, dictGet, isDict, oneOrMore, type Value } from '../../base/codec/value.ts';
import { matchesGlob } from '../../base/util/fnmatch.ts';
import { matchesIdRule, matchesRule } from '../../base/util/function-rule.ts';
import { matchesWhole } from '../../base/util/pyregex.ts';

/** One function of a publish, with the arguments it would get. */
export interface RequestedCall {
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: Dict;
}

/** Whether every minion of the target is among those that an expression matches. */
export type Covers = (expression: string) => boolean;

/** Users are written literally, as globs, or as regular expressions for the whole name. */
export function isListed(name: string, expressions: readonly string[]): boolean {
  return expressions.some((item) => matchesGlob(name, item) || matchesIdRule(item, name));
}

/** A prohibition is matched as widely as possible. */
function isForbidden(name: string, expressions: Value | undefined): boolean {
  const list = asList(expressions) ?? [];
  return list.some((item) => typeof item === 'string' && (matchesGlob(name, item) || matchesWhole(name, item)));
}

/** The blacklist applies to all users, including root. */
export function isBlacklisted(blacklist: Value | undefined, user: string, functions: readonly string[]): boolean {
  if (!isDict(blacklist)) return false;
  const modules = dictGet(blacklist, 'modules');
  return isForbidden(user, dictGet(blacklist, 'users')) || functions.some((fun) => isForbidden(fun, modules));
}

/**
 * All of the calls must be allowed: an allowed function does not permit another one; and there must be at least one.
 */
export function aclAllows(
  acl: Value | undefined,
  account: string,
  calls: readonly RequestedCall[],
  covers: Covers,
): boolean {
  if (!isDict(acl)) return false;
  const rules = dictEntries(acl)
    .filter(([name]) => isListed(account, [pyStr(name)]))
    .flatMap(([, own]) => asList(own) ?? [])
    // Rules for every minion first: they do not need the target.
    .sort((a, b) => Number(typeof a !== 'string') - Number(typeof b !== 'string'));
  if (calls.length === 0) return false;
  return calls.every((call) => call.fun === 'saltutil.find_job' || rules.some((rule) => permits(rule, call, covers)));
}

/** A rule is a function for every minion, or {minions: functions}. */
function permits(rule: Value, call: RequestedCall, covers: Covers): boolean {
  if (typeof rule === 'string') return matchesRule(rule, call.fun);
  const [only, ...more] = isDict(rule) ? dictEntries(rule) : [];
  if (!only || more.length > 0) return false;
  const [minions, functions] = only;
  return oneOrMore(functions).some((condition) => meets(condition, call)) && covers(pyStr(minions));
}

/** A condition is a function, or {function: [{args: …, kwargs: …}]}. */
function meets(condition: Value, call: RequestedCall): boolean {
  if (typeof condition === 'string') return matchesRule(condition, call.fun);
  const [only, ...more] = isDict(condition) ? dictEntries(condition) : [];
  if (!only || more.length > 0 || !matchesRule(pyStr(only[0]), call.fun)) return false;
  return oneOrMore(only[1]).some((wanted) => isDict(wanted) && argumentsFit(wanted, call));
}

/** What the rule names must be present and match; `null` matches anything. */
function argumentsFit(wanted: Dict, { args, kwargs }: RequestedCall): boolean {
  const fits = (expression: Value, given: Value | undefined): boolean =>
    given !== undefined && (expression === null || matchesArgument(pyStr(given), pyStr(expression)));
  const named = dictGet(wanted, 'kwargs');
  return (
    oneOrMore(dictGet(wanted, 'args') ?? []).every((expression, at) => fits(expression, args[at])) &&
    (isDict(named) ? dictEntries(named) : []).every(([key, expression]) =>
      fits(expression, dictGet(kwargs, pyStr(key))),
    )
  );
}

/** Arguments may be any text: an expression without special characters matches literally. */
function matchesArgument(value: string, expression: string): boolean {
  return /[\\^$*+?()[\]{}|]/.test(expression) ? matchesWhole(value, expression) : value === expression;
}
