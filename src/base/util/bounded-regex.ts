// Python regular expressions for untrusted patterns and texts: the same meaning as pyregex.ts, and a bound on the time.
// Most expressions run as a DFA (regex/dfa.ts); those with lookaround, atomic groups or back-references run by
// backtracking within a budget (regex/backtrack.ts).
import { HaliteError } from '../errors/index.ts';
import { type Budget, CostError, textBudget } from './budget.ts';
import { backtrack } from './regex/backtrack.ts';
import { Dfa } from './regex/dfa.ts';
import { parsePython } from './regex/parse.ts';
import { compileProgram, type Program } from './regex/program.ts';
import { type Form, type Parsed, sequence } from './regex/tree.ts';

const maxCached = 500;
const maxLength = 16384;
const compiled = new Map<string, BoundedRegex>();

export interface BoundedRegex {
  /** Throws CostError when the budget, or the default budget for a single text, is exhausted. */
  test(text: string, budget?: Budget): boolean;
}

type Test = (text: string, budget: Budget) => boolean;

/**
 * `flags` are Python's letters (`i`, `m`, `s`, `x`, `a`). Throws HaliteError for an invalid or too large expression.
 */
export function boundedRegex(pattern: string, form: Form = 'match', flags = ''): BoundedRegex {
  const key = `${form}/${flags}/${pattern}`;
  const known = compiled.get(key);
  if (known) return known;
  if (pattern.length > maxLength) throw new HaliteError('codec.limit', 'A regular expression is too long');
  const test = testOf(parsePython(pattern, flags), form);
  const made: BoundedRegex = {
    test: (text, budget = textBudget()) => {
      try {
        return test(text, budget);
      } catch (error) {
        throw error instanceof CostError ? new CostError(error.whole, pattern) : error;
      }
    },
  };
  if (compiled.size >= maxCached) compiled.clear();
  compiled.set(key, made);
  return made;
}

function testOf(parsed: Parsed, form: Form): Test {
  const program = compileProgram(parsed);
  if (program.isRegular) return tableTest(program, form);
  return leadingLooks(parsed, form) ?? ((text, budget) => backtrack(program, form, text, budget));
}

function tableTest(program: Program, form: Form): Test {
  const dfa = new Dfa(program, form);
  return (text, budget) => dfa.test(text, budget);
}

/** `^(?!db).*` tests the same start twice, and each test is regular; undefined for other expressions. */
function leadingLooks(parsed: Parsed, form: Form): Test | undefined {
  if (parsed.tree.type !== 'sequence') return undefined;
  const items = [...parsed.tree.items];
  const tests: Test[] = [];
  let anchored = form;
  for (let first = items[0]; first; first = items[0]) {
    if (first.type === 'assert' && first.kind === 'start') anchored = form === 'search' ? 'match' : form;
    else if (anchored === 'search' || first.type !== 'look' || first.back !== undefined) break;
    else {
      const inner = compileProgram({ ...parsed, tree: first.inner });
      if (!inner.isRegular) return undefined;
      const fits = tableTest(inner, 'match');
      tests.push(first.negative ? (text, budget) => !fits(text, budget) : fits);
    }
    items.shift();
  }
  const rest = compileProgram({ ...parsed, tree: sequence(items) });
  if (!rest.isRegular) return undefined;
  tests.push(tableTest(rest, anchored));
  return (text, budget) => tests.every((test) => test(text, budget));
}
