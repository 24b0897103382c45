// The expressions in `publisher_acl`, `peer` and `peer_run`: Salt's regular expressions, with a dot that is a dot.
import { matchesWhole } from '../base/util/pyregex.ts';

const isPlain = (expression: string): boolean => !/[\\^$*+?()[\]{}|]/.test(expression);

/**
 * Names of users, minions and functions have dots in them, and nobody escapes these in a rule: `web1.example.com` must
 * not let `web1xexample.com` in. So a dot without a quantifier behind it is that character. Escapes and sets stay.
 */
const dot = /\\.|\[(?:\\.|[^\]\\])*\]|\.(?![*+?{])/gs;
const withDots = (expression: string): string => expression.replace(dot, (found) => (found === '.' ? '\\.' : found));

/** In `test.*` the dot is the one behind the module: it does not give `testing.run`. */
const moduleDot = /(^\^?|\||\((?:\?:)?)(\w+)\.(?=[*+?{])/g;

export function matchesName(name: string, expression: string): boolean {
  return isPlain(expression) ? name === expression : matchesWhole(name, withDots(expression));
}

export function matchesFunction(fun: string, expression: string): boolean {
  if (isPlain(expression)) return fun === expression;
  return matchesWhole(fun, withDots(expression.replace(moduleDot, '$1$2\\..')));
}

/** Arguments are any text: an expression without special characters is the text itself. */
export function matchesArgument(value: string, expression: string): boolean {
  return isPlain(expression) ? value === expression : matchesWhole(value, expression);
}
