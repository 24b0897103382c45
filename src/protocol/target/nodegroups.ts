// Expands nodegroups: groups in groups and lists of ids; finds and reports cycles.
import { pyStr } from '../../base/codec/python/repr.ts';
import { type Dict, dictGet, dictKeys, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { shortened } from '../../base/util/budget.ts';
import { nearest } from '../../base/util/nearest.ts';
import { maxWords } from './limits.ts';
import type { Nodegroups } from './types.ts';

const operators: ReadonlySet<string> = new Set(['and', 'or', 'not', '(', ')']);
/** `G@`, and `G|@` with a custom delimiter, which Salt reads as an id here. */
const prefix = /^(?:[A-Z]@|[GPIJ][^\w\s.-]@)/;
const expressionSigns = /[([{\\?}\])]/;

export const isOperator = (word: string): boolean => operators.has(word);

/**
 * The words of a group, or of a compound expression with every `N@group` expanded.
 * A group of more than one word is put in parentheses, so that `not N@group` refers to all of it.
 */
export function expandNodegroups(target: string | readonly string[], groups: Nodegroups): string[] {
  if (typeof target === 'string') return expandGroup(target, groups, []);
  return expandWords(target, groups, []);
}

function expandWords(words: readonly string[], groups: Nodegroups, path: readonly string[]): string[] {
  const out: string[] = [];
  for (const word of words) {
    if (word.length >= 3 && word.startsWith('N@')) out.push(...expandGroup(word.slice(2), groups, path));
    else out.push(word);
    // Groups that use groups twice can grow exponentially.
    if (out.length > maxWords)
      throw new HaliteError('target.syntax', `Nodegroups expand to more than ${maxWords} words`);
  }
  return out;
}

function expandGroup(name: string, groups: Nodegroups, path: readonly string[]): string[] {
  const seen = path.indexOf(name);
  if (seen >= 0) {
    const cycle = [...path.slice(seen), name].join(' → ');
    throw new HaliteError('target.syntax', `The nodegroup ${name} contains itself: ${cycle}`, {
      hint: 'Remove one of the groups from the cycle.',
      details: { cycle: [...path.slice(seen), name] },
    });
  }
  const words = definitionOf(name, groups);
  if (words.length === 0) throw new HaliteError('target.syntax', `The nodegroup ${name} is empty`);
  const plain = idList(words);
  if (plain) return [plain];
  const expanded = expandWords(words, groups, [...path, name]);
  return expanded.length > 1 && !isWrapped(expanded) ? ['(', ...expanded, ')'] : expanded;
}

/** True when the first parenthesis closes at the very end. */
function isWrapped(words: readonly string[]): boolean {
  let depth = 0;
  return words.every((word, index) => {
    if (word === '(') depth++;
    else if (word === ')') depth--;
    return depth > 0 || index === words.length - 1;
  });
}

function definitionOf(name: string, groups: Nodegroups): string[] {
  const dict = groups as Dict;
  const definition = dictGet(dict, name);
  if (definition === undefined) {
    const close = nearest(shortened(name), dictKeys(dict).map(pyStr));
    throw new HaliteError('target.syntax', `There is no nodegroup ${shortened(name)}`, {
      hint: close ? `Did you mean ${close}?` : 'Nodegroups are defined in the master configuration.',
    });
  }
  if (typeof definition === 'string') return definition.split(/\s+/).filter((word) => word !== '');
  if (Array.isArray(definition)) return definition.map((word: Value) => pyStr(word)).filter((word) => word !== '');
  throw new HaliteError('target.syntax', `The nodegroup ${name} is neither text nor a list`);
}

/** Words without operator, prefix or star are ids (`L@a,b`), or one expression when they look like one. */
function idList(words: readonly string[]): string | undefined {
  if (words.some((word) => isOperator(word) || word.includes('*') || prefix.test(word))) return undefined;
  const letter = words.some((word) => expressionSigns.test(word)) ? 'E' : 'L';
  return `${letter}@${words.join(',')}`;
}
