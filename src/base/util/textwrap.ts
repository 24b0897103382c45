// Paragraph filling with the rules of Python's textwrap, used for help texts and state warnings.
import { charLength, charSlice } from './pytext.ts';

// A chunk is white space, a dash between words, or a word up to (and with) a hyphen where it may be broken.
const letter = '[\\p{L}\\p{Nl}\\p{No}_]';
const wordlike = '[\\p{L}\\p{N}_]';
const beforeDash = `(?<=[\\p{L}\\p{N}_!"'&.,?])`;
const chunkPattern = new RegExp(
  `([\\t\\n\\v\\f\\r ]+|${beforeDash}-{2,}(?=${wordlike})|` +
    `[^\\t\\n\\v\\f\\r ]+?(?:-(?:(?<=${letter}{2}-)|(?<=${letter}-${letter}-))(?=${letter}-?${letter})|` +
    `(?=[\\t\\n\\v\\f\\r ]|$)|${beforeDash}(?=-{2,}${wordlike})))`,
  'u',
);

function expandTabs(text: string): string {
  if (!text.includes('\t')) return text;
  let column = 0;
  let out = '';
  for (const char of text) {
    if (char === '\t') {
      const fill = 8 - (column % 8);
      out += ' '.repeat(fill);
      column += fill;
    } else {
      out += char;
      column = char === '\n' || char === '\r' ? 0 : column + 1;
    }
  }
  return out;
}

const isBlank = (chunk: string | undefined): boolean => chunk !== undefined && chunk.trim() === '';

/** A word that fits on no line: cut after the last hyphen that fits, else anywhere. */
function cutPoint(chunk: string, room: number): number {
  const hyphen = charSlice(chunk, 0, room).lastIndexOf('-');
  if (hyphen > 0 && /[^-]/.test(chunk.slice(0, hyphen))) return hyphen + 1;
  return room;
}

function takeLine(chunks: string[], width: number): string[] {
  const line: string[] = [];
  let length = 0;
  while (chunks.length > 0) {
    const next = charLength(chunks[0]!);
    if (length + next > width) break;
    line.push(chunks.shift()!);
    length += next;
  }
  if (chunks.length > 0 && charLength(chunks[0]!) > width) {
    // With no space left this is an empty chunk, which then keeps a blank at the end of the line, as in Python.
    const cut = cutPoint(chunks[0]!, width - length);
    line.push(charSlice(chunks[0]!, 0, cut));
    chunks[0] = charSlice(chunks[0]!, cut);
  }
  if (isBlank(line.at(-1))) line.pop();
  return line;
}

/** The lines of `text` filled to `width` columns, each after `indent`. */
export function wrapText(text: string, width: number, indent = ''): string[] {
  const flat = expandTabs(text).replace(/[\t\n\v\f\r]/g, ' ');
  const chunks = flat.split(chunkPattern).filter((chunk) => chunk !== '');
  const lines: string[] = [];
  const room = Math.max(1, width - indent.length);
  while (chunks.length > 0) {
    if (lines.length > 0 && isBlank(chunks[0])) chunks.shift();
    const line = takeLine(chunks, room);
    if (line.length > 0) lines.push(indent + line.join(''));
  }
  return lines;
}

/** Like wrapText, as one text. */
export function fillText(text: string, width: number, indent = ''): string {
  return wrapText(text, width, indent).join('\n');
}
