// An unmodified SaltGUI in a real browser, from a checkout: it is in no registry and never part of this repository.
// SALTGUI_SHOTS names a folder for pictures.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFleet } from './api.ts';
import { eventually } from './eventually.ts';

const program = '/usr/bin/chromium';
const shots = process.env['SALTGUI_SHOTS'];
const waitMs = 30_000;

/** Files that an administrator may write, and SaltGUI asks for. */
const optional = /\/static\/(?:minions\.txt|salt-auth\.txt|salt-motd\.(?:txt|html))$/;

export function describePages(checkout: string): void {
  describe('SaltGUI', () => pages(checkout));
}

function pages(checkout: string): void {
  let api: ApiFleet;
  let browser: Browser;
  let page: Page;
  /** What its console complained about. */
  const complaints: string[] = [];

  beforeAll(async () => {
    const folder = join(checkout, 'saltgui');
    api = await ApiFleet.start([`app: "${folder}/index.html"`, `static: "${folder}/static"`], (fleet) =>
      writeFileSync(
        fleet.path('etc/master.d/gui.conf'),
        'saltgui_templates:\n  echo: {description: say hello, target: "*", command: test.echo hello}\nreactor: ["x/*": [/srv/x.sls]]\n',
      ),
    );
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.on('console', (message) => {
      const { url } = message.location();
      const expected = optional.test(url) || (/\/login$/.test(url) && message.text().includes('401'));
      if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(`${message.text()} (${url})`);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    if (shots) mkdirSync(shots, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    await api?.fleet.destroy();
  });

  const shot = async (name: string): Promise<void> => {
    if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
  };
  // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts
  const text = (selector: string): Promise<string> => page.locator(selector).first().innerText();
  const shows = (what: string, selector: string, wanted: RegExp): Promise<void> =>
    eventually(what, async () => wanted.test(await text(selector).catch(() => '')), {
      timeoutMs: waitMs,
      describe: () => complaints.join('\n'),
    });

  async function logIn(user: string, password: string): Promise<void> {
    await page.goto(`http://127.0.0.1:${api.port}/`);
    await page.waitForSelector('#username', { timeout: waitMs });
    await page.selectOption('#page-login select', 'sharedsecret');
    await page.fill('#username', user);
    await page.fill('#password', password);
    await page.click('#login-button');
  }

  async function runCommand(target: string, command: string, type: 'normal' | 'async' = 'normal'): Promise<void> {
    await page.evaluate(`localStorage.setItem('runtype', '${type}')`);
    await page.click('#button-manual-run');
    await page.fill('#target', target);
    await page.fill('#command', command);
    await page.click('#run-command');
  }

  it('offers the login methods of the master, and refuses a wrong password', async () => {
    await logIn('ann', 'wrong');
    await shows('the refusal', '#notice-wrapper', /Authentication failed|Unauthorized|auth/i);
    expect(await page.locator('#page-login select option').allInnerTexts()).toEqual(['sharedsecret', 'file', 'auto']);
    await shot('login-refused');
  });

  it('tells a user without rules that there are no permissions', async () => {
    await logIn('nobody', 'of all');
    await shows('the sentence', '#notice-wrapper', /permission/i);
    await shot('login-no-permissions');
  });

  it('shows the minions after a login', async () => {
    await logIn('ann', 'of all');
    await page.waitForURL(/#minions/, { timeout: waitMs });
    await shows('both minions', '#page-minions', /m1[\s\S]*m2/);
    await shows('their operating system', '#page-minions', /Debian|Linux/i);
    await shot('minions');
  });

  const all: [string, RegExp][] = [
    ...(['grains', 'pillars', 'mine', 'beacons', 'schedules', 'highstate'] as const).map((name): [string, RegExp] => [
      name,
      /m1[\s\S]*m2/,
    ]),
    ['keys', /accepted/],
    ['jobs', /grains\.items|Jobs/],
    ['nodegroups', /mine/],
    ['orchestrations', /Orchestrations/],
    ['templates', /say hello/],
    ['reactors', /x\/\*/],
    ['events', /Recent Events/],
    ['issues', /Issues/],
    ['options', /saltgui_templates|templates/],
    ['grains-minion?minionid=m1', /role/],
    ['pillars-minion?minionid=m1', /class/],
    ['beacons-minion?minionid=m1', /m1/],
    ['schedules-minion?minionid=m1', /m1/],
    ['mine-minion?minionid=m1', /m1/],
  ];
  /** 1.33 has no page for the mine. */
  const known = existsSync(join(checkout, 'saltgui/static/scripts/pages/Mine.js'))
    ? all
    : all.filter(([name]) => !name.startsWith('mine'));
  it.each(known)('shows the page %s without an error in its console', async (name, wanted) => {
    complaints.length = 0;
    const [hash = '', query] = name.split('?');
    await page.goto(`http://127.0.0.1:${api.port}/${query ? `?${query}` : ''}#${hash}`);
    await shows(`the page ${name}`, `#page-${hash}`, wanted);
    await eventually('everything to be loaded', async () => !(await text(`#page-${hash}`)).includes('(loading'), {
      timeoutMs: waitMs,
    });
    await shot(hash);
    expect(complaints).toEqual([]);
  });

  it('runs a command, normally and without waiting', async () => {
    complaints.length = 0;
    await page.goto(`http://127.0.0.1:${api.port}/#minions`);
    await shows('the minions', '#page-minions', /m1[\s\S]*m2/);
    await runCommand('*', 'test.echo "hello there"');
    await shows('both answers', '#popup-output', /m1[\s\S]*hello there[\s\S]*m2[\s\S]*hello there/);
    await shot('run');
    await page.click('#cmd-close-button');
    await runCommand('*', 'test.sleep 1', 'async');
    await shows('the link to the job', '#popup-output', /\d{20}/);
    await shot('run-async');
    const [jid = ''] = /\d{20}/.exec(await text('#popup-output')) ?? [];
    await page.click('#cmd-close-button');
    const token = await api.login('ann');
    const results = async (): Promise<object> => (await api.ask('GET', `/jobs/${jid}`, { token })).json.return[0];
    await eventually('its results', async () => Object.keys(await results()).length === 2);
    await page.goto(`http://127.0.0.1:${api.port}/?id=${jid}#job`);
    await shows('the job with its results', '#page-job', /test\.sleep[\s\S]*m1[\s\S]*true/i);
    await shot('job');
    expect(complaints).toEqual([]);
  });

  it('accepts a key, and hears the event', async () => {
    complaints.length = 0;
    const pem = readFileSync(api.fleet.path('etc/pki/master/minions/m1'), 'utf8');
    writeFileSync(api.fleet.path('etc/pki/master/minions_pre/m9'), pem);
    await page.evaluate(`localStorage.setItem('runtype', 'normal')`);
    await page.goto(`http://127.0.0.1:${api.port}/#keys`);
    await shows('the new key', '#page-keys', /m9[\s\S]*unaccepted/);
    await shot('key-pending');
    const row = page.locator('#page-keys tr', { hasText: 'm9' });
    await row.locator('.menu-dropdown').first().hover();
    await row.locator('.menu-dropdown-content div', { hasText: 'Accept key' }).first().click();
    await page.click('#run-command');
    await eventually('the key to be accepted', async () => existsSync(api.fleet.path('etc/pki/master/minions/m9')));
    await shot('key-accepted');
    await page.click('#cmd-close-button');
    await page.goto(`http://127.0.0.1:${api.port}/#events`);
    await shows('the page', '#page-events', /Recent Events/);
    await page
      .locator('#page-events span.small-button-for-click', { hasText: /[\u25b6\u2bc8]/ })
      .first()
      .click();
    const token = await api.login('ann');
    await eventually('an event on the page', async () => {
      await api.run(token, { client: 'local', tgt: 'm1', fun: 'test.ping' });
      return /salt\/job\/\d{20}\/ret\/m1/.test(await text('#page-events'));
    });
    await shot('events-live');
    await api.run(token, { client: 'wheel', fun: 'key.delete', match: 'm9' });
    expect(complaints).toEqual([]);
  });

  it('logs out: the token is dead', async () => {
    const token = await page.evaluate<string>(`sessionStorage.getItem('token') ?? ''`);
    expect((await api.ask('GET', '/stats', { token })).status).toBe(200);
    await page.evaluate(`document.getElementById('button-logout1').click()`);
    await page.waitForSelector('#username', { timeout: waitMs });
    const dead = async (): Promise<boolean> => (await api.ask('GET', '/stats', { token })).status === 401;
    await eventually('the token to be dead', dead);
    await shot('logged-out');
  });
}
