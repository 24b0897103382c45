// Names of hosts with ranges: `web[1-3,7]`, `rack[1-2]n[01-04]`, several separated by commas.
import { HaliteError } from 'halite/sdk';

const mostNames = 65_536;
const part = /^(\d+)(?:-(\d+)(?:\/(\d+))?)?$/;

const wrong = (text: string, why: string): HaliteError =>
  new HaliteError('target.syntax', `${text.slice(0, 200)}: ${why}`);
const tooMany = (text: string): HaliteError => wrong(text, `more than ${mostNames} names`);

/** The words between commas that are not in brackets. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at <= text.length; at++) {
    const letter = text[at];
    if (letter === '[') depth++;
    else if (letter === ']') depth--;
    else if ((letter === ',' && depth === 0) || letter === undefined) {
      words.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return words.filter((word) => word !== '');
}

/** `01-03` keeps its zeros. */
function numbersOf(range: string, whole: string): string[] {
  const names: string[] = [];
  for (const each of range.split(',')) {
    const [, first = '', last = first, step = '1'] = part.exec(each.trim()) ?? [];
    if (first === '') throw wrong(whole, `${each || 'nothing'} is not a range`);
    const [from, to, by] = [Number(first), Number(last), Number(step)];
    if (to < from || by < 1 || names.length + (to - from) / by > mostNames)
      throw wrong(whole, `${each} is not a usable range`);
    for (let number = from; number <= to; number += by) names.push(String(number).padStart(first.length, '0'));
  }
  return names;
}

export function expandNodes(text: string): string[] {
  const names = new Set<string>();
  for (const word of wordsOf(text)) {
    const pieces = word.split(/\[([^\]]*)\]/);
    if (/[[\]]/.test(pieces.join(''))) throw wrong(text, 'brackets do not fit');
    let made = [''];
    for (const [at, piece] of pieces.entries()) {
      const choices = at % 2 === 1 ? numbersOf(piece, text) : [piece];
      if (made.length * choices.length > mostNames) throw tooMany(text);
      made = made.flatMap((start) => choices.map((end) => start + end));
    }
    for (const name of made) names.add(name);
    if (names.size > mostNames) throw tooMany(text);
  }
  return [...names];
}
