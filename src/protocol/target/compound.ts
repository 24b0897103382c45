// Compound expressions: words with `and`, `or`, `not` and parentheses, parsed by Salt's rules.
import { shortened } from '../../base/util/budget.ts';
import { maxWords, tooMuch } from './limits.ts';
import { expandNodegroups, isOperator } from './nodegroups.ts';
import { placed, syntaxError, type Word } from './syntax-error.ts';
import { dataTerm, globTerm, ipTerm, listTerm, type Place, pcreTerm, rangeTerm } from './terms.ts';
import type { CompoundTarget, DataKind, Expression, Nodegroups, Term } from './types.ts';

const maxNesting = 200;
const dataEngines: Readonly<Record<string, DataKind>> = { G: 'grain', P: 'grain_pcre', I: 'pillar', J: 'pillar_pcre' };
const termPattern = /^(?:([GPIJ])([^\n])?@|([LNSER])@)(.+)$/su;

export interface CompoundOptions {
  readonly nodegroups: Nodegroups;
  readonly lenient: boolean;
  /** Pillar terms compare exactly: minions must not probe pillars with globs. */
  readonly pillarExact: boolean;
}

interface Reader {
  readonly expression: string;
  readonly words: readonly Word[];
  readonly options: CompoundOptions;
  readonly out: string[];
  at: number;
}

/** The tree and the words of an expression; nodegroups are expanded while parsing. */
export function parseCompound(source: readonly Word[], text: string, options: CompoundOptions): CompoundTarget {
  const { expression, words } = withGroups(source, text, options);
  if (words.length > maxWords) throw tooMuch(`more than ${maxWords.toLocaleString('en-US')} words`);
  if (words.length === 0) throw syntaxError('The target is empty', text, 0, text.length);
  const reader: Reader = { expression, words: withImpliedAnd(words), options, out: [], at: 0 };
  const tree = readOr(reader, 0);
  const rest = reader.words[reader.at];
  if (rest) throw unexpected(reader, rest);
  return { type: 'compound', expression: tree, words: reader.out };
}

/** Groups expand to words; positions then refer to the expanded text, which error messages show. */
function withGroups(
  source: readonly Word[],
  text: string,
  options: CompoundOptions,
): Pick<Reader, 'expression' | 'words'> {
  const texts = source.map((word) => word.text);
  if (!texts.some((word) => word.startsWith('N@') && word.length > 2)) return { expression: text, words: source };
  const expanded = expandNodegroups(texts, options.nodegroups);
  return { expression: expanded.join(' '), words: placed(expanded) };
}

/** Salt: `A not B` means `A and not B`. */
function withImpliedAnd(words: readonly Word[]): Word[] {
  const out: Word[] = [];
  for (const word of words) {
    const before = out.at(-1)?.text;
    if (word.text === 'not' && before !== undefined && !['and', 'or', '(', 'not'].includes(before)) {
      out.push({ text: 'and', at: word.at });
    }
    out.push(word);
  }
  return out;
}

function take(reader: Reader, text: string): boolean {
  if (reader.words[reader.at]?.text !== text) return false;
  reader.at++;
  reader.out.push(text);
  return true;
}

function readOr(reader: Reader, depth: number): Expression {
  const parts = [readAnd(reader, depth)];
  while (take(reader, 'or')) parts.push(readAnd(reader, depth));
  return joined('or', parts);
}

function readAnd(reader: Reader, depth: number): Expression {
  const parts = [readNot(reader, depth)];
  while (take(reader, 'and')) parts.push(readNot(reader, depth));
  return joined('and', parts);
}

/** As wide as the expression is long, and only as deep as its parentheses. */
const joined = (type: 'and' | 'or', parts: readonly Expression[]): Expression =>
  parts.length === 1 ? (parts[0] as Expression) : { type, parts };

function readNot(reader: Reader, depth: number): Expression {
  if (!take(reader, 'not')) return readAtom(reader, depth);
  const next = reader.words[reader.at];
  // Salt cannot read two in a row either.
  if (next?.text === 'not') throw syntaxError('"not" may not follow "not"', reader.expression, next.at, 3);
  return { type: 'not', inner: readAtom(reader, depth) };
}

