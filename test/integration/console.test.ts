// The console in Debian's Chromium, before a real master with minions and salt-api: what operators ask for most.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newDict } from '../../src/base/codec/value.ts';
import { ApiFleet } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { HostileMinion } from '../support/hostile-minion.ts';
import { Browser, logIn, type Tab } from '../support/servers/browser.ts';
import { findProgram } from '../support/servers/server.ts';

const hasBrowser = findProgram('chromium') !== undefined;
let api: ApiFleet;
let browser: Browser;
let tab: Tab;
let page: Page;

beforeAll(async () => {
  const origin = (port: number): string => `http://127.0.0.1:${port}`;
  if (!hasBrowser) {
    await Browser.start('');
    return;
  }
  api = await ApiFleet.start();
  const started = await Browser.start(origin(api.port));
  if (!started) throw new Error('there is no browser');
  browser = started;
  tab = await browser.open();
  page = tab.page;
  await logIn(page, 'ann', 'of all');
});
afterAll(async () => {
  await browser?.close();
  await api?.fleet.destroy();
});
/** Errors, violations of the content policy, requests to other servers. */
afterEach(async ({ task }) => {
  if (!hasBrowser) return;
  if (task.result?.state === 'fail')
    console.error(`the page: ${page.url()}\n${await page.locator('body').ariaSnapshot()}`);
  expect(tab.troubles.splice(0)).toEqual([]);
});

const goTo = (hash: string, on: Page = page): Promise<unknown> =>
  on.evaluate(`location.hash = ${JSON.stringify(hash)}`);
const main = (on: Page = page) => on.locator('main');

const legend = (name: RegExp, on: Page = page) => on.locator('.legend').getByRole('button', { name });

describe.skipIf(!hasBrowser)('the files of the console', () => {
  it('are served with a strict policy, under names that never change their content', async () => {
    const document = await api.ask('GET', '/console/');
    expect(document.status).toBe(200);
    expect(document.headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'; style-src 'self'"),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    expect(document.headers['set-cookie']).toBeUndefined();
    const script = /src="(assets\/[^"]+)"/.exec(document.text)?.[1] ?? '';
    const asset = await api.ask('GET', `/console/${script}`, { headers: { 'Accept-Encoding': 'gzip, br' } });
    expect(asset.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': expect.stringContaining('immutable'),
    });
    expect((await api.ask('GET', '/console')).headers.location).toBe('/console/');
    expect((await api.ask('POST', '/console/')).status).toBe(405);
    for (const path of [
      '/console/../etc/master',
      '/console/assets/..%2f..%2findex.html',
      '/console/assets/',
      '/console/x',
    ])
      expect([path, (await api.ask('GET', path)).status]).toEqual([path, 404]);
  });

  it('are what a browser gets that opens the address; programs get their answer', async () => {
    const navigation = { Accept: 'text/html,*/*', 'Sec-Fetch-Mode': 'navigate' };
    expect((await api.ask('GET', '/', { headers: navigation })).headers.location).toBe('/console/');
    expect((await api.ask('GET', '/')).json.return).toBe('Welcome');
  });
});

