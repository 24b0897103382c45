// Numbers on the command line, read as Python's optparse reads them.

const digitPatterns: Readonly<Record<number, RegExp>> = {
  2: /^[01](_?[01])*$/,
  8: /^(0[oO]_?)?[0-7](_?[0-7])*$/,
  10: /^[0-9](_?[0-9])*$/,
  16: /^(0[xX]_?)?[0-9a-fA-F](_?[0-9a-fA-F])*$/,
};

function radixOf(text: string): number {
  const start = text.slice(0, 2).toLowerCase();
  if (start === '0x') return 16;
  if (start === '0b') return 2;
  return text.startsWith('0') ? 8 : 10;
}

/** `5`, `-5`, `0x1f`, `017` (octal), `0b11`; undefined for other text. */
export function parsePyInt(text: string): number | bigint | undefined {
  const radix = radixOf(text);
  const body = radix === 2 ? text.slice(2) || '0' : text;
  const match = /^\s*([+-]?)(.*?)\s*$/su.exec(body);
  if (!match) return undefined;
  const digits = match[2]!;
  if (!digitPatterns[radix]!.test(digits)) return undefined;
  const bare = digits.replaceAll('_', '').replace(/^0[xXoO]/, '');
  const prefix = { 2: '0b', 8: '0o', 10: '', 16: '0x' }[radix] ?? '';
  const value = BigInt(prefix + bare) * (match[1] === '-' ? -1n : 1n);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const float = /^[+-]?(\d(_?\d)*(\.(\d(_?\d)*)?)?|\.\d(_?\d)*)([eE][+-]?\d(_?\d)*)?$/;

/** Any text that Python's float() accepts; undefined otherwise. */
export function parsePyFloat(text: string): number | undefined {
  const bare = text.trim();
  if (float.test(bare)) return Number(bare.replaceAll('_', ''));
  const word = /^([+-]?)(inf|infinity|nan)$/i.exec(bare);
  if (!word) return undefined;
  if (word[2]!.toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
