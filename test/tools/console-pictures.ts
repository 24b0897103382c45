// Pictures of every page of the console, before a real master with minions: for the guide, and to look at after a change.
// `npm run pictures -- <folder>` takes all of them; `-- --guide` those of docs/guide/images/.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { ApiFleet } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { Browser, logIn } from '../support/servers/browser.ts';

const minions = ['web1', 'web2', 'web3', 'db1', 'db2', 'cache1'];
const guide = process.argv[2] === '--guide';
const folder = resolve(guide ? 'docs/guide/images' : (process.argv[2] ?? 'pictures'));

const states = `
motd:
  file.managed:
    - name: {{ salt['config.get']('root_dir') }}/motd
    - contents: |
        Welcome to {{ grains['id'] }}
        Keep calm and apply states.
app-folder:
  file.directory:
    - name: {{ salt['config.get']('root_dir') }}/app
{% if grains['id'] == 'db2' %}
backup:
  cmd.run:
    - name: echo "disk is full" >&2; exit 3
{% else %}
backup:
  test.nop: []
{% endif %}
`;

async function fill(api: ApiFleet): Promise<void> {
  const { fleet } = api;
  for (const id of minions) fleet.startMinion(id, undefined, `grains: {role: ${id.replace(/\d/, '')}}`);
  await fleet.answering(...minions);
  writeFileSync(fleet.path('srv/salt/site.sls'), states);
  await fleet.salt('*', 'test.ping');
  await fleet.salt('*', 'cmd.run', 'echo "kernel $(uname -r)"; uptime');
  await fleet.salt('*', 'state.apply', 'site');
  await fleet.salt(
    'web*',
    'cmd.run',
    'test $(hostname) = other || { echo "nginx: configuration file test failed" >&2; exit 1; }',
  );
  await fleet.minion('cache1').stop();
  await fleet.salt('*', 'test.version');
  await fleet.salt('-G', 'role:web', 'pkg.version', 'openssl');
}

interface Shot {
  readonly name: string;
  readonly hash: string;
  readonly before?: (page: Page) => Promise<unknown>;
}

const jobOf = async (api: ApiFleet, q: string): Promise<string> => {
  const token = await api.login('ann');
  const answer = await api.ask('GET', `/halite/v1/jobs?q=${encodeURIComponent(q)}&limit=1`, { token });
  return answer.json.rows[0][0] as string;
};

async function shotsOf(api: ApiFleet): Promise<Shot[]> {
  const states = await jobOf(api, 'fun=state.apply');
  const mixed = await jobOf(api, 'fun=test.version');
  return [
    { name: 'overview', hash: '/overview' },
    { name: 'minions', hash: '/minions' },
    { name: 'minion', hash: '/minion/web1' },
    { name: 'minion-explain', hash: '/minion/cache1?tab=explain' },
    { name: 'keys', hash: '/keys?state=accepted' },
    {
      name: 'run',
      hash: '/run?tgt=*&fun=cmd.run',
      before: (page) => page.locator('.classes').waitFor(),
    },
    { name: 'jobs', hash: '/jobs' },
    { name: 'job', hash: `/job/${states}` },
    { name: 'job-missing', hash: `/job/${mixed}` },
    { name: 'job-answers', hash: `/job/${states}?view=answers` },
    { name: 'job-minion', hash: `/job/${states}?minion=db2` },
    { name: 'states', hash: '/states' },
    { name: 'schedules', hash: '/schedules' },
    { name: 'runners', hash: '/runners?fun=jobs.list_jobs' },
    {
      name: 'events',
      hash: '/events',
      before: async (page) => {
        await page.waitForTimeout(300);
        await api.fleet.salt('web*', 'test.ping');
        await page.locator('[data-row="3"]').waitFor();
      },
    },
    { name: 'metrics', hash: '/metrics', before: (page) => page.waitForTimeout(guide ? 30_000 : 7_000) },
    { name: 'doctor', hash: '/doctor' },
    { name: 'masters', hash: '/masters' },
    { name: 'audit', hash: '/audit' },
    { name: 'settings', hash: '/settings' },
    { name: 'help', hash: '/overview', before: (page) => page.keyboard.press('?') },
  ];
}

const looks = [
  { name: 'light', width: 1280, height: 860, colorScheme: 'light', locale: 'en-US' },
  { name: 'dark', width: 1280, height: 860, colorScheme: 'dark', locale: 'en-US' },
  { name: 'narrow', width: 320, height: 700, colorScheme: 'light', locale: 'en-US' },
  { name: 'chinese', width: 1280, height: 860, colorScheme: 'light', locale: 'zh-CN' },
] as const;

/** What the guide shows. */
const shown: readonly string[] = ['overview', 'run', 'job', 'states'];

async function take(api: ApiFleet, browser: Browser): Promise<void> {
  const shots = await shotsOf(api);
  for (const { name, width, height, colorScheme, locale } of guide ? looks.slice(0, 1) : looks) {
    const { page, close, troubles } = await browser.open({ viewport: { width, height }, colorScheme });
    await logIn(page, 'ann', 'of all');
    if (locale === 'zh-CN') await page.getByRole('button', { name: '中文' }).click();
    for (const shot of shots.filter((each) => !guide || shown.includes(each.name))) {
      await page.evaluate(`location.hash = ${JSON.stringify(shot.hash)}`);
      await page.locator('h1').waitFor();
      await shot.before?.(page);
      await page
        .locator('.waiting')
        .first()
        .waitFor({ state: 'hidden' })
        .catch(() => undefined);
      await page.waitForTimeout(600);
      const path = join(folder, guide ? `console-${shot.name}.png` : `${shot.name}-${name}.png`);
      await page.screenshot({ path });
      if (shot.name === 'help') await page.keyboard.press('Escape');
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      if (wide > 0) console.log(`${shot.name} ${name}: ${wide} pixels too wide`);
    }
    for (const trouble of new Set(troubles)) console.log(`${name}: ${trouble}`);
    await close();
  }
}

mkdirSync(folder, { recursive: true });
const api = await ApiFleet.start();
try {
  await fill(api);
  const browser = await Browser.start(`http://127.0.0.1:${api.port}`);
  if (!browser) throw new Error('there is no chromium: npm run prepare-tests -- integration');
  await eventually('the API', async () => (await api.ask('GET', '/console/')).status === 200);
  await take(api, browser);
  await browser.close();
} finally {
  await api.fleet.destroy();
}
