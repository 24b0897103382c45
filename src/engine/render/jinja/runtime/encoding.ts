// Text to bytes and back in the encodings templates use.
import { PyError } from '../errors.ts';
import { escapeCode } from './text.ts';

const known: Record<string, 'utf8' | 'latin1' | 'ascii' | 'utf16le'> = {
  utf8: 'utf8',
  u8: 'utf8',
  utf: 'utf8',
  ascii: 'ascii',
  usascii: 'ascii',
  latin1: 'latin1',
  iso88591: 'latin1',
  l1: 'latin1',
  utf16le: 'utf16le',
};

function codec(name: string): 'utf8' | 'latin1' | 'ascii' | 'utf16le' {
  const found = known[name.toLowerCase().replace(/[-_ ]/g, '')];
  if (found === undefined) throw new PyError('LookupError', `unknown encoding: ${name}`);
  return found;
}

/** `text.encode(encoding, errors)`. */
export function encodeText(text: string, encoding: string, errors = 'strict'): Uint8Array {
  const name = codec(encoding);
  if (name === 'utf8' || name === 'utf16le') return new Uint8Array(Buffer.from(text, name));
  const limit = name === 'ascii' ? 128 : 256;
  let out = '';
  let position = 0;
  for (const char of text) {
    const code = char.codePointAt(0)!;
    out += code < limit ? char : unencodable(code, { name, limit, position, errors });
    position += 1;
  }
  return new Uint8Array(Buffer.from(out, 'latin1'));
}

interface Trouble {
  readonly name: string;
  readonly limit: number;
  readonly position: number;
  readonly errors: string;
}

function unencodable(code: number, trouble: Trouble): string {
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
      throw new PyError(
        'UnicodeEncodeError',
        `'${label}' codec can't encode character '${escapeCode(code)}' in position ${trouble.position}: ordinal not in range(${trouble.limit})`,
      );
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
    return new TextDecoder(name === 'utf8' ? 'utf-8' : 'utf-16le', {
      fatal: errors === 'strict',
      ignoreBOM: true,
    }).decode(bytes);
  } catch {
    const bad = bytes.findIndex((byte) => byte > 127);
    throw new PyError(
      'UnicodeDecodeError',
      `'utf-8' codec can't decode byte 0x${(bytes[bad] ?? 0).toString(16)} in position ${bad}: invalid start byte`,
    );
  }
}
