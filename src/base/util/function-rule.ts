// Rules of `peer`, `peer_run` and `publisher_acl`: whether a rule of the administrator covers a function or an id. Used
// by every authorization check: publishes of minions, and local users. As in Salt, rules are regular expressions for
// the whole name. But the author of `test.ping` means that function and not `testXping`, and the author of `test.*`
// means the functions of the module test and not those of `testing`.
import { matchesWhole } from './pyregex.ts';

/** Text whose only special character in an expression is a dot. */
const plain = /^[\w.-]+$/;
const exactDots = 1000;
const written = new Map<string, string>();

/** Whether the rule covers the whole name of the function. A rule that is not a valid expression covers nothing. */
export function matchesRule(rule: string, name: string): boolean {
  if (plain.test(rule)) return rule === name;
  return matchesWhole(name, withExactDots(rule));
}

/**
 * The same for ids: a plain id matches literally; in an expression a dot matches any character (`web.*` covers `web1`).
 */
export function matchesIdRule(rule: string, id: string): boolean {
  return plain.test(rule) ? rule === id : matchesWhole(id, rule);
}

/**
 * The expression with dots made literal where only that can be meant: between two parts of a name
 * (`test.ping|test.echo`, `test.(ping|echo)`), and after the module at the start of an alternative (`test.*`, which
 * becomes `test\..*`).
 */
function withExactDots(rule: string): string {
  const known = written.get(rule);
  if (known !== undefined) return known;
  let out = '';
  /** The preceding letters of a name, and whether they started the expression or an alternative. */
  let inName = false;
  let atStart = true;
  let nameAtStart = false;
  for (let at = 0; at < rule.length; at++) {
    const character = rule[at] as string;
    if (character === '\\') {
      out += rule.slice(at, at + 2);
      at++;
      inName = atStart = false;
      continue;
    }
    if (character === '[') {
      const end = endOfSet(rule, at);
      out += rule.slice(at, end);
      at = end - 1;
      inName = atStart = false;
      continue;
    }
    if (character === '.' && inName) {
      const next = rule[at + 1] ?? '';
      const repeated = next === '*' || next === '+';
      if (/[\w(]/.test(next) || (repeated && nameAtStart)) {
        out += repeated ? '\\..*' : '\\.';
        if (repeated) at++;
        inName = atStart = false;
        continue;
      }
    }
    out += character;
    if (/\w/.test(character)) {
      if (!inName) nameAtStart = atStart;
      inName = true;
      atStart = false;
    } else {
      inName = false;
      atStart = character === '|' || character === '(' || character === '^' || (atStart && /[?:]/.test(character));
    }
  }
  if (written.size >= exactDots) written.clear();
  written.set(rule, out);
  return out;
}

/** The offset after a set that begins here; an unterminated set reaches to the end. */
function endOfSet(rule: string, start: number): number {
  let at = start + 1;
  if (rule[at] === '^') at++;
  if (rule[at] === ']') at++;
  for (; at < rule.length && rule[at] !== ']'; at++) if (rule[at] === '\\') at++;
  return at + 1;
}
