// `external_auth: pki`: users with client certificates at a real salt-api with TLS, and everybody who only has something
// that looks like one. The tokens are in a database file (`eauth_tokens: sqlite`).
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import type { BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimFor } from '../../src/protocol/wire/messages/certificate.ts';
import { ApiFleet, type SecondApi } from '../support/api.ts';
import { Authority, type Certificate } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { Browser } from '../support/servers/browser.ts';
import { askAs } from '../support/users.ts';

let api: ApiFleet;
let tls: SecondApi;
let root: Authority;
let branch: Authority;
let stranger: Authority;
let fred: Certificate;
/** Signed by the branch, which the client sends along. */
let ann: Certificate;

/** All files are new ones, readable for the user of the API, at once. */
function publish(name: string, text: string): void {
  const file = api.fleet.path(`tls/${name}`);
  writeFileSync(`${file}.new`, text);
  chmodSync(`${file}.new`, 0o644);
  renameSync(`${file}.new`, file);
}

beforeAll(async () => {
  let folder = '';
  api = await ApiFleet.start([], (fleet) => {
    folder = fleet.root;
    mkdirSync(fleet.path('tls'));
    const file = fleet.path('etc/master.d/eauth.conf');
    const block = [
      '  pki:',
      `    ca_file: ${fleet.path('tls/ca.pem')}`,
      `    ^crl_file: ${fleet.path('tls/crl.pem')}`,
      '    fred: [test.*]',
      "    ann: ['.*', '@runner', '@wheel']",
    ];
    const text = readFileSync(file, 'utf8').replace('external_auth:\n', `external_auth:\n${block.join('\n')}\n`);
    writeFileSync(file, `${text}eauth_tokens: sqlite\n`);
  });
  root = await Authority.make(`${folder}/root`, 'root of all');
  branch = await root.intermediate(`${folder}/branch`, 'branch');
  stranger = await Authority.make(`${folder}/stranger`, 'root of all');
  fred = await root.sign({ subject: '/CN=fred' });
  const own = await branch.sign({ subject: '/CN=ann' });
  ann = { ...own, cert: own.cert + branch.cert };
  const server = await root.sign({ subject: '/CN=api', extensions: ['extendedKeyUsage = serverAuth'] });
  publish('server.crt', server.cert);
  publish('server.key', server.key);
  publish('ca.pem', root.cert);
  publish('crl.pem', (await root.revoked()) + (await branch.revoked()));
  tls = await api.second([
    ...[`ssl_crt: ${api.fleet.path('tls/server.crt')}`, `ssl_key: ${api.fleet.path('tls/server.key')}`],
    'api_acl: {users: {banned: [192.0.2.1], "*": ["*"]}}',
  ]);
});
afterAll(async () => {
  await tls?.stop();
  await api?.fleet.destroy();
});

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test asserts
  readonly json: any;
}

interface Asking {
  readonly by?: Certificate | undefined;
  readonly json: object;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent;
}

function ask(path: string, { by, json, headers = {}, agent }: Asking): Promise<Reply> {
  const body = JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(
      {
        ...{ host: '127.0.0.1', port: tls.api.port, method: 'POST', path, agent: agent ?? false },
        ...{ rejectUnauthorized: false, ...by },
        headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers },
      },
      (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => {
          text += part.toString();
        });
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, json: text === '' ? undefined : JSON.parse(text) }),
        );
      },
    );
    sent.on('error', reject).end(body);
  });
}

const pki = { eauth: 'pki' };
const login = (by: Certificate | undefined, more: object = {}): Promise<Reply> =>
  ask('/login', { by, json: { ...pki, ...more } });

