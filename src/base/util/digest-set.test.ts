import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DigestSet } from './digest-set.ts';

describe('a set of digests', () => {
  it('returns the notes of the digests it contains, and undefined for others', () => {
    const set = new DigestSet();
    const held = new Map<string, number>();
    for (let i = 0; i < 5000; i++) {
      const digest = randomBytes(16);
      held.set(digest.toString('hex'), i % 7);
      set.set(digest, i % 7);
    }
    expect(set.size).toBe(held.size);
    for (const [digest, note] of held) expect(set.get(Buffer.from(digest, 'hex'))).toBe(note);
    for (let i = 0; i < 5000; i++) expect(set.get(randomBytes(16))).toBeUndefined();
  });

  it('contains a digest once, with its last note', () => {
    const set = new DigestSet();
    const zeros = Buffer.alloc(16);
    set.set(zeros, 0);
    set.set(zeros, 3);
    expect([set.size, set.get(zeros)]).toEqual([1, 3]);
    expect(set.get(Buffer.alloc(16, 255))).toBeUndefined();
  });

  it('finds digests with the same beginning', () => {
    const set = new DigestSet();
    const of = (low: number): Buffer => Buffer.from([1, 2, 3, 4, 0, low, 0, 0]);
    for (let i = 0; i < 200; i++) set.set(of(i), i % 7);
    for (let i = 0; i < 200; i++) expect(set.get(of(i))).toBe(i % 7);
    expect(set.get(of(201))).toBeUndefined();
  });
});
