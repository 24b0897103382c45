import { describe, expect, it } from 'vitest';
import { parseAnsi } from './ansi.ts';

describe('colours of terminals', () => {
  it('become parts with classes', () => {
    expect(parseAnsi('a\x1b[1;31mred\x1b[0m b')).toEqual([
      { text: 'a', class: '' },
      { text: 'red', class: 'ansi-red ansi-bold' },
      { text: ' b', class: '' },
    ]);
  });

  it('leaves out sequences that move, and titles of windows', () => {
    const text = parseAnsi('x\x1b[2Jy\x1b]0;title\x07z\x1b[10;10H!')
      .map((part) => part.text)
      .join('');
    expect(text).toBe('xyz!');
  });

  it('shows control and direction characters as signs', () => {
    expect(parseAnsi('a\x00b\u202ec\rd\te\n')[0]?.text).toBe('a\ufffdb\ufffdc\ufffdd\te\n');
  });

  it('keeps the end of a text that stops inside a sequence', () => {
    expect(
      parseAnsi('end\x1b[')
        .map((part) => part.text)
        .join(''),
    ).toBe('end\ufffd[');
  });
});
