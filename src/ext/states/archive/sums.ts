// Hashes of archives that were extracted before, so that a changed archive is noticed.

import { dirname, join, relative } from 'node:path';
import { pyStr, type StateContext } from 'halite/sdk';
import { mkdirSync, readFileSync, writeFileSync } from 'halite/sdk/fs';
import { type HashSum, hashOfFile } from '../../shared/file/hash-sums.ts';

const hashType = (ctx: StateContext): string => pyStr(ctx.opts['hash_type'] ?? 'sha256');

function sumFile(path: string, ctx: StateContext): string {
  const cache = pyStr(ctx.opts['cachedir'] ?? '/var/cache/salt/minion');
  const inside = `${relative(cache, path)}.hash`;
  return join(cache, 'archive_hash', inside.startsWith('..') ? join('local', path) : inside);
}

function readSums(path: string, ctx: StateContext): Map<string, string> {
  try {
    const rows = readFileSync(sumFile(path, ctx), 'utf8')
      .split('\n')
      .filter((line) => line.includes(':'));
    return new Map(rows.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
  } catch {
    return new Map();
  }
}

export function readSum(path: string, ctx: StateContext, type = hashType(ctx)): HashSum | undefined {
  const digits = readSums(path, ctx).get(type);
  return digits === undefined ? undefined : { type, digits };
}

export function writeSum(path: string, ctx: StateContext): void {
  const sums = readSums(path, ctx);
  sums.set(hashType(ctx), hashOfFile(path, hashType(ctx)));
  const file = sumFile(path, ctx);
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, [...sums].map(([type, digits]) => `${type}:${digits}\n`).join(''));
  } catch (error) {
    ctx.log.warn('the hash of an archive cannot be stored', { path, error: String(error) });
  }
}
