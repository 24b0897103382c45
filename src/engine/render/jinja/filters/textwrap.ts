// textwrap.wrap without changes to tabs and line breaks, as used by the wordwrap filter.
import { valueError } from '../errors.ts';
import { isSpace, pyLength, pySlice } from '../runtime/text.ts';

const letter = '[\\p{L}\\p{Nl}\\p{No}_]';
const wordlike = `[\\p{L}\\p{N}_!"'&.,?]`;
const blank = '[\\t\\n\\v\\f\\r ]';
const solid = '[^\\t\\n\\v\\f\\r ]';

/** Chunks at which a line may break: blanks, words, parts of hyphenated words, dashes. */
const hyphenated = new RegExp(
  `(${blank}+|(?<=${wordlike})-{2,}(?=[\\p{L}\\p{N}_])|${solid}+?(?:-(?:(?<=${letter}{2}-)|(?<=${letter}-${letter}-))(?=${letter}-?${letter})|(?=${blank}|$)|(?<=${wordlike})(?=-{2,}[\\p{L}\\p{N}_])))`,
  'u',
);
const simple = new RegExp(`(${blank}+)`, 'u');

/** Takes as much as fits of a chunk that is longer than a whole line. */
function breakLong(
  chunks: string[],
  line: string[],
  room: number,
  width: number,
  breakWords: boolean,
  hyphens: boolean,
): void {
  const space = width < 1 ? 1 : room;
  if (breakWords) {
    const chunk = chunks.at(-1)!;
    let end = space;
    if (hyphens && pyLength(chunk) > space) {
      const hyphen = pySlice(chunk, 0, space).lastIndexOf('-');
      if (hyphen > 0 && /[^-]/.test(chunk.slice(0, hyphen))) end = hyphen + 1;
    }
    line.push(pySlice(chunk, 0, end));
    chunks[chunks.length - 1] = pySlice(chunk, end);
  } else if (line.length === 0) line.push(chunks.pop()!);
}

/** Wraps one paragraph. */
export function wrapLine(text: string, width: number, breakWords: boolean, hyphens: boolean): string[] {
  if (width <= 0) throw valueError(`invalid width ${width} (must be > 0)`);
  const chunks = text
    .split(hyphens ? hyphenated : simple)
    .filter((chunk) => chunk !== '')
    .reverse();
  const lines: string[] = [];
  while (chunks.length > 0) {
    const line: string[] = [];
    let length = 0;
    if (isSpace(chunks.at(-1)!) && lines.length > 0) chunks.pop();
    while (chunks.length > 0) {
      const size = pyLength(chunks.at(-1)!);
      if (length + size > width) break;
      line.push(chunks.pop()!);
      length += size;
    }
    if (chunks.length > 0 && pyLength(chunks.at(-1)!) > width)
      breakLong(chunks, line, width - length, width, breakWords, hyphens);
    if (line.length > 0 && isSpace(line.at(-1)!)) line.pop();
    if (line.length > 0) lines.push(line.join(''));
  }
  return lines;
}
