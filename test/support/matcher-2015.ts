// How a minion of Salt 2015.5 decides whether a job is for it: the rules of the wire protocol notes, section 6.
import type { RandomMinion } from './random-targets.ts';

/** Decides single terms; the old minion knows these letters and no delimiter of one's own. */
export type TermTest = (letter: string, pattern: string) => boolean;

const known = 'GPIJLSE';
const operators = new Set(['and', 'or', 'not', '(', ')']);

/** A compound target as 2015.5 reads it: text only, and false for whatever it does not understand. */
export function compound2015(tgt: unknown, test: TermTest): boolean {
  // The check that made story 000: an array is no match, without a word.
  if (typeof tgt !== 'string') return false;
  const words: string[] = [];
  for (const word of tgt.split(/\s+/).filter(Boolean)) {
    if (operators.has(word)) {
      // A sentence cannot begin with an operator.
      if (words.length === 0 && word !== '(' && word !== ')') return false;
      if (word === 'not' && !['and', 'or'].includes(words.at(-1) ?? '')) words.push('and');
      words.push(word);
    } else if (word[1] === '@') {
      if (!known.includes(word[0] as string)) return false;
      words.push(String(test(word[0] as string, word.slice(2))));
    } else words.push(String(test('', word)));
  }
  return evaluate(words) ?? false;
}

/** Python's reading of `True and ( not False or True )`; undefined when that is no sentence. */
function evaluate(words: readonly string[]): boolean | undefined {
  let at = 0;
  const atom = (): boolean | undefined => {
    const word = words[at++];
    if (word === 'true' || word === 'false') return word === 'true';
    if (word === 'not') {
      const inner = atom();
      return inner === undefined ? undefined : !inner;
    }
    if (word !== '(') return undefined;
    const inner = or();
    return words[at++] === ')' ? inner : undefined;
  };
  const chain = (sign: 'and' | 'or', next: () => boolean | undefined): boolean | undefined => {
    let value = next();
    while (value !== undefined && words[at] === sign) {
      at++;
      const right = next();
      if (right === undefined) return undefined;
      value = sign === 'and' ? value && right : value || right;
    }
    return value;
  };
  const and = (): boolean | undefined => chain('and', atom);
  const or = (): boolean | undefined => chain('or', and);
  const value = or();
  return at === words.length ? value : undefined;
}

/** The whole decision, for the kinds of target a job may carry. `test` gets the kind in place of a letter. */
export function matches2015(
  job: { readonly tgt: unknown; readonly tgt_type: string },
  minion: Pick<RandomMinion, 'id'>,
  test: TermTest,
): boolean {
  const { tgt, tgt_type: kind } = job;
  if (kind === 'compound') return compound2015(tgt, test);
  if (kind === 'list') {
    const ids = Array.isArray(tgt) ? tgt : typeof tgt === 'string' ? tgt.split(',') : [];
    return ids.includes(minion.id);
  }
  // 3001 and later know `nodegroup` on minions no more than 2015.5 did: it must never be published.
  const kinds = ['glob', 'pcre', 'grain', 'grain_pcre', 'pillar', 'pillar_pcre', 'pillar_exact', 'ipcidr'];
  return kinds.includes(kind) && typeof tgt === 'string' && test(kind, tgt);
}
