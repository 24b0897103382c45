// Matching with three results: match, no match, or unknown because the data is not available.
import type { Dict } from '../../base/codec/value.ts';
import { dictGet } from '../../base/codec/value.ts';
import { boundedRegex } from '../../base/util/bounded-regex.ts';
import type { Budget } from '../../base/util/budget.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import { formatIp, inNetwork, parseIp } from '../../base/util/ip.ts';
import { subdictTest } from '../../base/util/subdict.ts';
import { targetNetwork } from './ip.ts';
import { targetBudget } from './limits.ts';
import type { DataKind, Expression, Subject, Target, Term, Verdict } from './types.ts';

/** Throws CostError when the budget is exhausted. */
type Test = (subject: Subject, budget: Budget) => Verdict;

const tests = new WeakMap<object, Test>();
/** The cost of parsing an address, in steps. */
const addressCost = 50;
const verdict = (matched: boolean): Verdict => (matched ? 'match' : 'no-match');

/** Whether the target covers the subject. Throws CostError when it takes too long. */
export function matches(target: Target, subject: Subject): Verdict {
  return testOf(target)(subject, targetBudget(1, true));
}

/** The test for a target, built once: patterns are compiled, lists become sets. */
export function testOf(target: Target): Test {
  const known = tests.get(target);
  if (known) return known;
  const made = target.type === 'compound' ? compile(target.expression) : compileTerm(target);
  tests.set(target, made);
  return made;
}

/** Kleene's logic: an unknown part only matters when the other parts do not decide. */
function compile(expression: Expression): Test {
  switch (expression.type) {
    case 'not': {
      const inner = compile(expression.inner);
      return (subject, budget) => {
        const found = inner(subject, budget);
        return found === 'unknown' ? found : verdict(found === 'no-match');
      };
    }
    case 'and':
      return decidedBy('no-match', 'match', expression.parts.map(compile));
    case 'or':
      return decidedBy('match', 'no-match', expression.parts.map(compile));
    default:
      return compileTerm(expression);
  }
}

/** A decisive result of any part is that of the whole; otherwise an unknown part makes the whole unknown. */
function decidedBy(decisive: Verdict, otherwise: Verdict, tests: readonly Test[]): Test {
  return (subject, budget) => {
    let found = otherwise;
    for (const test of tests) {
      const part = test(subject, budget);
      if (part === decisive) return decisive;
      if (part === 'unknown') found = part;
    }
    return found;
  };
}

function compileTerm(term: Term): Test {
  switch (term.type) {
    case 'glob': {
      const match = globMatcher(term.pattern);
      return (subject, budget) => {
        budget.spend(1);
        return verdict(match(subject.id, budget));
      };
    }
    case 'pcre': {
      const expression = boundedRegex(term.pattern);
      return (subject, budget) => verdict(expression.test(subject.id, budget));
    }
    case 'list': {
      const ids = new Set(term.ids);
      return (subject, budget) => {
        budget.spend(1);
        return verdict(ids.has(subject.id));
      };
    }
    case 'ipcidr':
      return compileAddress(term.network);
    case 'never':
      return () => 'no-match';
    default:
      return compileData(term.type, term.expression, term.delimiter);
  }
}

function compileData(type: DataKind, expression: string, delimiter: string): Test {
  const part = type.startsWith('grain') ? 'grains' : 'pillar';
  const test = subdictTest(expression, {
    delimiter,
    regex: type.endsWith('_pcre'),
    exact: type === 'pillar_exact',
  });
  return (subject, budget) => {
    const data = subject[part];
    return data === undefined ? 'unknown' : verdict(test(data, budget));
  };
}

function compileAddress(text: string): Test {
  const address = parseIp(text);
  const network = address ? undefined : targetNetwork(text);
  const name = (address ?? network)?.version === 6 ? 'ipv6' : 'ipv4';
  const plain = address ? formatIp(address) : '';
  return ({ grains }, budget) => {
    if (grains === undefined) return 'unknown';
    const addresses = addressesOf(grains, name);
    budget.spend(1 + addresses.length * addressCost);
    if (!network) return verdict(addresses.includes(plain));
    return verdict(
      addresses.some((item) => {
        const parsed = parseIp(item);
        return parsed !== undefined && inNetwork(parsed, network);
      }),
    );
  };
}

function addressesOf(grains: Dict, name: string): string[] {
  const found = dictGet(grains, name);
  if (typeof found === 'string') return [found];
  return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
}
