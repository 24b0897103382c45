// Requests of a minion to a Halite master: small files are included with their digest, large ones use our own format of
// chunks.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newDict, type Value } from '../../../base/codec/value.ts';
import type { FileClient } from '../../../extend/sdk/index.ts';
import { mostBytesAlong } from '../file-chunks.ts';
import type { FileServer } from '../server.ts';
import { openTestServer, temporaryFolder, writeTree } from '../testing.ts';
import { type FileRequest, fetchChunks } from './chunks.ts';
import { type TestMaster, testClient, testMaster } from './testing.ts';

let folder: ReturnType<typeof temporaryFolder>;
let server: FileServer;
let master: TestMaster;
let client: FileClient;
const at = (...parts: string[]): string => join(folder.path, ...parts);
const commands = (): Value[] => master.asked.splice(0).map((load) => load['cmd'] ?? null);

beforeEach(() => {
  folder = temporaryFolder();
  writeTree(folder.path, { 'base/small': 'small', 'base/empty': '', 'base/large': Buffer.alloc(100_000, 'large ') });
  server = openTestServer(folder.path);
  master = testMaster(server);
  master.halite = true;
  client = testClient(master.services, at('cache'));
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

describe('a small file', () => {
  it('is fetched with one request, into the cache and elsewhere', async () => {
    expect(readFileSync(await client.cacheFile('salt://small'), 'utf8')).toBe('small');
    expect(await client.getFile('salt://empty', at('got'))).toBe(at('got'));
    expect(readFileSync(at('got'), 'utf8')).toBe('');
    expect(commands()).toEqual(['_file_hash_and_stat', '_file_hash_and_stat']);
  });

  it('of any size and content is the same as on the server', async () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: -2, max: 2 }).map((more) => new Uint8Array(mostBytesAlong + more).fill(0xe9)),
    );
    await fc.assert(
      fc.asyncProperty(content, async (bytes) => {
        writeFileSync(at('base/any'), bytes);
        const path = await client.cacheFile('salt://any');
        expect(readFileSync(path).equals(bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('is not sent when it is already here, and is sent when it changed', async () => {
    await client.cacheFile('salt://small');
    let sent = 0;
    const { masterRequest } = master.services;
    master.services.masterRequest = async (load, options) => {
      const reply = await masterRequest(load, options);
      if (Array.isArray(reply) && reply.length > 2) sent++;
      return reply;
    };
    await client.cacheFile('salt://small');
    expect(sent).toBe(0);
    writeFileSync(at('base/small'), 'changed');
    expect(readFileSync(await client.cacheFile('salt://small'), 'utf8')).toBe('changed');
    expect(sent).toBe(1);
  });

  it('that does not match its digest is fetched again', async () => {
    const { masterRequest } = master.services;
    master.services.masterRequest = async (load, options) => {
      const reply = await masterRequest(load, options);
      if (Array.isArray(reply) && reply.length > 2) reply[2] = Buffer.from('other');
      return reply;
    };
    expect(readFileSync(await client.cacheFile('salt://small'), 'utf8')).toBe('small');
    expect(commands()).toEqual(['_file_hash_and_stat', '_serve_file']);
  });

  it('is not included when it is not requested', async () => {
    await client.hash('salt://small');
    expect(master.asked.map((load) => load['chunk'])).toEqual([undefined]);
  });

  it('is also complete when the server uses another kind of digest', async () => {
    const other = openTestServer(folder.path, { hash_type: 'md5' });
    const theirs = testMaster(other);
    theirs.halite = true;
    mkdirSync(at('cache2'));
    const fetcher = testClient(theirs.services, at('cache2'));
    for (let round = 0; round < 2; round++) {
      expect(readFileSync(await fetcher.cacheFile('salt://small'), 'utf8')).toBe('small');
    }
    await other.close();
  });
});

/** Requests from a master that respects every limit; returns the requested positions and lengths. */
async function askedRanges(
  size: number,
  asks: { end?: number; rttMs?: number; cap?: (count: number) => number } = {},
): Promise<[number, number][]> {
  const content = Buffer.alloc(size, 'content ');
  const asked: [number, number][] = [];
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const request: FileRequest = async (load, options) => {
    const [loc, most] = [Number(load['loc']), Number(options?.halite?.['chunk'])];
    asked.push([loc, most]);
    now += asks.rttMs ?? 5;
    const given = Math.min(most, asks.cap?.(asked.length) ?? most);
    return newDict([['data', content.subarray(loc, loc + given)]]);
  };
  const end = asks.end ?? size;
  const chunks: Uint8Array[] = [];
  for await (const chunk of fetchChunks(request, { path: 'f', saltenv: 'base', size: end })) chunks.push(chunk);
  clock.mockRestore();
  expect(Buffer.concat(chunks).equals(content.subarray(0, end))).toBe(true);
  return asked;
}

describe('a larger file', () => {
  it('is requested in large chunks, and never more than needed', async () => {
    const two = 2 << 20;
    expect(await askedRanges(6_000_000)).toEqual([
      [0, 250_000],
      [250_000, two],
      [250_000 + two, two],
      [250_000 + 2 * two, 6_000_000 - 250_000 - 2 * two],
    ]);
    expect(await askedRanges(9_000_000, { end: 3_000_000 })).toEqual([
      [0, 250_000],
      [250_000, two],
      [250_000 + two, 3_000_000 - 250_000 - two],
    ]);
    expect(await askedRanges(900_000)).toEqual([[0, 900_000]]);
  });

  it('is requested in chunks of the size that a busy master returns', async () => {
    const asked = await askedRanges(30_000_000, { cap: (count) => (count < 8 ? 2 << 20 : 300_000) });
    // Chunks requested before the master began to return less arrive twice, and nothing else.
    expect(asked.length).toBeLessThan(30_000_000 / 300_000 + 12);
    expect(asked.slice(16).every(([, most]) => most <= 300_000)).toBe(true);
  });

  it('is requested in small chunks over a slow connection', async () => {
    const asked = await askedRanges(2_000_000, { rttMs: 8000 });
    expect(asked.slice(0, 3)).toEqual([
      [0, 250_000],
      [250_000, 65_536],
      [315_536, 65_536],
    ]);
  });

  it('is requested in chunks of our own format, unless they are to be compressed', async () => {
    expect(readFileSync(await client.cacheFile('salt://large'))).toHaveLength(100_000);
    const chunks = (): unknown[] =>
      master.asked.splice(0).flatMap((load) => (load['cmd'] === '_serve_file' ? [load['chunk']] : []));
    expect(chunks()).toEqual([100_000]);
    await client.getFile('salt://large', at('got'), { gzip: 5 });
    expect(chunks()).toEqual([undefined]);
  });

  it('of a real master is requested in Salt’s format', async () => {
    master.halite = false;
    await client.cacheFile('salt://large');
    expect(master.asked.map((load) => Object.keys(load).sort())).toEqual([
      ['cmd', 'path', 'saltenv'],
      ['cmd', 'loc', 'path', 'saltenv'],
    ]);
  });
});
