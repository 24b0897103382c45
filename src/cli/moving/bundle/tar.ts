// Tar archives: what GNU tar, BSD tar and this program write (ustar, pax names and sizes, long names of GNU).
import { HaliteError } from '../../../base/errors/index.ts';
import { visibleLine } from '../../../base/util/visible.ts';
import { ByteReader } from './bytes.ts';

export interface TarEntry {
  readonly name: string;
  /** `same`: another name of the file `target`, which came before. */
  readonly kind: 'file' | 'folder' | 'link' | 'same' | 'other';
  readonly size: number;
  readonly mode: number;
  readonly owner: string;
  /** Where a link leads. */
  readonly target: string;
  /** Of a file; what the caller leaves is skipped. */
  readonly content: AsyncIterable<Uint8Array>;
}

const block = 512;
const mostNameBytes = 64 * 1024;
/** Headers before an entry: a long name, a long target, pax. */
const mostHeaders = 16;
/** Between joined archives; some programs fill up to their own block size. */
const mostEmpty = 64 * 1024;
const kinds: Readonly<Record<string, TarEntry['kind']>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '5': 'folder',
  '2': 'link',
  '1': 'same',
};

const malformed = (what: string): HaliteError =>
  new HaliteError('codec.malformed', `The tar archive is damaged: ${what}`);

function text(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end === -1 ? bytes.length : end).toString('utf8');
}

/** Octal digits, or the binary form of GNU for large numbers. */
function number(field: Buffer): number {
  if (((field[0] ?? 0) & 0x80) !== 0) {
    const value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, (field[0] as number) & 0x7f);
    if (!Number.isSafeInteger(value)) throw malformed('a number is too large');
    return value;
  }
  const digits = text(field).trim();
  if (digits === '') return 0;
  if (!/^[0-7]+$/.test(digits)) throw malformed('a number is not octal');
  return Number.parseInt(digits, 8);
}

function checkSum(header: Buffer): void {
  let sum = 0;
  for (let at = 0; at < block; at++) sum += at >= 148 && at < 156 ? 32 : (header[at] as number);
  if (sum !== number(header.subarray(148, 156))) throw malformed('a header has a wrong check sum');
}

/** `27 path=srv/salt/top.sls\n` … */
function paxFields(bytes: Buffer): Map<string, string> {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(32, at);
    const size = Number(bytes.subarray(at, space).toString('latin1'));
    const line = bytes.subarray(space + 1, at + size - 1).toString('utf8');
    const equals = line.indexOf('=');
    if (space === -1 || !Number.isInteger(size) || size < 5 || at + size > bytes.length || equals === -1)
      throw malformed('a pax header is not readable');
    fields.set(line.slice(0, equals), line.slice(equals + 1));
    at += size;
  }
  return fields;
}

export async function* readTar(input: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const bytes = new ByteReader(input);
  let longName: string | undefined;
  let longTarget: string | undefined;
  let pax = new Map<string, string>();
  let headers = 0;
  let empty = 0;
  for (;;) {
    const header = await bytes.take(block);
    if (!header) return;
    // Two empty blocks end an archive; some programs fill up with more of them.
    if (header.every((byte) => byte === 0)) {
      if (++empty > mostEmpty) throw malformed(`it has more than ${mostEmpty} empty blocks`);
      continue;
    }
    checkSum(header);
    const type = String.fromCharCode(header[156] as number);
    const describes = 'xgLK'.includes(type);
    // What pax says is about the entry, not about further headers before it.
    const saidSize = describes ? undefined : pax.get('size');
    const size = saidSize === undefined ? number(header.subarray(124, 136)) : Number(saidSize);
    if (!Number.isSafeInteger(size) || size < 0) throw malformed('a size is not a number');
    const padding = (block - (size % block)) % block;
    if (describes) {
      if (size > mostNameBytes) throw malformed('a name is longer than 64 KiB');
      if (++headers > mostHeaders)
        throw malformed(`more than ${mostHeaders} headers follow each other and describe no entry`);
      const body = await bytes.need(size + padding);
      const said = body.subarray(0, size);
      if (type === 'x') pax = paxFields(said);
      if (type === 'L') longName = text(said);
      if (type === 'K') longTarget = text(said);
      continue;
    }
    const prefix =
      header.subarray(257, 262).toString('latin1') === 'ustar' && header[263] === 48
        ? text(header.subarray(345, 500))
        : '';
    const short = text(header.subarray(0, 100));
    const name = pax.get('path') ?? longName ?? (prefix === '' ? short : `${prefix}/${short}`);
    const kind = kinds[type] ?? 'other';
    const stored = kind === 'folder' || kind === 'link' || kind === 'same' ? 0 : size;
    let left = stored;
    const content = (async function* (): AsyncGenerator<Buffer> {
      for await (const part of bytes.content(left)) {
        left -= part.length;
        yield part;
      }
    })();
    yield {
      ...{ name, kind, size: stored, content },
      mode: number(header.subarray(100, 108)) & 0o777,
      owner: text(header.subarray(265, 297)) || String(number(header.subarray(108, 116))),
      target: pax.get('linkpath') ?? longTarget ?? text(header.subarray(157, 257)),
    };
    for await (const _rest of bytes.content(left));
    if (stored > 0) await bytes.need(padding);
    [longName, longTarget, pax, headers] = [undefined, undefined, new Map(), 0];
  }
}

export interface NewEntry {
  readonly name: string;
  readonly size: number;
  readonly mode: number;
  readonly owner: string;
}

const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;

function header(entry: NewEntry, type: '0' | 'x'): Buffer {
  const bytes = Buffer.alloc(block);
  const put = (at: number, value: string, width: number): void => void bytes.write(value.slice(0, width), at, 'utf8');
  put(0, entry.name, 100);
  put(100, octal(entry.mode, 8), 8);
  put(108, octal(0, 8), 8);
  put(116, octal(0, 8), 8);
  put(124, octal(Math.min(entry.size, 0o77777777777), 12), 12);
  put(136, octal(0, 12), 12);
  put(148, '        ', 8);
  put(156, type, 1);
  put(257, 'ustar\x0000', 8);
  put(265, entry.owner.replace(/[^ -~]/g, '_'), 31);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `, 8);
  return bytes;
}

const padded = (body: Buffer): Buffer => Buffer.concat([body, Buffer.alloc((block - (body.length % block)) % block)]);

function paxLine(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let size = rest;
  while (rest + String(size).length !== size) size = rest + String(size).length;
  return Buffer.from(`${size} ${key}=${value}\n`);
}

/** The blocks before the content of a file; `tarPadding` follows the content. */
export function tarHeader(entry: NewEntry): Buffer {
  const long = Buffer.byteLength(entry.name) > 100 || /[^ -~]/.test(entry.name) || entry.size > 0o77777777777;
  if (!long) return header(entry, '0');
  if (/[\0\n]/.test(entry.name)) throw new HaliteError('path.refused', `${visibleLine(entry.name)} cannot be archived`);
  const body = Buffer.concat([paxLine('path', entry.name), paxLine('size', String(entry.size))]);
  const short = entry.name.replace(/[^ -~]/g, '_').slice(-90);
  return Buffer.concat([
    header({ ...entry, name: `pax/${short}`, size: body.length }, 'x'),
    padded(body),
    header({ ...entry, name: short }, '0'),
  ]);
}

export const tarPadding = (size: number): Buffer => Buffer.alloc((block - (size % block)) % block);
export const tarEnd = Buffer.alloc(2 * block);
