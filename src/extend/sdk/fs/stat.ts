// File status with exact times, and file types by Salt's names.
import { type BigIntStats, lstatSync, statSync } from 'node:fs';

const attempt = (read: () => BigIntStats): BigIntStats | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

export const lstatOf = (path: string): BigIntStats | undefined => attempt(() => lstatSync(path, { bigint: true }));
export const statOf = (path: string): BigIntStats | undefined => attempt(() => statSync(path, { bigint: true }));

/** Nanoseconds as Python's float of seconds. */
export function pySeconds(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000_000n) + 1e-9 * Number(nanoseconds % 1_000_000_000n);
}

export function typeName(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'dir';
  if (stats.isCharacterDevice()) return 'char';
  if (stats.isBlockDevice()) return 'block';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isFIFO()) return 'pipe';
  return stats.isSocket() ? 'socket' : 'file';
}

/** Permission bits as four octal digits. */
export const modeText = (stats: BigIntStats): string => (Number(stats.mode) & 0o7777).toString(8).padStart(4, '0');
