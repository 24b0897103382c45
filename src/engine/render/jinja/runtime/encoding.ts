// Text to bytes and back in the encodings templates use.
import { PyError } from '../errors.ts';
import { escapeCode } from './text.ts';

type Codec = 'utf8' | 'latin1' | 'ascii' | 'utf16' | 'utf16le' | 'utf16be';

const known = new Map<string, Codec>(
  Object.entries({
    utf8: 'utf8',
    u8: 'utf8',
    utf: 'utf8',
    ascii: 'ascii',
    usascii: 'ascii',
    latin1: 'latin1',
    iso88591: 'latin1',
    l1: 'latin1',
    u16: 'utf16',
    utf16: 'utf16',
    utf16le: 'utf16le',
    utf16be: 'utf16be',
  }),
);

function codec(name: string): Codec {
  const found = known.get(name.toLowerCase().replace(/[-_ ]/g, ''));
  if (found === undefined) throw new PyError('LookupError', `unknown encoding: ${name}`);
  return found;
}

/** `text.encode(encoding, errors)`. */
export function encodeText(text: string, encoding: string, errors = 'strict'): Uint8Array {
  const name = codec(encoding);
  if (name === 'utf8' || name === 'utf16le') return new Uint8Array(Buffer.from(text, name));
  if (name === 'utf16') return new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'));
  if (name === 'utf16be') return new Uint8Array(Buffer.from(text, 'utf16le').swap16());
  const limit = name === 'ascii' ? 128 : 256;
  const points = Array.from(text);
  let out = '';
  points.forEach((char, position) => {
    const code = char.codePointAt(0)!;
    out += code < limit ? char : unencodable(points, { name, limit, position, errors });
  });
  return new Uint8Array(Buffer.from(out, 'latin1'));
}

interface Trouble {
  readonly name: string;
  readonly limit: number;
  readonly position: number;
  readonly errors: string;
}

function unencodable(points: readonly string[], trouble: Trouble): string {
  const { position, limit } = trouble;
  const code = points[position]!.codePointAt(0)!;
  switch (trouble.errors) {
    case 'ignore':
      return '';
    case 'replace':
      return '?';
    case 'xmlcharrefreplace':
      return `&#${code};`;
    case 'backslashreplace':
      return escapeCode(code);
    default: {
      const label = trouble.name === 'latin1' ? 'latin-1' : trouble.name;
      let end = position;
      while (end + 1 < points.length && points[end + 1]!.codePointAt(0)! >= limit) end += 1;
      const which =
        end === position
          ? `character '${escapeCode(code)}' in position ${position}`
          : `characters in position ${position}-${end}`;
      throw new PyError('UnicodeEncodeError', `'${label}' codec can't encode ${which}: ordinal not in range(${limit})`);
    }
  }
}

/** `bytes.decode(encoding, errors)`. */
export function decodeBytes(bytes: Uint8Array, encoding: string, errors = 'strict'): string {
  const name = codec(encoding);
  if (name === 'latin1') return Buffer.from(bytes).toString('latin1');
  if (name === 'ascii') {
    const bad = bytes.findIndex((byte) => byte > 127);
    if (bad >= 0 && errors === 'strict') {
      throw new PyError(
        'UnicodeDecodeError',
        `'ascii' codec can't decode byte 0x${bytes[bad]!.toString(16)} in position ${bad}: ordinal not in range(128)`,
      );
    }
    return Array.from(bytes, (byte) =>
      byte < 128 ? String.fromCharCode(byte) : errors === 'ignore' ? '' : '\ufffd',
    ).join('');
  }
  try {
    const label = name === 'utf8' ? 'utf-8' : name === 'utf16be' ? 'utf-16be' : 'utf-16le';
    return new TextDecoder(label, { fatal: errors === 'strict', ignoreBOM: name !== 'utf16' }).decode(bytes);
  } catch {
    const bad = bytes.findIndex((byte) => byte > 127);
    throw new PyError(
      'UnicodeDecodeError',
      `'utf-8' codec can't decode byte 0x${(bytes[bad] ?? 0).toString(16)} in position ${bad}: invalid start byte`,
    );
  }
}
