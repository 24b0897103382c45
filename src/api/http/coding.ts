// Compressed answers, for clients that accept them.
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

type Coding = 'br' | 'gzip';

const leastBytes = 1024;
const mostRanges = 16;
const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)];

/** Undefined: as it is. Answers with a token are never compressed: their length would tell about their content. */
export function codingFor(
  accept: string | string[] | undefined,
  length: number,
  headers: Readonly<Record<string, string>>,
): Coding | undefined {
  if (length < leastBytes || accept === undefined) return undefined;
  if (/no-store/.test(headers['Cache-Control'] ?? '')) return undefined;
  const accepted = new Map(
    String(accept)
      .split(',', mostRanges)
      .map((item) => {
        const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
        return [name, !parameters.some((each) => /^q=0(\.0*)?$/.test(each))] as const;
      }),
  );
  return (['br', 'gzip'] as const).find((name) => accepted.get(name) ?? accepted.get('*') ?? false);
}

/** In a thread of the pool: large answers do not hold others up. */
export function compressed(bytes: Uint8Array, coding: Coding): Promise<Uint8Array> {
  if (coding === 'gzip') return zip(bytes, { level: 5 });
  return brotli(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 4, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
}
