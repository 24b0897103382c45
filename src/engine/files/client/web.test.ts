import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FileClient } from '../../../extend/sdk/index.ts';
import { openTestServer, temporaryFolder } from '../testing.ts';
import { testClient, testMaster } from './testing.ts';

let folder: ReturnType<typeof temporaryFolder>;
let web: Server;
let client: FileClient;
let base: string;
let seen: { url: string; headers: IncomingMessage['headers'] }[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const at = (...parts: string[]): string => join(folder.path, ...parts);
const content = Buffer.alloc(300_000, 'web content ');

beforeEach(async () => {
  folder = temporaryFolder();
  seen = [];
  answer = (_, response) => void response.end(content);
  web = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((done) => web.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  client = testClient(testMaster(openTestServer(folder.path)).services, at('cache'));
});
afterEach(async () => {
  web.closeAllConnections();
  await new Promise((done) => web.close(done));
  folder.remove();
});

const cachePlace = (path: string): string =>
  at('cache/extrn_files/base', base.slice('http://'.length).replace(':', ''), path);

it('downloads a file into the cache', async () => {
  expect(await client.cacheFile(`${base}/a/b.bin?v=1`)).toBe(cachePlace('a/b.bin-v=1'));
  expect(readFileSync(cachePlace('a/b.bin-v=1')).equals(content)).toBe(true);
  expect(readdirSync(cachePlace('a'))).toEqual(['b.bin-v=1']);
});

it('downloads a file to a path, or into a folder with its own name', async () => {
  mkdirSync(at('dest'));
  expect(await client.getUrl(`${base}/x/y.txt`, at('dest/z'))).toBe(at('dest/z'));
  expect(await client.getUrl(`${base}/x/y.txt`, at('dest'))).toBe(at('dest/y.txt'));
  expect(await client.getUrl(`${base}/`, at('dest'))).toBe(at('dest/index.html'));
  expect(await client.getUrl(`${base}/x`, at('missing/z'))).toBe(false);
  expect(await client.getUrl(`${base}/x`, at('missing/z'), { makedirs: true })).toBe(at('missing/z'));
});

it('returns the content without storing it', async () => {
  expect((await client.read(`${base}/x`))?.equals(content)).toBe(true);
  expect(existsSync(at('cache'))).toBe(false);
});

it('follows redirects, and sends no password to another server', async () => {
  answer = (request, response) => {
    if (request.url === '/start') response.writeHead(302, { location: '/end' }).end('not this');
    else if (request.url === '/away')
      response.writeHead(302, { location: `${base.replace('127.0.0.1', 'localhost')}/end` }).end();
    else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end();
    else if (request.url === '/file') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    else response.end('the end');
  };
  const user = base.replace('http://', 'http://me:p%40ss@');
  expect(readFileSync(await client.cacheFile(`${user}/start`), 'utf8')).toBe('the end');
  const basic = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([basic, basic]);
  seen.length = 0;
  await client.cacheFile(`${user}/away`);
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([basic, undefined]);
  await expect(client.cacheFile(`${base}/round`)).rejects.toThrow('HTTP 302');
  await expect(client.cacheFile(`${base}/file`)).rejects.toThrow('no web address');
});

it('reports the answer of the server, and leaves no files behind', async () => {
  answer = (_, response) => response.writeHead(404).end('nope');
  await expect(client.cacheFile(`${base}/nope`)).rejects.toThrow('Error: HTTP 404: Not Found reading /nope');
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('short');
    setTimeout(() => response.destroy(), 10);
  };
  await expect(client.cacheFile(`${base}/short`)).rejects.toThrow('reading /short');
  expect(
    readdirSync(at('cache/extrn_files'), { recursive: true, withFileTypes: true }).filter((e) => e.isFile()),
  ).toEqual([]);
});

it('does not fetch a file again that has the digest', async () => {
  const digest = createHash('sha256').update(content).digest('hex');
  const path = await client.cacheFile(`${base}/x`, { sourceHash: `sha256=${digest}` });
  await client.cacheFile(`${base}/x`, { sourceHash: digest });
  expect(seen).toHaveLength(1);
  writeFileSync(path, 'damaged');
  await client.cacheFile(`${base}/x`, { sourceHash: digest });
  expect(seen).toHaveLength(2);
});

it('sends the entity tag it was given', async () => {
  answer = (request, response) => {
    if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"v1"' }).end(content);
  };
  const path = await client.cacheFile(`${base}/x`, { useEtag: true });
  expect(readFileSync(`${path}.etag`, 'utf8')).toBe('"v1"');
  expect(await client.cacheFile(`${base}/x`, { useEtag: true })).toBe(path);
  expect(readFileSync(path).equals(content)).toBe(true);
  expect(seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"v1"']);
});

it('refuses an address whose path leaves the cache', async () => {
  expect(client.cacheDest('http://host/../../x')).toBe('Invalid path');
  await expect(client.cacheFile(`${base}/a/../../../../x`)).rejects.toThrow('Invalid path');
  await expect(client.cacheFile('http://../x')).rejects.toThrow();
  await expect(client.cacheFile('bogus://x')).rejects.toThrow('Unsupported url scheme: bogus://x');
  expect(seen).toEqual([]);
});