describe.skipIf(!hasBrowser)('a job', () => {
  it('is previewed, started from the form, and followed without reloading', async () => {
    await goTo('/run');
    await page.getByLabel('Target', { exact: true }).fill('m*');
    await expect.poll(() => main().locator('.classes').textContent()).toMatch(/connected\s*2/);
    await page.getByRole('combobox', { name: 'Function' }).fill('cmd.run');
    await page.getByRole('button', { name: 'As text' }).click();
    // It ends when the test has seen it running.
    const flag = api.fleet.path('seen');
    await page.getByLabel('Arguments').fill(`'until test -e ${flag}; do sleep 0.1; done'`);
    const line = `salt 'm*' cmd.run 'until test -e ${flag}; do sleep 0.1; done'`;
    await expect.poll(() => page.locator('.run-line code').textContent()).toBe(line);
    await page.getByRole('button', { name: 'Run on 2' }).click();
    await legend(/(running|waiting) 2/).waitFor();
    writeFileSync(flag, '');
    await legend(/ok 2/).waitFor();
    expect(await page.locator('.job-facts .command-line').textContent()).toContain(line);
    await page.locator('.job-state', { hasText: 'finished' }).waitFor();
    expect(await page.locator('.job-facts').textContent()).toContain('ann');
  });

  it('shows failures first, finds text in whole answers, and the balance adds up', async () => {
    const jid = await api.startJob('*', 'cmd.run', 'test $(hostname) != x; echo needle-$((40+2)); exit 3');
    await api.finished(jid);
    await goTo(`/job/${jid}`);
    await legend(/failed 2/).waitFor();
    expect(await page.locator('.legend-total').textContent()).toContain('2 minions');
    expect(await page.locator('.command-line').first().textContent()).toContain('salt');
    expect(await main().locator('.group').first().textContent()).toContain('needle-42');
    await page.getByRole('button', { name: 'All answers', exact: true }).click();
    const search = page.getByLabel('Find in the whole text of all answers');
    await search.fill('needle-42');
    await page.getByText('2 found').waitFor();
    await search.fill('nothing like it');
    await page.getByText('No answer fits.').waitFor();
  });

  it('ends with a reason for a minion that is away, and runs again on it when it is back', async () => {
    await api.fleet.minion('m2').stop();
    const preview = ['m*', 'test.ping', '--preview-target', '--explain'];
    await eventually('the master to notice it', async () =>
      (await api.fleet.salt(...preview)).stderr.includes('1 away'),
    );
    await goTo('/run?tgt=m*');
    await page.getByRole('button', { name: 'Only the 1 connected ones' }).click();
    expect(await page.getByLabel('Target', { exact: true }).inputValue()).toBe('m1');
    await page.getByRole('button', { name: 'Run on 1' }).waitFor();
    await goTo('/minions?state=away');
    await main().locator('[role=row] .id', { hasText: 'm2' }).waitFor();
    const jid = await api.startJob('-L', 'm1,m2', 'test.ping');
    await goTo(`/job/${jid}`);
    await legend(/missing 1/).waitFor();
    await main().getByText('its connection to the master was lost').first().waitFor();
    api.fleet.startMinion('m2');
    await api.fleet.answering('m2');
    await page.getByRole('button', { name: 'Again on missing (1)' }).click();
    await expect.poll(() => page.url()).not.toContain(jid);
    await legend(/ok 1/).waitFor();
    expect(await page.locator('.legend-total').textContent()).toBe('1 minion');
  });

  it('is found in the history by what became of it, and the internal ones only on request', async () => {
    await goTo('/jobs');
    const rows = main().locator('.table-body [role=row]');
    await rows.first().waitFor();
    expect(await main().textContent()).not.toContain('saltutil.find_job');
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await rows.filter({ hasText: 'needle' }).waitFor();
    expect(await rows.filter({ hasText: 'test.ping' }).count()).toBe(0);
    await page.getByLabel('Query of the history').fill('no=such');
    await main().getByText("A query has no field 'no'.").waitFor();
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await goTo('/overview');
    await main().getByText('Failed in the last 24 hours').waitFor();
    await main().locator('.job-list', { hasText: 'cmd.run' }).waitFor();
  });

  it('shows states as the terminal does', async () => {
    const { stdout } = await api.fleet.salt('m1', 'state.single', 'test.succeed_with_changes', 'name=console');
    const token = await api.login('ann');
    const rows = (await api.ask('GET', '/halite/v1/jobs?q=fun%3Dstate.single&limit=1', { token })).json.rows;
    await goTo(`/job/${rows[0][0]}`);
    const shown = await main().locator('.output').first().textContent();
    const lines = (text: string): string[] =>
      text
        .split('\n')
        .map((line) => line.trimEnd())
        .filter((line) => line !== '');
    expect(lines(shown ?? '')).toEqual(lines(stdout).filter((line) => line !== 'm1:'));
    await goTo(`/states?jid=${rows[0][0]}`);
    await main().locator('td.changed').waitFor();
  });
});

