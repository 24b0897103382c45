// Redirects of the one HTTP client that extensions share.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { httpCall } from './request.ts';

const asked: string[] = [];
const servers: Server[] = [];
let [here, there] = ['', ''];

async function serve(): Promise<string> {
  const server = createServer((request, reply) => {
    asked.push([request.method, request.url, request.headers.authorization, request.headers['x-a']].join(' ').trim());
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
    if (to === null) reply.end('here');
    else reply.writeHead(302, { location: to }).end();
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
beforeAll(async () => {
  [here, there] = [await serve(), await serve()];
});
afterAll(() => {
  for (const server of servers) server.close();
});

const ask = (url: string, more = {}): Promise<{ readonly text: string }> => {
  asked.length = 0;
  return httpCall({ service: 'it', url, headers: { Authorization: 'secret', 'x-a': 'b' }, redirects: 2, ...more });
};

it('takes everything along on the same server', async () => {
  expect((await ask(`${here}/?to=/b`)).text).toBe('here');
  expect(asked).toEqual(['GET /?to=/b secret b', 'GET /b secret b']);
});

it('proves itself to no other server', async () => {
  expect((await ask(`${here.replace('//', '//u:p@')}/?to=${there}/b`)).text).toBe('here');
  expect(asked).toEqual([`GET /?to=${there}/b secret b`, 'GET /b  b']);
});

it('keeps the password of the address on the same server', async () => {
  await ask(`${here.replace('//', '//u:p@')}/?to=/b`, { headers: {} });
  expect(asked).toEqual(['GET /?to=/b Basic dTpw', 'GET /b Basic dTpw']);
});

it('ends after as many as were allowed, and begins only when asked to', async () => {
  await expect(ask(`${here}/?to=/?to=/`)).resolves.toBeDefined();
  const endless = `${here}/?to=/%3Fto=/%253Fto=/%25253Fto=/`;
  await expect(ask(endless)).rejects.toThrow('answered 302');
  expect(asked).toHaveLength(3);
  await expect(ask(`${here}/?to=/b`, { redirects: undefined })).rejects.toThrow('answered 302');
});

it('follows nothing with a body, and to nothing but web servers', async () => {
  await expect(ask(`${here}/?to=/b`, { json: '{}' })).rejects.toThrow('answered 302');
  await expect(ask(`${here}/?to=file:///etc/passwd`)).rejects.toThrow('not an http or https address');
});