describe('a client certificate', () => {
  it('logs its user in, whose token needs no certificate', async () => {
    const { status, json } = await login(fred);
    expect(status, JSON.stringify(json)).toBe(200);
    const [made] = json.return;
    expect(made).toMatchObject({ user: 'fred', eauth: 'pki', perms: ['test.*'] });
    const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' };
    expect((await api.run(made.token, ping)).json).toEqual({ return: [{ m1: true }] });
    expect((await api.run(made.token, { ...ping, fun: 'cmd.run', arg: ['id'] })).status).toBe(401);
  });

  it('of an authority in between, which comes along', async () => {
    expect((await login(ann)).json.return[0]).toMatchObject({ user: 'ann' });
    expect((await login({ ...ann, cert: ann.cert.replace(branch.cert, '') })).status, 'alone').toBe(401);
  });

  it('counts at all places where one logs in', async () => {
    const own = await ask('/halite/v1/session', { by: fred, json: { ...pki, username: 'fred', password: '' } });
    expect(own.json).toMatchObject({ user: 'fred', eauth: 'pki' });
    expect((await ask('/token', { by: fred, json: [pki] })).json[0]).toMatchObject({ name: 'fred', eauth: 'pki' });
  });

  it('is not needed by others', async () => {
    const json = { username: 'ann', password: 'of all', eauth: 'sharedsecret' };
    expect((await ask('/login', { json })).status).toBe(200);
    expect((await ask('/login', { by: await stranger.sign({ subject: '/CN=ann' }), json })).status).toBe(200);
  });

  it('in the console: a button for browsers with a certificate, which tells the others what is missing', async (context) => {
    const origin = `https://127.0.0.1:${tls.api.port}`;
    const browser = await Browser.start(origin);
    if (!browser) return context.skip();
    const pressed = async (options: BrowserContextOptions) => {
      const tab = await browser.open({ ignoreHTTPSErrors: true, ...options });
      await tab.page.goto('/console/');
      await tab.page.getByRole('button', { name: 'Log in with a certificate' }).click();
      return tab;
    };
    try {
      const [cert, key] = [fred.cert, fred.key].map((text) => Buffer.from(text));
      const { page, troubles } = await pressed({ clientCertificates: [{ origin, cert, key }] });
      await page.locator('header.top').getByText('fred').waitFor();
      expect(troubles).toEqual([]);
      const without = await pressed({});
      await without.page.getByRole('alert').getByText('no certificate').waitFor();
    } finally {
      await browser.close();
    }
  });

  it('keeps to api_acl, by the name in it', async () => {
    const banned = await root.sign({ subject: '/CN=banned' });
    expect((await login(banned)).status).toBe(401);
  });
});

