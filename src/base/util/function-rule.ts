// Rules of `peer`, `peer_run` and `publisher_acl`: is a function, or an id, the one a rule of the administrator means?
// For whoever decides about rights: the handlers of minions' publishes and the check of local users.
//
// Rules are regular expressions for the whole name, as in Salt. But who writes `test.ping` means that function and not
// `testXping`, and who writes `test.*` means the functions of the module test and not those of `testing`.
import { matchesWhole } from './pyregex.ts';

/** Text in which nothing but a dot could mean something in an expression. */
const plain = /^[\w.-]+$/;
const exactDots = 1000;
const written = new Map<string, string>();

/** Whether the rule covers all of the function's name. A rule that is no valid expression covers nothing. */
export function matchesRule(rule: string, name: string): boolean {
  if (plain.test(rule)) return rule === name;
  return matchesWhole(name, withExactDots(rule));
}

/** The same for ids: a plain id means itself; in an expression a dot stays any character (`web.*` covers `web1`). */
export function matchesIdRule(rule: string, id: string): boolean {
  return plain.test(rule) ? rule === id : matchesWhole(id, rule);
}

/**
 * The expression with those dots made exact that can only be meant so: between two parts of a name (`test.ping|test.echo`,
 * `test.(ping|echo)`), and behind the module at the start of an alternative (`test.*`, which becomes `test\..*`).
 */
function withExactDots(rule: string): string {
  const known = written.get(rule);
  if (known !== undefined) return known;
  let out = '';
  /** Letters of a name just before, and whether they began the expression or an alternative. */
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

/** The place behind a set that begins here; a set without end reaches to the end. */
function endOfSet(rule: string, start: number): number {
  let at = start + 1;
  if (rule[at] === '^') at++;
  if (rule[at] === ']') at++;
  for (; at < rule.length && rule[at] !== ']'; at++) if (rule[at] === '\\') at++;
  return at + 1;
}
