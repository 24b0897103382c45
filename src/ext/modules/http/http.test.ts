// http.query against a local server; the expected values are the answers of Salt 3006.27 to the same requests.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { PlainDict, Value } from 'halite/sdk';
import { type TestContextOptions, testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseXml, xmlToDict } from '../../shared/serializers/xml.ts';
import http from './index.ts';

let server: Server;
let base = '';
let tmp = '';
const seen: { method?: string | undefined; url?: string | undefined; headers: IncomingMessage['headers'] }[] = [];

type Page = readonly [status: number, type: string, text: string | Buffer, headers?: Record<string, string>];
const plain = 'text/plain';
const pages: Readonly<Record<string, Page>> = {
  '/json': [200, 'application/json', '{"a": [1, 2.5, null]}'],
  '/yaml': [200, 'application/yaml', 'a: 1\n'],
  '/xml': [200, 'text/xml', '<r><a>1</a><b><c>2</c><c>3</c></b><d/></r>'],
  '/gzip': [200, plain, gzipSync('packed'), { 'content-encoding': 'gzip' }],
  '/latin': [200, 'text/plain; charset=latin-1', Buffer.from([0xe9])],
  '/redirect': [302, plain, '', { location: '/echo?moved=1' }],
  '/loop': [302, plain, '', { location: '/loop' }],
  '/missing': [404, plain, 'nothing here'],
  '/cookie': [200, plain, 'c', { 'set-cookie': 'sid=1; Path=/' }],
};

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const path = new URL(request.url ?? '/', 'http://x').pathname;
  const [status, type, text, headers] = pages[path] ?? [200, plain, `${request.method} ${request.url} ${body}`];
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text);
}

beforeAll(async () => {
  tmp = mkdtempSync(join(tmpdir(), 'halite-http-'));
  server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers });
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece.toString();
    });
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(tmp, { recursive: true, force: true });
});

const call = (options: TestContextOptions, fun: string, args: Value[], kwargs: PlainDict): Promise<Value> =>
  testContext(options).callWith(fun, args, kwargs);

const query = async (path: string, kwargs: PlainDict = {}): Promise<PlainDict> =>
  (await call({ modules: [http], opts: { cachedir: tmp } }, 'http.query', [base + path], kwargs)) as PlainDict;

