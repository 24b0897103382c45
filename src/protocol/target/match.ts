// Matching in three values: match, no match, or not known because the data is not at hand.
import type { Dict } from '../../base/codec/value.ts';
import { dictGet } from '../../base/codec/value.ts';
import { subdictMatch } from '../../base/util/dict-path.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import { formatIp, inNetwork, parseIp } from '../../base/util/ip.ts';
import { pyRegex } from '../../base/util/pyregex.ts';
import { targetNetwork } from './ip.ts';
import type { DataKind, Expression, Subject, Target, Term, Verdict } from './types.ts';

type Test = (subject: Subject) => Verdict;

const tests = new WeakMap<object, Test>();
const verdict = (matched: boolean): Verdict => (matched ? 'match' : 'no-match');

/** Whether the target covers the subject. */
export function matches(target: Target, subject: Subject): Verdict {
  return testOf(target)(subject);
}

/** The test for a target, made once: patterns are compiled, lists become sets. */
export function testOf(target: Target): Test {
  const known = tests.get(target);
  if (known) return known;
  const made = target.type === 'compound' ? compile(target.expression) : compileTerm(target);
  tests.set(target, made);
  return made;
}

/** Kleene's logic: an unknown part only matters when the rest does not decide. */
function compile(expression: Expression): Test {
  switch (expression.type) {
    case 'not': {
      const inner = compile(expression.inner);
      return (subject) => {
        const found = inner(subject);
        return found === 'unknown' ? found : verdict(found === 'no-match');
      };
    }
    case 'and':
      return decidedBy('no-match', compile(expression.left), compile(expression.right));
    case 'or':
      return decidedBy('match', compile(expression.left), compile(expression.right));
    default:
      return compileTerm(expression);
  }
}

function decidedBy(decisive: Verdict, left: Test, right: Test): Test {
  return (subject) => {
    const first = left(subject);
    if (first === decisive) return decisive;
    const second = right(subject);
    if (second === decisive) return decisive;
    return first === 'unknown' ? first : second;
  };
}

function compileTerm(term: Term): Test {
  switch (term.type) {
    case 'glob': {
      const match = globMatcher(term.pattern);
      return (subject) => verdict(match(subject.id));
    }
    case 'pcre': {
      const expression = pyRegex(term.pattern);
      return (subject) => verdict(expression.test(subject.id));
    }
    case 'list': {
      const ids = new Set(term.ids);
      return (subject) => verdict(ids.has(subject.id));
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
  const options = { delimiter, regex: type.endsWith('_pcre'), exact: type === 'pillar_exact' };
  return (subject) => {
    const data = subject[part];
    return data === undefined ? 'unknown' : verdict(subdictMatch(data, expression, options));
  };
}

function compileAddress(text: string): Test {
  const address = parseIp(text);
  const network = address ? undefined : targetNetwork(text);
  const name = (address ?? network)?.version === 6 ? 'ipv6' : 'ipv4';
  const plain = address ? formatIp(address) : '';
  return ({ grains }) => {
    if (grains === undefined) return 'unknown';
    const addresses = addressesOf(grains, name);
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
