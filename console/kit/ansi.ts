// Colour sequences of terminals. Other control sequences are left out.
export interface Styled {
  readonly text: string;
  readonly class: string;
}

const colors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const sequence = /\x1b(?:\[([0-9;]*)([A-Za-z])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

interface Style {
  readonly color: string;
  readonly bold: boolean;
}

const plain: Style = { color: '', bold: false };

function apply(style: Style, codes: string): Style {
  let next = style;
  for (const word of codes === '' ? ['0'] : codes.split(';')) {
    const code = Number(word);
    if (code === 0) next = plain;
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 22) next = { ...next, bold: false };
    else if (code === 39) next = { ...next, color: '' };
    else if (code >= 30 && code <= 37) next = { ...next, color: colors[code - 30]! };
    else if (code >= 90 && code <= 97) next = { ...next, color: colors[code - 90]! };
  }
  return next;
}

const classOf = ({ color, bold }: Style): string =>
  [color && `ansi-${color}`, bold && 'ansi-bold'].filter(Boolean).join(' ');

export function parseAnsi(text: string): readonly Styled[] {
  const parts: Styled[] = [];
  let style = plain;
  let from = 0;
  const add = (end: number): void => {
    if (end > from) parts.push({ text: clean(text.slice(from, end)), class: classOf(style) });
  };
  for (const match of text.matchAll(sequence)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm') style = apply(style, match[1] ?? '');
  }
  add(text.length);
  return parts;
}

/** Control characters would be invisible, or hide what stands before them. */
const clean = (text: string): string => text.replace(/[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