function readAtom(reader: Reader, depth: number): Expression {
  const word = reader.words[reader.at];
  if (!word) {
    const end = reader.expression.length;
    throw syntaxError('The target ends where a term should follow', reader.expression, end, 1);
  }
  if (word.text === '(') {
    if (depth >= maxNesting) throw syntaxError('Too many parentheses inside each other', reader.expression, word.at, 1);
    take(reader, '(');
    const inner = readOr(reader, depth + 1);
    const close = reader.words[reader.at];
    if (close && close.text !== ')') throw unexpected(reader, close);
    if (!take(reader, ')')) throw syntaxError('This parenthesis is not closed', reader.expression, word.at, 1);
    return inner;
  }
  if (isOperator(word.text)) throw unexpected(reader, word);
  reader.at++;
  return readTerm(reader, word);
}

function unexpected(reader: Reader, word: Word): Error {
  const { text } = word;
  if (isOperator(text)) {
    const what = text === ')' ? 'This parenthesis closes nothing' : `"${text}" stands where a term should be`;
    return syntaxError(what, reader.expression, word.at, text.length);
  }
  const lower = text.toLowerCase();
  const hint = isOperator(lower)
    ? `Operators are written in lower case: ${lower}.`
    : 'Put "and" or "or" between terms.';
  return syntaxError(`There is no operator before "${shortened(text)}"`, reader.expression, word.at, text.length, hint);
}

function readTerm(reader: Reader, word: Word): Term {
  const { options } = reader;
  const place: Place = {
    expression: reader.expression,
    at: word.at,
    length: word.text.length,
    lenient: options.lenient,
  };
  const found = termPattern.exec(word.text);
  if (!found) {
    if (!options.lenient) checkGlobWord(word, place);
    const term = globTerm(word.text, place);
    reader.out.push(withoutSpace(word.text, term));
    return term;
  }
  const [, data, delimiter = ':', plain, pattern = ''] = found;
  const term = data
    ? dataTerm(engineOf(data, options), pattern, delimiter, place)
    : plainTerm(plain as string, pattern, place);
  reader.out.push(publishedWord(term, data, delimiter, word.text));
  return term;
}

function engineOf(letter: string, options: CompoundOptions): DataKind {
  const kind = dataEngines[letter] as DataKind;
  return options.pillarExact && kind.startsWith('pillar') ? 'pillar_exact' : kind;
}

function plainTerm(letter: string, pattern: string, place: Place): Term {
  if (letter === 'L') return listTerm(pattern, place);
  if (letter === 'S') return ipTerm(pattern, place);
  // As in Salt: an invalid regular expression, or a range without its library, makes the whole target fail and not only
  // the term.
  const strict = { ...place, lenient: false };
  return letter === 'R' ? rangeTerm(strict) : pcreTerm(pattern, strict);
}

/** Words that can only be mistakes: a parenthesis joined to a term, or a letter without an engine. */
function checkGlobWord(word: Word, place: Place): void {
  const { text } = word;
  if (text.startsWith('(') || (text.endsWith(')') && !text.includes('('))) {
    const hint = 'Put spaces around parentheses.';
    throw syntaxError(
      'A parenthesis must stand alone',
      place.expression,
      text.startsWith('(') ? word.at : word.at + text.length - 1,
      1,
      hint,
    );
  }
  if (/^[A-Z]@/.test(text)) {
    throw syntaxError(
      `There is no target type ${text[0]}@`,
      place.expression,
      word.at,
      2,
      'The letters are G P I J L N S E.',
    );
  }
}

/** Lists in normal form; a custom delimiter becomes a colon where that is equivalent, for old minions. */
function publishedWord(term: Term, letter: string | undefined, delimiter: string, text: string): string {
  if (term.type === 'list') return `L@${term.ids.join(',')}`;
  const plain = letter && delimiter !== ':' && 'expression' in term ? colonForm(term.expression, delimiter) : undefined;
  return withoutSpace(plain === undefined ? text : `${letter}@${plain}`, term);
}

/** A word that came from a list may contain spaces, but in the published text a space ends a word. */
function withoutSpace(word: string, term: Term): string {
  if (!/\s/.test(word)) return word;
  return word.replace(/\s/g, term.type.endsWith('pcre') ? '\\s' : '?');
}

/** `os|Debian` as `os:Debian`; undefined when a colon inside or more levels could change the meaning. */
export function colonForm(expression: string, delimiter: string): string | undefined {
  const parts = expression.split(delimiter);
  if (parts.length !== 2 || expression.includes(':') || parts[0] === '*') return undefined;
  return parts.join(':');
}
