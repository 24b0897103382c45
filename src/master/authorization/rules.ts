// The grammar of rules in `publisher_acl` and `external_auth`, and what they permit. A list of rules only adds rights:
// their order never matters.
import { pyStr } from '../../base/codec/python/index.ts';
import {
  asList,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  oneOrMore,
  type Value,
} from '../../base/codec/value.ts';
import { matchesIdRule, matchesRule } from '../../base/util/function-rule.ts';
import { matchesWhole } from '../../base/util/pyregex.ts';

/** One function of a request, with the arguments that it would get. */
export interface RequestedCall {
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: Dict;
}

/** Whether every minion of the target is among those that an expression matches. */
export type Covers = (expression: string) => boolean;

/** A limit on the arguments of a function; several are alternatives. */
interface Limit {
  readonly args: readonly Value[];
  readonly kwargs: readonly (readonly [name: string, expression: Value])[];
}

/** A function, whose arguments may be limited. */
export interface Condition {
  readonly fun: string;
  readonly limits?: readonly Limit[];
}

/** `scope` is undefined for every minion, a target expression, or a word that begins with `@`. */
export interface Rule {
  readonly scope: string | undefined;
  readonly conditions: readonly Condition[] | 'all';
}

/** Reads the rules of one user; what is not a rule permits nothing and is passed to `problem`. */
export function readRules(value: Value | undefined, problem: (text: string) => void = () => {}): Rule[] {
  // A map directly under the user is the list of its entries.
  const list = isDict(value) ? [value] : (asList(value) ?? []);
  if (value !== undefined && value !== null && !isDict(value) && !asList(value))
    problem(`${shown(value)} is no list of rules`);
  return list.flatMap((item): Rule[] => {
    if (typeof item === 'string')
      return [
        item.startsWith('@') ? { scope: item, conditions: 'all' } : { scope: undefined, conditions: [{ fun: item }] },
      ];
    if (isDict(item)) {
      return dictEntries(item).map(([scope, given]) => ({
        scope: pyStr(scope),
        conditions: readConditions(given, problem),
      }));
    }
    problem(`${shown(item)} is neither a function nor a map of a target`);
    return [];
  });
}

function readConditions(given: Value, problem: (text: string) => void): Condition[] {
  return (isDict(given) ? [given] : oneOrMore(given)).flatMap((item): Condition[] => {
    if (typeof item === 'string') return [{ fun: item }];
    if (isDict(item))
      return dictEntries(item).map(([fun, limits]) => ({ fun: pyStr(fun), limits: readLimits(limits, problem) }));
    problem(`${shown(item)} is neither a function nor a map of a function`);
    return [];
  });
}

/** Unknown keys, and values of a wrong type, are limits that nothing can meet: a mistake must not permit more. */
function readLimits(given: Value, problem: (text: string) => void): Limit[] {
  return oneOrMore(given).flatMap((item): Limit[] => {
    const entries = isDict(item) ? dictEntries(item) : undefined;
    const args = isDict(item) ? (dictGet(item, 'args') ?? []) : null;
    const kwargs = isDict(item) ? (dictGet(item, 'kwargs') ?? new Map()) : null;
    const stranger = entries?.find(([name]) => name !== 'args' && name !== 'kwargs');
    if (!entries || stranger || !asList(args) || !isDict(kwargs)) {
      problem(`${shown(item)} does not limit arguments: only args (a list) and kwargs (a map) do`);
      return [];
    }
    const named = dictEntries(kwargs).map(([name, expression]) => [pyStr(name), expression] as const);
    return [{ args: asList(args) ?? [], kwargs: named }];
  });
}

const shown = (value: Value): string => JSON.stringify(pyStr(value)).slice(0, 80);

/**
 * All of the calls must be permitted: one function does not permit another one; and there must be at least one. Rules
 * for every minion are asked first, because they do not need the target.
 */
export const permitsPublish = (rules: readonly Rule[], calls: readonly RequestedCall[], covers: Covers): boolean =>
  calls.length > 0 &&
  permitsEach(
    rules,
    calls.filter(({ fun }) => fun !== 'saltutil.find_job'),
    covers,
  );

