// Requests to our own API that are none: wrong types, too much, too slow, from other pages.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFleet } from '../support/api.ts';
import { own, ownRoot } from '../support/api-v1.ts';

let api: ApiFleet;
let ann = '';
beforeAll(async () => {
  api = await ApiFleet.start();
  ann = await api.login('ann');
});
afterAll(async () => {
  await api?.fleet.destroy();
});

const get = (path: string, token: string) => own(api, 'GET', path, { token });

describe('what is no request', () => {
  const raw = (method: string, path: string, body: string, type = 'application/json') =>
    own(api, method, path, { token: ann, text: body, headers: { 'Content-Type': type } });

  it('is refused with what is wrong, and never harms', async () => {
    for (const body of [
      '',
      '[]',
      'null',
      '{',
      '{"tgt": 1, "fun": "test.ping"}',
      '{"tgt": "*"}',
      '{"tgt":"*","fun":""}',
      '{"tgt":"*","fun":"test.ping","arg":"x"}',
      '{"tgt":"*","fun":"test.ping","user":"root"}',
      '{"tgt":"*","fun":"test.ping","timeout":"x"}',
      '{"tgt":["a",1],"fun":"test.ping"}',
      `{"tgt":"*","fun":"${'x'.repeat(300)}"}`,
      '{"__proto__":{"tgt":"*"},"fun":"test.ping"}',
      `{"tgt":"*","fun":"test.ping","arg":${'['.repeat(100)}${']'.repeat(100)}}`,
    ])
      expect((await raw('POST', '/jobs', body)).status, body.slice(0, 60)).toBe(400);
    expect((await raw('POST', '/jobs', 'tgt=*&fun=test.ping', 'application/x-www-form-urlencoded')).status).toBe(415);
    expect(
      (await raw('POST', '/jobs', `{"tgt":"*","fun":"test.ping","arg":["${'x'.repeat(1_100_000)}"]}`)).status,
    ).toBe(413);
    for (const path of [
      '/fleet?limit=1001',
      '/fleet?limit=-1',
      '/fleet?limit=1.5',
      '/fleet?offset=x',
      '/fleet?unknown=1',
      '/fleet?q=a&q=b',
      `/fleet?q=${'x'.repeat(1001)}`,
      '/fleet?q=%40%28%28%28',
      '/jobs?q=tgt%3D*a*a*a*a*',
      '/live?topics=nonsense',
      '/events?since=x',
      '/doctor?all=yes',
    ])
      expect((await get(path, ann)).status, path).toBe(400);
    for (const path of [
      '/jobs/1',
      '/jobs/20200101000000000000',
      '/minions/..%2f..%2fetc',
      '/minions/%00',
      '/live/abc',
      `/minions/${'x'.repeat(256)}`,
    ])
      expect((await get(path, ann)).status, path).toBeOneOf([404, 405]);
    for (const token of ['x', '../../etc/passwd', 'f'.repeat(64), ''])
      expect((await get('/fleet', token)).status, token).toBe(401);
  });

  it('comes slowly: the connection ends, and others are answered', async () => {
    const socket = connect(api.port, '127.0.0.1');
    let answer = '';
    socket
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        answer += chunk.toString();
      });
    socket.write(
      `POST ${ownRoot}/jobs HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${ann}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"tgt":`,
    );
    expect((await get('/fleet', ann)).status).toBe(200);
    socket.destroy();
    expect(answer).toBe('');
  });

  it('from other pages cannot use the cookie', async () => {
    const headers = { Cookie: `session_id=${ann}`, Origin: 'https://evil.example', 'Content-Type': 'application/json' };
    expect((await own(api, 'POST', '/jobs', { text: '{"tgt":"*","fun":"test.ping"}', headers })).status).toBe(403);
    expect((await own(api, 'DELETE', '/session', { headers })).status).toBe(403);
  });
});
