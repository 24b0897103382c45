// Text as bytes in encodings other than UTF-8, by Python's names.
import { pyRepr, pyStr, pythonError, type Value } from 'halite/sdk';

type Encoder = (text: string) => Buffer;

const utf16be: Encoder = (text) => Buffer.from(text, 'utf16le').swap16();

function utf32(little: boolean): Encoder {
  return (text) => {
    const points = [...text].map((char) => char.codePointAt(0) as number);
    const bytes = Buffer.alloc(points.length * 4);
    for (const [at, point] of points.entries()) {
      if (little) bytes.writeUInt32LE(point, at * 4);
      else bytes.writeUInt32BE(point, at * 4);
    }
    return bytes;
  };
}

const encoders: Readonly<Record<string, Encoder>> = {
  utf8: (text) => Buffer.from(text, 'utf8'),
  u8: (text) => Buffer.from(text, 'utf8'),
  utf8sig: (text) => Buffer.from(`\ufeff${text}`, 'utf8'),
  utf16: (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  utf16le: (text) => Buffer.from(text, 'utf16le'),
  utf16be,
  utf32: (text) => utf32(true)(`\ufeff${text}`),
  utf32le: utf32(true),
  utf32be: utf32(false),
};

/** The platform only decodes single-byte encodings; encoding uses the inverted table. */
function tableOf(label: string): Map<string, number> | undefined {
  try {
    const decoder = new TextDecoder(label, { fatal: false });
    if (/^(utf|gb|big5|euc|iso-2022|shift|replacement)/.test(decoder.encoding)) return undefined;
    const text = decoder.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
    return text.length === 256 ? new Map([...text].map((char, byte) => [char, byte])) : undefined;
  } catch {
    return undefined;
  }
}

const labels: Readonly<Record<string, string>> = {
  latin1: 'latin1',
  l1: 'latin1',
  cp1252: 'windows-1252',
  cp1251: 'windows-1251',
  cp1250: 'windows-1250',
  koi8r: 'koi8-r',
};

/** Python's message for a character that an encoding does not have. */
function refusal(top: number, char: string, at: number): string {
  const point = char.codePointAt(0) as number;
  const [sign, width] = point < 0x100 ? ['x', 2] : point < 0x10000 ? ['u', 4] : ['U', 8];
  const codec = top === 128 ? 'ascii' : top === 256 ? 'latin-1' : 'charmap';
  const why = top ? `ordinal not in range(${top})` : 'character maps to <undefined>';
  return `'${codec}' codec can't encode character '\\${sign}${point.toString(16).padStart(width, '0')}' in position ${at}: ${why}`;
}

function byTable(name: string, codec: string, errors: string): Encoder | undefined {
  const top = ['ascii', 'usascii', '646'].includes(codec)
    ? 128
    : ['latin1', 'l1', 'iso88591', '88591'].includes(codec)
      ? 256
      : 0;
  const table = top ? undefined : tableOf(labels[codec] ?? name.replaceAll('_', '-'));
  if (!top && !table) return undefined;
  const byteOf = (char: string): number | undefined =>
    top ? (char.codePointAt(0)! < top ? char.codePointAt(0) : undefined) : table?.get(char);
  return (text) => {
    const bytes: number[] = [];
    let at = -1;
    for (const char of text) {
      at++;
      const byte = byteOf(char);
      if (byte !== undefined) bytes.push(byte);
      else if (errors === 'replace') bytes.push(63);
      else if (errors === 'xmlcharrefreplace') bytes.push(...Buffer.from(`&#${char.codePointAt(0)};`));
      else if (errors === 'backslashreplace') bytes.push(...Buffer.from(pyRepr(char).slice(1, -1)));
      else if (errors !== 'ignore') throw pythonError('UnicodeEncodeError', refusal(top, char, at));
    }
    return Buffer.from(bytes);
  };
}

/** The bytes of a text in an encoding; UTF-8 when none is named. */
export function encodeText(text: string, encoding: Value, errors: string): Buffer {
  if (!encoding) return Buffer.from(text, 'utf8');
  const name = pyStr(encoding).toLowerCase();
  const codec = name.replace(/[-_ ]/g, '');
  const encoder = (Object.hasOwn(encoders, codec) ? encoders[codec] : undefined) ?? byTable(name, codec, errors);
  if (!encoder) throw pythonError('LookupError', `unknown encoding: ${pyStr(encoding)}`);
  return encoder(text);
}