describe.skipIf(!hasBrowser)('a hostile minion', () => {
  const attack = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;

  it('writes only text: grains, results, tags of events', async () => {
    const minion = await HostileMinion.start(api.fleet, 'evil');
    try {
      await goTo('/events');
      await minion.send(
        '_minion_event',
        newDict([
          ['tag', `evil/${attack}`],
          ['data', newDict([['x', attack]])],
        ]),
      );
      const jid = await api.startJob('-L', 'evil', 'test.ping');
      await minion.returnOf(jid, `\x1b[31m${attack}\x1b[0m`);
      await expect.poll(() => main().locator('[role=grid]').textContent()).toContain('<script>');
      await goTo(`/job/${jid}`);
      await expect.poll(() => main().textContent()).toContain('<img src=x');
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.locator('.ansi-red').first().textContent()).toContain('<img');
      expect(await page.title()).not.toContain('hacked');
    } finally {
      minion.stop();
    }
  });
});

describe.skipIf(!hasBrowser)('by keyboard alone', () => {
  it('a key is accepted, a job run, and run again on what failed', async () => {
    const key = 'late-one';
    await api.fleet.run('salt-key', ['-y', '-d', key]);
    keyPending(key);
    await page.keyboard.press('Escape');
    await goTo('/overview');
    await page.locator('main').focus();
    // The second key counts only soon after the first one.
    const goesToKeys = async (): Promise<number> => {
      await page.keyboard.press('g');
      await page.keyboard.press('k');
      return await main().getByText(key).count();
    };
    await expect.poll(goesToKeys).toBeGreaterThan(0);
    const focused = async (): Promise<number> => {
      await page.keyboard.press('j');
      return await page.locator('[data-row="0"]:focus').count();
    };
    await expect.poll(focused).toBe(1);
    await page.keyboard.press('x');
    await page.getByText('1 chosen').waitFor();
    await tabTo('Accept');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('Accept');
    await page.keyboard.press('Enter');
    await main().getByText('No key in this list.').waitFor();
    await page.locator('main').focus();
    await page.keyboard.press('r');
    await tabTo('Target');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('m1');
    await tabTo('Function');
    await page.keyboard.type('cmd.run');
    await page.getByRole('button', { name: 'As text' }).waitFor();
    await page.getByRole('button', { name: 'Run on 1' }).waitFor();
    await tabTo('cmd *');
    await page.keyboard.type('exit 1');
    await page.keyboard.press('Enter');
    await legend(/failed 1/).waitFor();
    const first = page.url();
    await tabTo('Again on failed (1)');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).not.toBe(first);
    await legend(/failed 1/).waitFor();
  });
});

/** Leaves a key waiting, as a minion of a master that accepts by hand does. */
function keyPending(id: string): void {
  const pki = api.fleet.path('etc/pki/master');
  mkdirSync(join(pki, 'minions_pre'), { recursive: true });
  copyFileSync(join(pki, 'minions/m1'), join(pki, 'minions_pre', id));
}

/** Presses Tab until the focus is on what has this name. */
async function tabTo(name: string): Promise<void> {
  for (let steps = 0; steps < 80; steps++) {
    await page.keyboard.press('Tab');
    const found = await page.evaluate<string>(
      '(() => { const e = document.activeElement; return e?.getAttribute("aria-label") ?? e?.labels?.[0]?.textContent ?? e?.textContent ?? ""; })()',
    );
    if (found.trim() === name) return;
  }
  throw new Error(`Tab never reached ${name}`);
}

