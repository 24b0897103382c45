// Reads a source file as strict UTF-8, with Python's messages for invalid bytes.
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { RenderError } from '../../extend/sdk/index.ts';

/** The text of a file; a byte order mark stays, as in Salt. */
export async function readSource(path: string): Promise<string> {
  return decodeSource(await readFile(path), path);
}

export function decodeSource(bytes: Buffer, path: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const { at, reason } = firstBadByte(bytes);
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0');
  const line = bytes.subarray(0, at).toString('latin1').split('\n').length;
  throw new RenderError(
    `'utf-8' codec can't decode byte 0x${byte} in position ${at}: ${reason}`,
    { file: path, line },
    {
      pyType: 'UnicodeDecodeError',
      hint: 'Save the file as UTF-8.',
    },
  );
}

function firstBadByte(bytes: Buffer): { at: number; reason: string } {
  for (let at = 0; at < bytes.length; ) {
    const size = sequenceSize(bytes[at]!);
    if (size === 0) return { at, reason: 'invalid start byte' };
    for (let next = at + 1; next < at + size; next++) {
      if (next >= bytes.length) return { at, reason: 'unexpected end of data' };
      if ((bytes[next]! & 0xc0) !== 0x80) return { at, reason: 'invalid continuation byte' };
    }
    // Well-formed but not a character: surrogates, or encoded with more bytes than needed.
    if (!isUtf8(bytes.subarray(at, at + size))) return { at, reason: 'invalid continuation byte' };
    at += size;
  }
  return { at: 0, reason: 'invalid start byte' };
}

/** The number of bytes of a character by its first byte; 0 for an invalid one. */
function sequenceSize(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}
