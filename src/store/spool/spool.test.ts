import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SpoolReader } from './reader.ts';
import { encodeRecord, segmentFile } from './segments.ts';
import { type SpoolOptions, SpoolWriter } from './writer.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const body = (text: string): Uint8Array => Buffer.from(text);
const open = (options: Partial<SpoolOptions> = {}): Promise<SpoolWriter> =>
  SpoolWriter.open(folder, { maxBytes: 1e9, ...options });
const all = { records: 1e6, bytes: 1e9 };

/** Delivers everything in several steps. */
function drain(reader: SpoolReader, upTo: number, records = 7): string[] {
  const found: string[] = [];
  for (;;) {
    const entries = reader.peek({ records, bytes: 1e9, upTo });
    if (entries.length === 0) return found;
    found.push(...entries.map((entry) => Buffer.from(entry.body).toString()));
    reader.delivered(entries.at(-1)!.seq + 1);
  }
}

describe('spool', () => {
  it('returns everything in order, over segments and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.string({ minLength: 1, maxLength: 200 }), { maxLength: 30 }), { maxLength: 4 }),
        fc.integer({ min: 50, max: 2000 }),
        async (rounds, segmentBytes) => {
          rmSync(folder, { recursive: true, force: true });
          const expected: string[] = [];
          const found: string[] = [];
          for (const round of rounds) {
            const writer = await open({ segmentBytes });
            for (const text of round) await writer.append(body(text));
            expected.push(...round);
            const reader = new SpoolReader(folder);
            found.push(...drain(reader, writer.next));
            reader.close();
            await writer.close();
          }
          expect(found).toEqual(expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('frees space and continues when its position cannot be saved', async () => {
    const writer = await open({ segmentBytes: 100 });
    for (let n = 0; n < 10; n++) await writer.append(body(`record ${n} ${'x'.repeat(80)}`));
    // As on a full disk: no new file can be created.
    mkdirSync(join(folder, 'delivered.new'));
    const reader = new SpoolReader(folder);
    expect(drain(reader, writer.next, 2)).toHaveLength(10);
    expect(readdirSync(folder).filter((name) => name.endsWith('.log'))).toHaveLength(1);
    rmSync(join(folder, 'delivered.new'), { recursive: true });
    await writer.append(body('one more'));
    expect(drain(reader, writer.next)).toEqual(['one more']);
    expect(new SpoolReader(folder).position).toBe(11);
    // An existing position file is overwritten.
    mkdirSync(join(folder, 'delivered.new'));
    await writer.append(body('and one'));
    expect(drain(reader, writer.next)).toEqual(['and one']);
    expect(new SpoolReader(folder).position).toBe(12);
    reader.close();
    await writer.close();
  });

  it('moves the data after damage to another file, and reports it', async () => {
    const writer = await open();
    for (const text of ['first', 'second', 'third']) await writer.append(body(text));
    await writer.close();
    const bytes = readFileSync(segmentFile(folder, 0));
    bytes.writeUInt8(0xff, encodeRecord(body('first')).byteLength + 9);
    writeFileSync(segmentFile(folder, 0), bytes);
    const said: string[] = [];
    const again = await open({ damaged: (file) => said.push(file) });
    expect(said).toHaveLength(1);
    expect(readFileSync(said[0]!).includes('third')).toBe(true);
    await again.append(body('fourth'));
    const reader = new SpoolReader(folder);
    expect(drain(reader, again.next)).toEqual(['first', 'fourth']);
    reader.close();
    await again.close();
  });

  it('gives the same records again until they are delivered', async () => {
    const writer = await open();
    await Promise.all(['a', 'b', 'c'].map((text) => writer.append(body(text))));
    const first = new SpoolReader(folder);
    expect(first.peek({ ...all, upTo: 3 }).map((entry) => entry.seq)).toEqual([0, 1, 2]);
    first.delivered(1);
    expect(drain(new SpoolReader(folder), writer.next)).toEqual(['b', 'c']);
    expect(drain(new SpoolReader(folder), writer.next)).toEqual([]);
    await writer.close();
  });

  it('removes segments that are delivered, and continues with their numbers', async () => {
    const writer = await open({ segmentBytes: 100 });
    for (let at = 0; at < 20; at++) await writer.append(body(`record ${at} `.repeat(5)));
    const before = writer.bytes;
    expect(drain(new SpoolReader(folder), writer.next)).toHaveLength(20);
    writer.delivered();
    expect(writer.bytes).toBeLessThan(before / 5);
    expect(readdirSync(folder).filter((name) => name.endsWith('.log'))).toHaveLength(1);
    await writer.close();
    const again = await open();
    expect(await again.append(body('next'))).toBe(20);
    await again.close();
  });

  it('drops a last record that was truncated', async () => {
    const writer = await open();
    await writer.append(body('whole'));
    await writer.close();
    appendFileSync(segmentFile(folder, 0), encodeRecord(body('torn apart')).subarray(0, 12));
    const again = await open();
    expect(again.next).toBe(1);
    await again.append(body('after'));
    expect(drain(new SpoolReader(folder), again.next)).toEqual(['whole', 'after']);
    await again.close();
  });

  it('skips damage, counts it, and continues with the next segment', async () => {
    const writer = await open({ segmentBytes: 60 });
    for (let at = 0; at < 6; at++) await writer.append(body(`record number ${at}, thirty bytes`));
    const bytes = readFileSync(segmentFile(folder, 0));
    bytes[bytes.length - 3] = bytes[bytes.length - 3]! ^ 0xff;
    writeFileSync(segmentFile(folder, 0), bytes);
    const reader = new SpoolReader(folder);
    const found = drain(reader, writer.next);
    expect(found.at(-1)).toMatch(/number 5/);
    expect(found.length + reader.damaged).toBe(6);
    expect(reader.damaged).toBeGreaterThan(0);
    await writer.close();
  });

  it('accepts a record at the moment the previous one is durable', async () => {
    const writer = await open();
    for (let at = 0; at < 200; at++) await writer.append(body(`r${at}`));
    expect(writer.next).toBe(200);
    await writer.close();
  });

  it('refuses records above its limit', async () => {
    const writer = await open({ maxBytes: 100 });
    await writer.append(body('x'.repeat(80)));
    await expect(writer.append(body('y'.repeat(80)))).rejects.toThrow(/limit/);
    await writer.close();
  });

  it('writes many records with few fsyncs', async () => {
    let batches = 0;
    const writer = await open({ appended: () => batches++ });
    await Promise.all(Array.from({ length: 2000 }, (_, at) => writer.append(body(`r${at}`))));
    expect(batches).toBeLessThan(20);
    expect(drain(new SpoolReader(folder), writer.next, 500)).toHaveLength(2000);
    await writer.close();
  });
});
