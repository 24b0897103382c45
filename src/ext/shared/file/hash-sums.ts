// The hash a source must have: given as digits, as `type=digits`, or in a file of sums.
import { createHash } from 'node:crypto';
import { commandError, pyStr, type StateContext, type Value } from 'halite/sdk';
import { baseName, closeSync, openSync, readFileSync, readSync } from 'halite/sdk/fs';
import { pyEscape } from 'halite/sdk/text';
import { schemeOf, splitUrl, validProtocols, withoutPassword } from './urls.ts';

export interface HashSum {
  readonly type: string;
  readonly digits: string;
}

const lengths: Readonly<Record<string, number>> = {
  sha512: 128,
  sha384: 96,
  sha256: 64,
  sha224: 56,
  sha1: 40,
  md5: 32,
};
const byLength = new Map(Object.entries(lengths).map(([type, length]) => [length, type]));
const listed = (): string =>
  [...byLength]
    .sort(([a], [b]) => a - b)
    .map(([length, type]) => `${type} (${length})`)
    .join(', ');

/** One buffer for all files: files are read one after the other, and new buffers would burden the garbage collector. */
let piece: Buffer | undefined;

/** The hash of a file, read in chunks. */
export function hashOfFile(path: string, type: string): string {
  const hash = createHash(type);
  const file = openSync(path, 'r');
  try {
    piece ??= Buffer.allocUnsafeSlow(1 << 18);
    for (let size = readSync(file, piece); size > 0; size = readSync(file, piece)) hash.update(piece.subarray(0, size));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

function invalid(sourceHash: Value): Error {
  return commandError(
    `Source hash ${withoutPassword(pyStr(sourceHash))} format is invalid. The supported formats are: 1) a hash, 2) an expression in the ` +
      'format <hash_type>=<hash>, or 3) either a path to a local file containing hashes, or a URI of a remote hash file. ' +
      `Supported protocols for remote hash files are: ${validProtocols.join(', ')}. The hash may also not be of a valid length, ` +
      `the following are supported hash types and lengths: ${listed()}.`,
  );
}

function endsWithName(line: string, name: string, separators: RegExp): boolean {
  if (!line.endsWith(name)) return false;
  const before = line.at(-(name.length + 1));
  return line.length > name.length && before !== undefined && separators.test(before);
}

/** Finds the hash of a file in a list: by the given name, the file's own name or that of its source; of any type or of one. */
export function findSum(
  text: string,
  fileName: string,
  source: string,
  hashName: string,
  kind = '',
): HashSum | undefined {
  const wanted = Object.hasOwn(lengths, kind) ? `${lengths[kind]}` : '32,128';
  const digitsOf = new RegExp(`(?<![a-z0-9])([a-f0-9]{${wanted}})(?![a-z0-9])`, 'i');
  const found: { name?: HashSum; file?: HashSum; source?: HashSum } = {};
  let first: HashSum | undefined;
  const { path, host } = splitUrl(source);
  const startsWith = (line: string, name: string): boolean => new RegExp(`^${pyEscape(name)}\\s+`).test(line);
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const digits = digitsOf.exec(line)?.[1];
    const type = digits === undefined ? undefined : byLength.get(digits.length);
    if (digits === undefined || type === undefined) continue;
    const sum = { type, digits: digits.toLowerCase() };
    first ??= sum;
    if (hashName && (endsWithName(line, hashName, /\s/) || startsWith(line, hashName))) found.name ??= sum;
    if (fileName && (endsWithName(line, baseName(fileName), /[\s\\/*]/) || startsWith(line, fileName)))
      found.file ??= sum;
    if (source && (endsWithName(line, baseName(path || host), /[\s\\/*]/) || startsWith(line, source)))
      found.source ??= sum;
  }
  return found.name ?? found.file ?? found.source ?? first;
}

function parseSum(sourceHash: string): HashSum {
  const at = sourceHash.indexOf('=');
  if (at < 0) {
    const type = /^[0-9a-fA-F]+$/.test(sourceHash) ? byLength.get(sourceHash.length) : undefined;
    if (!type) throw invalid(sourceHash);
    return { type, digits: sourceHash.toLowerCase() };
  }
  const [type, digits] = [sourceHash.slice(0, at).trim(), sourceHash.slice(at + 1).trim()];
  if (!Object.hasOwn(lengths, type)) {
    throw commandError(
      `Invalid hash type '${type}'. Supported hash types are: ${Object.keys(lengths).join(', ')}. Either remove the hash type and simply ` +
        `use '${digits}' as the source_hash, or change the hash type to a supported type.`,
    );
  }
  const fitting = byLength.get(digits.length);
  if (!fitting) throw invalid(sourceHash);
  if (fitting !== type) {
    throw commandError(
      `Invalid length (${digits.length}) for hash type '${type}'. Either remove the hash type and simply use '${digits}' as the ` +
        `source_hash, or change the hash type to '${fitting}'`,
    );
  }
  return { type, digits: digits.toLowerCase() };
}

export interface SumRequest {
  readonly fileName: string;
  readonly source: string;
  readonly sourceHash: Value;
  readonly hashName: Value;
  readonly saltenv: string;
  readonly verifySsl: Value;
}

/** The expected hash of a source. Throws Salt's message when it cannot be determined. */
export async function sourceSum(request: SumRequest, ctx: StateContext): Promise<HashSum> {
  const { sourceHash } = request;
  if (typeof sourceHash !== 'string') throw invalid(sourceHash);
  let list: string | undefined;
  if (sourceHash.startsWith('/')) list = sourceHash;
  else {
    const scheme = schemeOf(sourceHash);
    if (validProtocols.includes(scheme)) {
      list = await ctx.files.cacheFile(sourceHash, {
        saltenv: request.saltenv,
        verifySsl: request.verifySsl !== false,
      });
      if (!list) throw commandError(`Source hash file ${withoutPassword(sourceHash)} not found`);
    } else if (scheme !== '') throw invalid(sourceHash);
  }
  if (list === undefined) return parseSum(sourceHash);
  const found = findSum(readFileSync(list, 'utf8'), request.fileName, request.source, pyStr(request.hashName ?? ''));
  if (!found) throw invalid(sourceHash);
  return found;
}