describe('http.query', () => {
  it('returns the body, and more on request', async () => {
    expect(await query('/echo')).toEqual({ body: 'GET /echo ' });
    expect(await query('/echo', { text: true, status: true })).toEqual({
      body: 'GET /echo ',
      status: 200,
      text: 'GET /echo ',
    });
    expect((await query('/echo', { headers: true }))['headers']).toMatchObject({ 'Content-Type': 'text/plain' });
  });

  it('decodes by kind', async () => {
    expect((await query('/json', { decode: true }))['dict']).toEqual({ a: [1, expect.anything(), null] });
    expect((await query('/yaml', { decode: true }))['dict']).toEqual({ a: 1 });
    expect((await query('/xml', { decode: true }))['dict']).toEqual([
      { a: '1' },
      { c: ['2', { c: '3' }] },
      { d: null },
    ]);
    expect(await query('/echo', { decode: true })).toMatchObject({ text: 'GET /echo ' });
    expect((await query('/json', { decode: true, decode_type: 'toml' }))['error']).toBe(
      "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')",
    );
  });

  it('unpacks, and reads other character sets', async () => {
    expect((await query('/gzip', { text: true }))['text']).toBe('packed');
    expect((await query('/latin'))['body']).toBe('é');
  });

  it('sends parameters, data, headers and user names', async () => {
    expect((await query('/echo', { params: { q: 'a b' } }))['body']).toBe('GET /echo?q=a+b ');
    expect((await query('/echo', { method: 'POST', data: { a: 1, b: 'x&y' } }))['body']).toBe('POST /echo a=1&b=x%26y');
    expect((await query('/echo', { method: 'PUT', data: 'raw' }))['body']).toBe('PUT /echo raw');
    await query('/echo', {
      header_dict: { 'X-A': '1' },
      header_list: ['X-B: 2', 'wrong'],
      username: 'u',
      password: 'p',
    });
    expect(seen.at(-1)?.headers).toMatchObject({
      'x-a': '1',
      'x-b': '2',
      authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
      'user-agent': 'Salt/3006.27 http.query()',
    });
    const form = await query('/echo', { method: 'POST', data: 'd', formdata: true, formdata_fieldname: 'f' });
    expect(form['body']).toContain('name="f"');
  });

  it('follows redirects, not for ever, and without passwords for others', async () => {
    expect((await query('/redirect'))['body']).toBe('GET /echo?moved=1 ');
    expect(await query('/loop')).toMatchObject({ status: 302, error: 'HTTP 302: Found' });
  });

  it('reports failures in the answer', async () => {
    expect(await query('/missing')).toEqual({ status: 404, error: 'HTTP 404: Not Found', body: 'nothing here' });
    expect(await query('/missing', { raise_error: false, status: true })).toEqual({
      body: 'nothing here',
      status: 404,
    });
    const closed = await call({ modules: [http] }, 'http.query', ['http://127.0.0.1:1/'], { status: true });
    expect(closed).toEqual({ status: 0, error: '[Errno 111] Connection refused' });
  });

  it('has no body where errors are suppressed, and refuses addresses of other kinds', async () => {
    const quiet = { raise_error: false, status: true };
    const closed = await call({ modules: [http] }, 'http.query', ['http://127.0.0.1:1/'], quiet);
    expect(closed).toEqual({ status: 599, body: null });
    const bogus = call({ modules: [http] }, 'http.query', ['bogus'], {});
    await expect(bogus).rejects.toThrow('Unsupported url scheme: bogus');
  });

  it('sends no request under test', async () => {
    const before = seen.length;
    expect(await query('/echo', { test: true })).toEqual({});
    expect(seen.length).toBe(before);
    expect(await query('/echo', { test: true, test_url: `${base}/json` })).toMatchObject({ test: true });
  });

  it('writes files and stores cookies', async () => {
    const out = join(tmp, 'out');
    await query('/echo', { text_out: out });
    expect(readFileSync(out, 'utf8')).toBe('GET /echo ');
    await query('/cookie', { persist_session: true, cookies: true });
    expect(readFileSync(join(tmp, 'cookies.txt'), 'utf8')).toContain('Set-Cookie3: sid=1; path="/"');
    expect(existsSync(join(tmp, 'cookies.session.p'))).toBe(true);
    await query('/echo', { persist_session: true });
    expect(seen.at(-1)?.headers.cookie).toContain('sid=1');
  });

  it('goes through a proxy', async () => {
    const port = (server.address() as AddressInfo).port;
    const opts = { cachedir: tmp, proxy_host: '127.0.0.1', proxy_port: port };
    const got = await call({ modules: [http], opts }, 'http.query', ['http://example.invalid/echo'], {});
    expect((got as PlainDict)['body']).toBe('GET http://example.invalid/echo ');
  });

  it('waits until it works', async () => {
    const got = await call({ modules: [http] }, 'http.wait_for_successful_query', [`${base}/missing`], { wait_for: 0 });
    expect(got).toMatchObject({ status: 404 });
  });
});

describe('xml', () => {
  it('reads what servers send', () => {
    const text =
      '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e "v">]><x a="1"><y:b><![CDATA[<&]]></y:b><c>&lt;&#65;&e;</c></x>';
    expect(xmlToDict(parseXml(text))).toEqual({ b: '<&', c: '<A&e;' });
  });
  it.each(['', 'text', '<a>', '<a></b>', '<a/><b/>', '<a', '<a b=c></a>'])('refuses %j', (text) => {
    expect(() => parseXml(text)).toThrow();
  });
});
