// Single sign-on of the console: Chromium, salt-api, and a real OpenID Connect provider.
import { chmodSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { freePorts } from '../support/ports.ts';
import { Browser } from '../support/servers/browser.ts';
import { type OidcProvider, startOidcProvider } from '../support/servers/oidc.ts';

let provider: OidcProvider | undefined;
let browser: Browser | undefined;
let fleet: Deployment;
let port: number;

beforeAll(async () => {
  provider = await startOidcProvider();
  [port = 0] = await freePorts(1);
  browser = await Browser.start(`http://127.0.0.1:${port}`);
  if (!provider || !browser) return;
  fleet = await Deployment.create();
  chmodSync(fleet.root, 0o755);
  writeFileSync(fleet.path('secret'), 'client secret\n');
  const lines = [
    'external_auth:',
    '  oidc:',
    `    ^issuer: ${provider.issuer}`,
    '    ^client_id: console',
    `    ^client_secret_file: ${fleet.path('secret')}`,
    '    ^label: Log in with Example',
    '    fred: [".*", "@runner", "@wheel"]',
    'api_user: nobody',
    ...[`api_pidfile: ${fleet.path('run/api.pid')}`, `api_logfile: ${fleet.path('log/api')}`],
    ...['rest_cherrypy:', '  host: 127.0.0.1', `  port: ${port}`, '  disable_ssl: True', ''],
  ];
  writeFileSync(fleet.path('etc/master.d/api.conf'), lines.join('\n'));
  await fleet.startMaster();
  await fleet.startApi();
});
afterAll(async () => {
  await browser?.close();
  await fleet?.destroy();
  await provider?.stop();
});

interface Answer {
  readonly status: number;
  readonly location: string;
  readonly cookies: readonly string[];
}

/** As a browser that follows nothing by itself. */
function get(path: string, cookie = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: `/halite/v1/oidc/${path}`, headers: { cookie } },
      (answer) => {
        const { location = '', 'set-cookie': cookies = [] } = answer.headers;
        answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, location, cookies }));
      },
    );
    sent.on('error', reject).end();
  });
}

const cookieOf = ({ cookies }: Answer): string => cookies[0]?.split(';')[0] ?? '';
const stateOf = ({ location }: Answer): string => new URL(location).searchParams.get('state') ?? '';

describe('single sign-on', () => {
  it('opens the page that was asked for, as the user whom the provider names', async () => {
    if (!provider || !browser) return;
    const { page, close } = await browser.open();
    await page.goto('/console/#/jobs?q=failed');
    const link = page.getByRole('link', { name: 'Log in with Example' });
    await link.waitFor();
    expect(await page.locator('input[name=password]').count()).toBe(0);
    await link.click();
    await page.locator('input[name=login]').fill('fred');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('header.top').getByText('fred').waitFor();
    expect(page.url()).toBe(`http://127.0.0.1:${port}/console/#/jobs?q=failed`);
    // The provider, which is at the same address, has some of its own.
    const all = await page.context().cookies(`http://127.0.0.1:${port}/halite/v1/oidc/`);
    const cookies = all.filter(({ name }) => name === 'session_id' || name.startsWith('halite'));
    expect(cookies).toEqual([expect.objectContaining({ name: 'session_id', httpOnly: true, sameSite: 'Strict' })]);
    await close();
  });

  it('logs nobody in who has not begun it in this browser', async () => {
    if (!provider || !browser) return;
    const [mine, other] = [await get('start?to=/keys'), await get('start')];
    expect([mine.status, other.status]).toEqual([302, 302]);
    const asked = new URL(mine.location);
    expect(asked.origin).toBe(provider.issuer);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      ...{ response_type: 'code', client_id: 'console', scope: 'openid profile groups', code_challenge_method: 'S256' },
      redirect_uri: `http://127.0.0.1:${port}/halite/v1/oidc/callback`,
    });
    expect(mine.cookies[0]).toMatch(/; HttpOnly; SameSite=Lax$/);
    const refused = (to: string): Partial<Answer> => ({ status: 302, location: `/console/?login=refused#${to}` });
    const back = (state: string, cookie?: string) => get(`callback?code=abc&state=${state}`, cookie);
    expect(await back(stateOf(mine))).toMatchObject(refused('/'));
    expect(await back(stateOf(other), cookieOf(mine))).toMatchObject(refused('/keys'));
    expect(await back(stateOf(mine), `${cookieOf(mine)}x`)).toMatchObject(refused('/'));
    expect(await get('callback?error=access_denied', cookieOf(mine))).toMatchObject(refused('/keys'));
    // The provider has given no such code.
    const wrong = await back(stateOf(mine), cookieOf(mine));
    expect(wrong).toMatchObject(refused('/keys'));
    expect(wrong.cookies.some((cookie) => cookie.startsWith('session_id='))).toBe(false);
  });

  it('leads to no page of others, and says when nobody was logged in', async () => {
    if (!provider || !browser) return;
    for (const to of ['https://evil.example/', '//evil.example', 'javascript:alert(1)', '/a%0d%0ab: c']) {
      const begun = await get(`start?to=${encodeURIComponent(to)}`);
      const { location } = await get('callback?state=x', cookieOf(begun));
      expect(new URL(location, 'http://own.example').origin).toBe('http://own.example');
      expect(location).not.toMatch(/[\r\n]/);
    }
    const { page, close } = await browser.open();
    await page.goto('/console/?login=refused#/keys');
    await expect.poll(() => page.getByRole('alert').textContent()).not.toBe('');
    await close();
  });
});
