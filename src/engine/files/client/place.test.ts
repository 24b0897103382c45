// Partial files in folders that others may write to: nothing that others prepared is followed or resumed.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fill, placeFile } from './place.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const content = Buffer.from('the whole file');
const hsum = createHash('sha256').update(content).digest('hex');
const placement = () => ({ dest: at('f'), mode: 0o644, resumable: true, expected: { hsum, hash_type: 'sha256' } });
const part = (): string => at(`.f.${hsum.slice(0, 24)}.part`);

/** Writes the missing bytes, and returns how many were there. */
function filling(seen: number[] = []): Fill {
  return async ({ handle, from, hash }) => {
    seen.push(from);
    const rest = content.subarray(from);
    await handle.write(rest, 0, rest.length, from);
    hash?.update(rest);
  };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-place-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a part', () => {
  it('of our own is resumed', async () => {
    writeFileSync(part(), content.subarray(0, 5), { mode: 0o600 });
    const seen: number[] = [];
    expect(await placeFile(placement(), filling(seen))).toBe(true);
    expect(seen).toEqual([5]);
    expect(readFileSync(at('f'))).toEqual(content);
  });

  it('that is a link is not followed', async () => {
    writeFileSync(at('victim'), 'precious');
    symlinkSync(at('victim'), part());
    expect(await placeFile(placement(), filling())).toBe(true);
    expect(readFileSync(at('victim'), 'utf8')).toBe('precious');
    expect(readFileSync(at('f'))).toEqual(content);
  });

  it.runIf(process.geteuid?.() === 0)('of another user, or accessible to others, is not used', async () => {
    for (const prepare of [() => chownSync(part(), 65534, 65534), () => chmodSync(part(), 0o666)]) {
      writeFileSync(part(), content.subarray(0, 5));
      prepare();
      const { ino } = statSync(part());
      expect(await placeFile(placement(), filling())).toBe(true);
      const placed = statSync(at('f'));
      expect([placed.uid, placed.ino === ino]).toEqual([0, false]);
      rmSync(part());
      rmSync(at('f'));
    }
  });

  it('of a private file is private while it is written', async () => {
    writeFileSync(at('f'), 'secret before', { mode: 0o600 });
    const modes: number[] = [];
    const watching: Fill = async (one) => {
      for (const name of readdirSync(folder)) modes.push(statSync(at(name)).mode & 0o777);
      await filling()(one);
    };
    expect(await placeFile({ ...placement(), resumable: false }, watching)).toBe(true);
    expect(new Set(modes)).toEqual(new Set([0o600]));
    expect(statSync(at('f')).mode & 0o777).toBe(0o600);
  });
});
