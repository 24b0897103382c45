// The box of comments that warns editors of managed files.

/** Wraps words to lines of at most `width` characters; longer words are split. */
function wrap(text: string, width: number): string[] {
  const found: string[] = [];
  let line = '';
  for (let word of text.split(/\s+/).filter(Boolean)) {
    while (word.length > width) {
      const room = line === '' ? width : width - line.length - 1;
      if (room > 0) line = line === '' ? word.slice(0, room) : `${line} ${word.slice(0, room)}`;
      word = word.slice(Math.max(room, 0));
      found.push(line);
      line = '';
    }
    if (line !== '' && line.length + 1 + word.length > width) {
      found.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') found.push(line);
  return found;
}

/** Python's str.center(): an odd blank goes left when the width is odd. */
function center(text: string, width: number): string {
  const pad = Math.max(0, width - text.length);
  const left = Math.floor(pad / 2) + (pad & width & 1);
  return ' '.repeat(left) + text + ' '.repeat(pad - left);
}

export interface BannerOptions {
  readonly width: number;
  readonly commentchar: string;
  readonly borderchar: string;
  readonly blockstart: string | null;
  readonly blockend: string | null;
  readonly title: string;
  readonly text: string;
  readonly newline: boolean;
}

/** The banner, or undefined when it does not fit into the width. */
export function banner(options: BannerOptions): string | undefined {
  const { width, commentchar } = options;
  const left = commentchar.trimEnd();
  const right = commentchar.trim();
  const textWidth = width - left.length - 1 - right.length - 1;
  if (textWidth <= 0) return undefined;
  const border =
    commentchar + options.borderchar.slice(0, 1).repeat(Math.max(0, width - left.length - right.length)) + right;
  const spacer = commentchar + ' '.repeat(Math.max(0, width - commentchar.length * 2)) + commentchar;
  const row = (text: string): string => `${left} ${text} ${right}`;
  const block = [
    ...(options.blockstart === null ? [] : [options.blockstart]),
    border,
    spacer,
    ...wrap(options.title, textWidth).map((line) => row(center(line, textWidth))),
    spacer,
    ...wrap(options.text, textWidth).map((line) => row(line.padEnd(textWidth))),
    border,
    ...(options.blockend === null ? [] : [options.blockend]),
  ];
  return block.join('\n') + (options.newline ? '\n' : '');
}
