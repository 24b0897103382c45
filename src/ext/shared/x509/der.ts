// Reads and writes DER, the encoding of certificates, as far as they need it.

const joined = (parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);

/** Tag, length, content. */
function tlv(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = joined(content);
  if (body.length < 128) return joined([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(
    body.length.toString(16).padStart(body.length.toString(16).length + (body.length.toString(16).length % 2), '0'),
    'hex',
  );
  return joined([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tlv(0x30, ...items);
/** The members of a set are sorted by their bytes. */
export const set = (...items: readonly Uint8Array[]): Buffer => tlv(0x31, ...[...items].sort(Buffer.compare));
export const octets = (content: Uint8Array): Buffer => tlv(0x04, content);
export const bits = (content: Uint8Array, unused = 0): Buffer => tlv(0x03, Buffer.from([unused]), content);
export const boolean = (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0]));
export const none = (): Buffer => tlv(0x05);
export const text = (tag: number, value: string): Buffer => tlv(tag, Buffer.from(value, 'utf8'));
/** Explicit tag `[n]`. */
export const explicit = (n: number, ...content: readonly Uint8Array[]): Buffer => tlv(0xa0 | n, ...content);
/** Implicit tag `[n]`. */
export const implicit = (n: number, content: Uint8Array): Buffer => tlv(0x80 | n, content);

export function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const even = hex.length % 2 === 1 ? `0${hex}` : hex;
  const bytes = Buffer.from(even, 'hex');
  return tlv(0x02, (bytes[0] ?? 0) >= 0x80 ? joined([Buffer.from([0]), bytes]) : bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const part of [first * 40 + second, ...rest]) {
    const groups = [part % 128];
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) + 128);
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Two digits of the year until 2049, four afterwards. */
export function time(at: Date): Buffer {
  const rest = [at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
  const year = at.getUTCFullYear();
  const tail = `${rest.map(two).join('')}Z`;
  return year < 2050 ? text(0x17, two(year % 100) + tail) : text(0x18, String(year).padStart(4, '0') + tail);
}

/** One element of DER. */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

/** The elements in sequence; throws for invalid DER. */
export function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] as number;
    let length = bytes[at + 1] ?? -1;
    let start = at + 2;
    if (length >= 0x80) {
      const count = length & 0x7f;
      if (count === 0 || count > 4 || start + count > bytes.length) throw new Error('wrong length');
      length = bytes.readUIntBE(start, count);
      start += count;
    }
    if (length < 0 || start + length > bytes.length) throw new Error('cut off');
    found.push({ tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) });
    at = start + length;
  }
  return found;
}

/** The elements inside of one. */
export const inside = (element: Element | undefined): Element[] => (element ? elements(element.content) : []);

export function readOid(content: Uint8Array): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      parts.push(value);
      value = 0;
    }
  }
  const first = parts.shift() ?? 0;
  const head = Math.min(Math.floor(first / 40), 2);
  return [head, first - head * 40, ...parts].join('.');
}

export const readInteger = (content: Buffer): bigint => BigInt(`0x${content.toString('hex') || '0'}`);

export function readTime({ tag, content }: Element): Date {
  const digits = content.toString('latin1');
  const full = tag === 0x17 ? `${Number(digits.slice(0, 2)) < 50 ? '20' : '19'}${digits}` : digits;
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full) ?? [];
  if (y === undefined) throw new Error('no time');
  return new Date(Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s)));
}
