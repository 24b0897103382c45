import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visibleColored, visibleLine, visibleText } from './visible.ts';

describe('text from others', () => {
  it('keeps its lines and escapes terminal control sequences', () => {
    expect(visibleText('a\tb\nc\r\nd')).toBe('a\tb\nc\r\nd');
    expect(visibleText('\x1b]0;owned\x07\x1b[2J')).toBe('\\u001b]0;owned\\u0007\\u001b[2J');
    expect(visibleText('100%\rdone\u009b31m\x7f\u2028\u202e')).toBe('100%\\rdone\\u009b31m\\u007f\\u2028\\u202e');
    expect(visibleText('żółw 机器 👩‍💻 \u200f')).toBe('żółw 机器 👩‍💻 \u200f');
  });

  it('stays on one line where one line is required', () => {
    expect(visibleLine('a\n\t[CRITICAL] forged\u0085x')).toBe('a\\n\\t[CRITICAL] forged\\u0085x');
  });

  it('keeps colours where they are allowed, and resets them at the end', () => {
    expect(visibleColored('\x1b[01;34mbin\x1b[0m')).toBe('\x1b[01;34mbin\x1b[0m');
    expect(visibleColored('\x1b[38;5;8mgray')).toBe('\x1b[38;5;8mgray\x1b[0m');
    expect(visibleColored('\x1b[38;2;8;8;8;1mrgb\x1b[m')).toBe('\x1b[38;2;8;8;8;1mrgb\x1b[m');
    expect(visibleColored('\x1b[8mhidden\x1b[1;8mtoo')).toBe('\\u001b[8mhidden\\u001b[1;8mtoo');
    expect(visibleColored('\x1b[2J\x1b[31mred\x1b[H\x1b[0m')).toBe('\\u001b[2J\x1b[31mred\\u001b[H\x1b[0m');
  });

  it('stays the same JSON when it is JSON', () => {
    const value = ['\x1b[2J', 'a\u0085\u009b\u2028\u202e', 'ü'];
    expect(JSON.parse(visibleText(JSON.stringify(value)))).toEqual(value);
  });

  it('never contains a control character, for any input', () => {
    const piece = fc.constantFrom(
      '\x1b',
      '[',
      '2J',
      '31m',
      '8m',
      '0m',
      ']0;',
      '\x07',
      '\r',
      '\n',
      '\u009b',
      'x',
      ';',
      '\x1b[1m',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        expect(visibleText(text)).not.toMatch(/\x1b|\x07|\u009b|\r(?!\n)/);
        expect(visibleColored(text).replace(/\x1b\[[\d;:]*m/g, '')).not.toMatch(/\x1b|\x07|\u009b/);
      }),
    );
  });
});