describe.skipIf(!hasBrowser)('users', () => {
  it('with few rights see their minions and their events, and no more', async () => {
    const other = await browser.open();
    try {
      await logIn(other.page, 'limited', 'of all', '/console/#/minions');
      await main(other.page).getByText('m1').waitFor();
      expect(await main(other.page).textContent()).not.toContain('m2');
      expect(await other.page.getByRole('link', { name: 'Tokens and audit' }).count()).toBe(0);
      await goTo('/events', other.page);
      await other.page.getByText('Waiting for events').waitFor();
      await api.fleet.salt('m2', 'test.ping');
      await api.fleet.salt('m1', 'test.ping');
      await main(other.page)
        .getByText(/salt\/job\/\d+\/ret\/m1/)
        .first()
        .waitFor();
      expect(await main(other.page).textContent()).not.toContain('/ret/m2');
      expect(other.troubles).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('come back to the page they asked for, and a token that was deleted ends the session', async () => {
    const other = await browser.open();
    try {
      await logIn(other.page, 'ann', 'of all', '/console/#/minion/m1?tab=jobs');
      await main(other.page).getByRole('heading', { name: 'm1' }).waitFor();
      const storage = await other.page.evaluate<string>(
        'JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie',
      );
      expect(storage).not.toMatch(/[0-9a-f]{32}/);
      const [cookie] = await other.page.context().cookies();
      expect(cookie).toMatchObject({ name: 'session_id', httpOnly: true, sameSite: 'Strict' });
      await api.ask('DELETE', '/halite/v1/session', { token: cookie?.value ?? '' });
      await other.page.locator('input[name=password]').waitFor();
      expect(other.page.url()).toContain('/minion/m1');
    } finally {
      await other.close();
    }
  });

  it('are refused with a sentence when the password is wrong', async () => {
    const other = await browser.open();
    try {
      await other.page.goto('/console/');
      await other.page.locator('input[name=username]').fill('ann');
      await other.page.locator('input[name=password]').fill('wrong');
      await other.page.getByRole('button', { name: 'Log in' }).click();
      await other.page.getByText('The name or the password is not right.').waitFor();
    } finally {
      await other.close();
    }
  });
});

describe.skipIf(!hasBrowser)('every page', () => {
  const pages = [
    ...['overview', 'minions', 'minion/m1', 'keys', 'run', 'jobs', 'states', 'schedules', 'runners'],
    ...['events', 'metrics', 'doctor', 'masters', 'audit', 'settings'],
  ];
  const axe = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8');

  interface Finding {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }

  it.each(['light', 'dark'] as const)(
    'has no serious findings of axe in %s, and fits 320 pixels',
    async (colorScheme) => {
      const width = colorScheme === 'light' ? 320 : 1280;
      const other = await browser.open({ colorScheme, viewport: { width, height: 720 }, bypassCSP: false });
      try {
        await logIn(other.page, 'ann', 'of all').catch(async () => undefined);
        for (const name of pages) {
          await goTo(`/${name}`, other.page);
          await other.page.locator('h1').waitFor();
          await other.page.locator('.waiting').first().waitFor({ state: 'hidden' });
          await other.page.evaluate(axe);
          const found = await other.page.evaluate<Finding[]>('axe.run().then((result) => result.violations)');
          const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
          expect([name, serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)]).toEqual([name, []]);
          const wide = await other.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          expect([name, wide]).toEqual([name, Math.min(wide, 0)]);
        }
        expect(other.troubles).toEqual([]);
      } finally {
        await other.close();
      }
    },
  );

  it('is there in Chinese', async () => {
    await goTo('/overview');
    await page.getByRole('button', { name: '中文' }).click();
    await page.getByRole('heading', { name: '总览' }).waitFor();
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});

describe.skipIf(!hasBrowser)('a master that is killed in the middle of a job', () => {
  it('comes back, and the page shows the end of the job', async () => {
    const gate = api.fleet.path('gate');
    const jid = await api.startJob('*', 'cmd.run', `until test -e ${gate}; do sleep 0.1; done`);
    await goTo(`/job/${jid}`);
    await legend(/running|waiting/)
      .first()
      .waitFor();
    await api.fleet.master.stop('SIGKILL');
    await api.fleet.startMaster();
    writeFileSync(gate, '');
    await legend(/ok 2/).waitFor();
  });
});
