// Writing of scalars in each style, with line wrapping.
import { isPrintable } from './analyze.ts';
import { isBreak } from './chars.ts';
import type { Writer } from './writer.ts';

/** Without quotes. */
export function writePlain(w: Writer, text: string, allowBreaks: boolean): void {
  if (!w.whitespace && (text !== '' || w.flowLevel > 0)) w.put(' ');
  writeFolded(w, text, allowBreaks, false);
  w.whitespace = false;
  w.indention = false;
}

export function writeSingleQuoted(w: Writer, text: string, allowBreaks: boolean): void {
  w.indicator("'", true, false, false);
  const endsWithBreak = writeFolded(w, text, allowBreaks, true);
  if (endsWithBreak) w.indent();
  w.indicator("'", false, false, false);
  w.whitespace = false;
  w.indention = false;
}

/** Long lines break at a single space; a line break is written twice because reading folds it. */
function writeFolded(w: Writer, text: string, allowBreaks: boolean, quoted: boolean): boolean {
  if (w.column + text.length <= w.width && !/[\n\r\x85\u2028\u2029']/.test(text)) {
    w.put(text);
    return false;
  }
  let spaces = false;
  let breaks = false;
  for (let i = 0; i < text.length; ) {
    const c = text.charCodeAt(i);
    if (c === 32) {
      const inside = !quoted || (i !== 0 && i !== text.length - 1);
      if (allowBreaks && !spaces && w.column > w.width && inside && text.charCodeAt(i + 1) !== 32) w.indent();
      else w.put(' ');
      spaces = true;
      i++;
    } else if (isBreak(c)) {
      if (!breaks && c === 10) w.lineBreak('\n');
      w.lineBreak(text.charAt(i));
      w.indention = true;
      breaks = true;
      i++;
    } else {
      if (breaks) w.indent();
      const end = endOfWord(text, i);
      const word = text.slice(i, end);
      w.put(quoted ? word.replaceAll("'", "''") : word);
      w.indention = false;
      spaces = false;
      breaks = false;
      i = end;
    }
  }
  return breaks;
}

function endOfWord(text: string, from: number): number {
  let end = from;
  while (end < text.length) {
    const c = text.charCodeAt(end);
    if (c === 32 || isBreak(c)) break;
    end++;
  }
  return end;
}

const shortEscapes: Readonly<Record<number, string>> = {
  0: '0',
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  27: 'e',
  34: '"',
  92: '\\',
  133: 'N',
  160: '_',
  8232: 'L',
  8233: 'P',
};

export function writeDoubleQuoted(w: Writer, text: string, allowBreaks: boolean): void {
  w.indicator('"', true, false, false);
  let spaces = false;
  for (let i = 0; i < text.length; ) {
    const code = text.codePointAt(i) ?? 0;
    const width = code > 0xffff ? 2 : 1;
    if (needsEscape(code, w.allowUnicode)) {
      w.put(escapeOf(code));
      spaces = false;
    } else if (code === 32) {
      if (allowBreaks && !spaces && w.column > w.width && i !== 0 && i !== text.length - 1) {
        w.indent();
        if (text.charCodeAt(i + 1) === 32) w.put('\\');
      } else w.put(' ');
      spaces = true;
    } else {
      w.put(text.charAt(i));
      spaces = false;
    }
    i += width;
  }
  w.indicator('"', false, false, false);
  w.whitespace = false;
  w.indention = false;
}

function needsEscape(code: number, allowUnicode: boolean): boolean {
  if (code > 0xffff || !isPrintable(code) || code === 34 || code === 92) return true;
  return isBreak(code) || (code > 0x7f && !allowUnicode);
}

function escapeOf(code: number): string {
  const short = shortEscapes[code];
  if (short !== undefined) return `\\${short}`;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** With `|`; used for bytes only, so every line is one of base64. */
export function writeLiteral(w: Writer, text: string): void {
  w.indicator('|', true, false, false);
  w.lineBreak('\n');
  w.indention = true;
  w.whitespace = true;
  let breaks = true;
  for (const line of text.split(/(\n)/)) {
    if (line === '') continue;
    if (line === '\n') {
      w.lineBreak('\n');
      w.indention = true;
      breaks = true;
    } else {
      if (breaks) w.indent();
      w.put(line);
      w.indention = false;
      breaks = false;
    }
  }
}
