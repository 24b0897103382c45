// Makes untrusted text safe to print: characters that control a terminal, forge a log line or are invisible are written
// as `\u001b`.

/** Control characters (C0, DEL, C1), line separators, and characters that change the direction of text. */
const steering = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const inLine = new RegExp(steering.source, 'gu');
/** The same without line breaks (also those of Windows) and tabs. */
const inText = new RegExp(`(?![\\n\\t]|\\r\\n)${steering.source}`, 'gu');

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Uses JSON's escapes, so that JSON stays the same JSON. */
export const escapedCharacter = (character: string): string =>
  short[character] ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;

/** For one line: line breaks and tabs are escaped as well. */
export function visibleLine(text: string): string {
  return steering.test(text) ? text.replace(inLine, escapedCharacter) : text;
}

/** For text of several lines. */
export function visibleText(text: string): string {
  return steering.test(text) ? text.replace(inText, escapedCharacter) : text;
}

const graphicMode = /\x1b\[([\d;:]*)m/g;

/** Colours and weights, except 8, which makes the following text invisible. */
function isColor(parameters: string): boolean {
  const numbers = parameters.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at++) {
    if (numbers[at] === 38 || numbers[at] === 48) at += numbers[at + 1] === 2 ? 4 : 2;
    else if (numbers[at] === 8) return false;
  }
  return true;
}

/** As `visibleText`, but keeps colours; a colour that is still active at the end is reset. */
export function visibleColored(text: string): string {
  if (!steering.test(text)) return text;
  let safe = '';
  let at = 0;
  let open = false;
  for (const match of text.matchAll(graphicMode)) {
    const parameters = match[1] ?? '';
    if (!isColor(parameters)) continue;
    safe += visibleText(text.slice(at, match.index)) + match[0];
    at = match.index + match[0].length;
    open = /[1-9]/.test(parameters);
  }
  return `${safe}${visibleText(text.slice(at))}${open ? '\x1b[0m' : ''}`;
}