/** Without the function that everybody may run on minions. */
export function permitsEach(rules: readonly Rule[], calls: readonly RequestedCall[], covers: Covers): boolean {
  const everywhere = rules.filter(({ scope }) => scope === undefined);
  const somewhere = rules.filter(({ scope }) => scope !== undefined && !scope.startsWith('@'));
  return calls.every(
    (call) =>
      everywhere.some((rule) => meets(rule, call)) ||
      somewhere.some((rule) => meets(rule, call) && covers(rule.scope!)),
  );
}

/** Whether a rule permits every function on every minion. */
export const isUnlimited = (rules: readonly Rule[]): boolean =>
  rules.some(
    ({ scope, conditions }) =>
      scope === undefined && conditions !== 'all' && conditions.some(({ fun }) => fun === '.*'),
  );

export type MasterKind = 'runners' | 'wheel';

const kindWords: Readonly<Record<MasterKind, readonly string[]>> = {
  runners: ['@runner', '@runners'],
  wheel: ['@wheel', '@wheels'],
};
const allWords = new Set(Object.values(kindWords).flat());

/**
 * Runners and wheel functions: only rules that begin with `@`. `@runner` and `@wheel` open all of a kind, or those
 * whose names meet the conditions; `@jobs` opens the runner and wheel module of that name, or some of its functions.
 */
export function permitsMaster(rules: readonly Rule[], kind: MasterKind, call: RequestedCall): boolean {
  const dot = call.fun.indexOf('.');
  if (dot <= 0 || dot !== call.fun.lastIndexOf('.') || dot === call.fun.length - 1) return false;
  const [module, name] = [call.fun.slice(0, dot), call.fun.slice(dot + 1)];
  return rules.some((rule) => {
    if (rule.scope === undefined || !rule.scope.startsWith('@')) return false;
    if (allWords.has(rule.scope)) return kindWords[kind].includes(rule.scope) && meets(rule, call);
    // Conditions name the functions without their module, so no dot in them stands between the two.
    return rule.scope === `@${module}` && meets(rule, { ...call, fun: name }, matchesIdRule);
  });
}

/** Whether a rule opens all functions of the kind that the word names. */
export const opensAll = (rules: readonly Rule[], word: string): boolean =>
  rules.some(
    ({ scope, conditions }) =>
      (scope === word || scope === `${word}s`) &&
      (conditions === 'all' || conditions.some(({ fun, limits }) => fun === '.*' && limits === undefined)),
  );

function meets({ conditions }: Rule, call: RequestedCall, names = matchesRule): boolean {
  if (conditions === 'all') return true;
  return conditions.some(
    ({ fun, limits }) => names(fun, call.fun) && (limits === undefined || limits.some((limit) => fits(limit, call))),
  );
}

/** What a limit names must be present and match; `null` matches anything. Other arguments are free. */
function fits(limit: Limit, { args, kwargs }: RequestedCall): boolean {
  const matches = (expression: Value, given: Value | undefined): boolean =>
    given !== undefined && (expression === null || matchesArgument(pyStr(given), pyStr(expression)));
  return (
    limit.args.every((expression, at) => matches(expression, args[at])) &&
    limit.kwargs.every(([name, expression]) => matches(expression, dictGet(kwargs, name)))
  );
}

/** Arguments may be any text: an expression without special characters matches literally. */
function matchesArgument(value: string, expression: string): boolean {
  return /[\\^$*+?()[\]{}|]/.test(expression) ? matchesWhole(value, expression) : value === expression;
}

/** The rules about minions in the form in which they are configured: a lower master checks them again. */
export function rulesValue(rules: readonly Rule[]): Value[] {
  return rules.flatMap(({ scope, conditions }): Value[] => {
    if (scope?.startsWith('@') || conditions === 'all') return [];
    const given = conditions.map(conditionValue);
    return scope === undefined ? given : [newDict([[scope, given]])];
  });
}

function conditionValue({ fun, limits }: Condition): Value {
  if (!limits) return fun;
  const values = limits.map(({ args, kwargs }) =>
    newDict([
      ['args', [...args]],
      ['kwargs', newDict(kwargs)],
    ]),
  );
  return newDict([[fun, values]]);
}