describe('what is refused', () => {
  it('no certificate, and certificates of others, for other purposes, or with several names', async () => {
    const until = '20200201000000Z';
    const wrong: [string, Certificate | undefined][] = [
      ['none', undefined],
      ['of another authority of the same name', await stranger.sign({ subject: '/CN=ann' })],
      ['of a server', await root.sign({ subject: '/CN=ann', extensions: ['extendedKeyUsage = serverAuth'] })],
      ['of two users', await root.sign({ subject: '/CN=ann/CN=fred' })],
      ['of nobody', await root.sign({ subject: '/O=ann' })],
      ['that is over', await root.sign({ subject: '/CN=ann', until })],
      ['signed by a user', await signedByUser()],
    ];
    for (const [what, by] of wrong) {
      const { status, json } = await login(by);
      expect(status, what).toBe(401);
      expect(json.return, what).toBe('Could not authenticate using provided credentials');
    }
  });

  /** fred is no authority. */
  async function signedByUser(): Promise<Certificate> {
    const folder = api.fleet.path('fred');
    const own = await Authority.make(folder, 'fred');
    writeFileSync(own.file('ca.crt'), fred.cert);
    writeFileSync(own.file('ca.key'), fred.key);
    const made = await own.sign({ subject: '/CN=ann' });
    return { ...made, cert: made.cert + fred.cert };
  }

  it('another name than that of the certificate', async () => {
    expect((await login(fred, { username: 'fred' })).status).toBe(200);
    expect((await login(fred, { username: 'ann' })).status).toBe(401);
  });

  it('a certificate as a password, wherever it is sent (CVE-2024-38825)', async () => {
    const password = ann.cert;
    for (const path of ['/login', '/token', '/halite/v1/session'])
      expect((await ask(path, { json: { ...pki, username: 'ann', password } })).status, path).toBe(401);
    const chunk = { client: 'local', tgt: '*', fun: 'test.ping', ...pki, username: 'ann', password };
    expect((await ask('/run', { json: [chunk] })).status).toBe(401);
    expect((await ask('/run', { by: ann, json: [chunk] })).status, 'only a login counts').toBe(401);
    expect((await api.ask('POST', '/login', { json: { ...pki, username: 'ann', password } })).status).toBe(401);
    const local = await askAs(api.fleet, 'login', { ...pki, username: 'ann', password, certificate: password });
    expect(local.error).toMatch(/Authentication failure of type "eauth"/);
  });

  it('a certificate at the socket of the master that the API has not seen, and one that no authority has signed', async () => {
    const der = (pem: string): Buffer =>
      Buffer.from(pem.replace(/-----[^-]+-----/g, '').replaceAll(/\s/g, ''), 'base64');
    const key = readFileSync(api.fleet.path('cache/master/.api_certificate_key'));
    const at = (certificate: string) => askAs(api.fleet, 'login', { ...pki, username: '', password: '', certificate });
    expect((await at(claimFor(key, [der(fred.cert)]))).error, 'the form is right').toBeUndefined();
    for (const wrong of [
      claimFor(Buffer.from('another key'), [der(fred.cert)]),
      claimFor(Buffer.alloc(0), [der(fred.cert)]),
      claimFor(key, [der(fred.cert)], Date.now() - 60_000),
      claimFor(key, [der((await stranger.sign({ subject: '/CN=fred' })).cert)]),
      claimFor(key, [Buffer.from('no certificate')]),
    ])
      expect((await at(wrong)).error).toMatch(/Authentication failure of type "eauth"/);
  });

  it('the certificate of a browser for a page of others', async () => {
    const foreign: Record<string, string>[] = [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }];
    for (const headers of foreign)
      for (const path of ['/login', '/token', '/halite/v1/session']) {
        const json = { ...pki, username: '', password: '' };
        const { status } = await ask(path, { by: ann, json, headers });
        expect(status, path).toBe(403);
      }
  });

  it('a revoked one, also on a connection that is older than its revocation', async () => {
    const gone = await root.sign({ subject: '/CN=fred' });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const kept = { by: gone, json: pki, agent };
    expect((await ask('/login', kept)).status).toBe(200);
    await root.revoke(gone);
    publish('crl.pem', (await root.revoked()) + (await branch.revoked()));
    process.kill(tls.pid, 'SIGHUP');
    await eventually('the revocation', async () => (await login(gone)).status === 401);
    expect((await ask('/login', kept)).status, 'kept connection').toBe(401);
    agent.destroy();
    expect((await login(fred)).status, 'others').toBe(200);
    expect((await login(ann)).status, 'others').toBe(200);
  });
});

describe('tokens in a database', () => {
  const tokens = async (...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await api.fleet.run('salt-run', ['--out=json', ...args]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  it('live on when the master is killed, and only their digests are in the file', async () => {
    const token = await api.login('fred');
    await api.fleet.master.stop('SIGKILL');
    await api.fleet.startMaster();
    await eventually('the token', async () => (await api.ask('GET', '/stats', { token })).status === 200);
    const folder = api.fleet.path('cache/master/tokens');
    const files = readdirSync(folder);
    expect(files).toContain('tokens.db');
    for (const file of files) expect(readFileSync(`${folder}/${file}`).includes(token), file).toBe(false);
  });

  it('are listed by their digests, and deleted', async () => {
    const [one, two] = [await api.login('limited'), await api.login('limited')];
    const named = async (): Promise<string[]> =>
      Object.entries((await tokens('auth.list_tokens')) as Record<string, { name: string }>)
        .filter(([, { name }]) => name === 'limited')
        .map(([shown]) => shown);
    const [first] = await named();
    expect(await named()).toHaveLength(2);
    expect(await tokens('auth.del_token', first!)).toBe(true);
    const alive = async (token: string): Promise<boolean> => (await api.ask('GET', '/stats', { token })).status === 200;
    expect([await alive(one), await alive(two)].sort()).toEqual([false, true]);
    const left = (await alive(one)) ? one : two;
    expect(await tokens('auth.del_token', left)).toBe(true);
    expect(await alive(left)).toBe(false);
  });
});
