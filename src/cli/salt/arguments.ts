// Target, function and arguments of a `salt` command line, by Salt's rules.
import type { Value } from '../../base/codec/value.ts';
import { conditionInput, parseInput } from '../../base/codec/yaml/cli-value.ts';
import type { OptionValue } from '../optparse.ts';

/** Kinds of targets, by the option that selects them. */
const targetKinds: Readonly<Record<string, string>> = {
  pcre: 'pcre',
  list: 'list',
  grain: 'grain',
  grain_pcre: 'grain_pcre',
  nodegroup: 'nodegroup',
  range: 'range',
  compound: 'compound',
  pillar_target: 'pillar',
  pillar_pcre: 'pillar_pcre',
  ipcidr: 'ipcidr',
};

const longNames: Readonly<Record<string, string>> = {
  list_hosts: '--hosts',
  grain_pcre: '--grain-pcre',
  pillar_target: '--pillar',
  pillar_pcre: '--pillar-pcre',
};

export type TargetChoice = { readonly kind: string } | { readonly error: string };

/** The kind of target that the options select; more than one is an error. */
export function targetKind(values: Readonly<Record<string, OptionValue | Value>>): TargetChoice {
  const chosen = ['list_hosts', ...Object.keys(targetKinds)].filter((dest) => values[dest] === true);
  if (chosen.length > 1) {
    const names = chosen.map((dest) => longNames[dest] ?? `--${dest}`).join('/');
    return { error: `The options ${names} are mutually exclusive. Please only choose one of them` };
  }
  if (chosen[0] === 'list_hosts') return { error: '-H lists the hosts of a roster and belongs to salt-ssh' };
  return { kind: chosen[0] ? targetKinds[chosen[0]]! : 'glob' };
}

/** A list of ids separated by commas or blanks; empty parts, as from a trailing comma, are ignored. */
export function targetList(text: string): string[] {
  const parts = text.includes(',') ? text.replaceAll(' ', '').split(',') : text.split(/\s+/);
  return parts.filter((part) => part !== '');
}

export interface FunctionCall {
  readonly fun: string | string[];
  readonly arg: Value[];
}

const compoundError = (what: string): { error: string } => ({ error: `Cannot execute compound command ${what}\n` });

/** `f1,f2 a b , c`: which arguments belong to which function. A separator may be a word of its own or inside words. */
function splitCompound(
  funs: readonly string[],
  words: readonly string[],
  separator: string,
): string[][] | { error: string } {
  const groups: string[][] = [[]];
  if (words.filter((word) => word === separator).length === funs.length - 1) {
    for (const word of words) {
      if (word === separator) groups.push([]);
      else groups.at(-1)!.push(word);
    }
    return groups;
  }
  for (const word of words) {
    const parts = separator === '' ? [word] : word.split(separator);
    parts.forEach((part, index) => {
      if (index > 0) groups.push([]);
      if (part !== '' || parts.length === 1) groups.at(-1)!.push(part);
    });
  }
  if (funs.length > groups.length) return compoundError('without defining all arguments.');
  if (funs.length < groups.length) return compoundError('with more arguments than commands.');
  return groups;
}

export interface CallWords {
  readonly words: readonly string[];
  readonly separator: string;
  readonly noParse: readonly string[];
}

/** One function, or several separated by commas, and their arguments as values. */
export function functionCall(name: string, { words, separator, noParse }: CallWords): FunctionCall | { error: string } {
  const parse = (part: readonly string[]): Value[] => conditionInput(parseInput(part, { noParse }));
  if (!name.includes(',')) return { fun: name, arg: parse(words) };
  const funs = name.split(',');
  const groups = splitCompound(funs, words, separator);
  return 'error' in groups ? groups : { fun: funs, arg: groups.map(parse) };
}
