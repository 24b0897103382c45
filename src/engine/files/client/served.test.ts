// A file whose digest the server has just sent: no second request, and no second read.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileClient } from '../../../extend/sdk/index.ts';
import { hashSmallFile } from '../hashes.ts';
import type { FileServer } from '../server.ts';
import { openTestServer, temporaryFolder, writeTree } from '../testing.ts';
import { type TestMaster, testClient, testMaster } from './testing.ts';

let folder: ReturnType<typeof temporaryFolder>;
let server: FileServer;
let master: TestMaster;
let client: FileClient;

beforeEach(() => {
  folder = temporaryFolder();
  writeTree(folder.path, { 'base/small': 'small', 'base/large': 'x'.repeat(100_000), 'base/void': '' });
  server = openTestServer(folder.path, { file_buffer_size: 1000 });
  master = testMaster(server);
  client = testClient(master.services, join(folder.path, 'cache'));
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

describe('a digest the server has just given', () => {
  it('is not requested again when the cached file has it', async () => {
    const path = await client.cacheFile('salt://small');
    const served = await client.hash('salt://small');
    master.asked.length = 0;
    expect(await client.cacheFile('salt://small', { served })).toBe(path);
    expect(master.asked).toEqual([]);
  });

  it('does not keep a cached file with another content', async () => {
    const path = await client.cacheFile('salt://small');
    const served = await client.hash('salt://small');
    writeFileSync(path, 'tampered');
    await client.cacheFile('salt://small', { served });
    expect(readFileSync(path, 'utf8')).toBe('small');
  });

  it('is not used when it is of another kind', async () => {
    await client.cacheFile('salt://small');
    const { hsum } = (await client.hash('salt://small'))!;
    master.asked.length = 0;
    await client.cacheFile('salt://small', { served: { hash_type: 'md5', hsum } });
    expect(master.asked).toHaveLength(1);
  });
});

describe('the content of a file that was fetched', () => {
  const seen = async (url: string): Promise<string[]> => {
    const contents: string[] = [];
    await client.cacheFile(url, { onContent: (content) => contents.push(content.toString()) });
    return contents;
  };

  it('is passed on when the file is small, new or not', async () => {
    expect(await seen('salt://small')).toEqual(['small']);
    expect(await seen('salt://small')).toEqual(['small']);
    expect(await seen('salt://void')).toEqual(['']);
  });

  it('is the new one when the local copy is old', async () => {
    writeFileSync(await client.cacheFile('salt://small'), 'tampered');
    expect(await seen('salt://small')).toEqual(['small']);
  });

  it('is not read when the file is large and already there', async () => {
    await client.cacheFile('salt://large');
    expect(await seen('salt://large')).toEqual([]);
  });
});

it('a pipe has no digest, and does not block', () => {
  const pipe = join(folder.path, 'pipe');
  execFileSync('mkfifo', [pipe]);
  expect(hashSmallFile(pipe, 'sha256')).toBeUndefined();
});
