// The site of the documentation, as `npm run site` writes it, in Debian's Chromium: as files, and from a server.
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Browser, type Tab } from '../support/servers/browser.ts';
import { findProgram } from '../support/servers/server.ts';

const root = join(import.meta.dirname, '../..');
const hasBrowser = findProgram('chromium') !== undefined;
let folder: string;
let said: string;
let status: number | null;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-site-'));
  const built = spawnSync(process.execPath, ['scripts/site.mjs', folder], { cwd: root, encoding: 'utf8' });
  [said, status] = [`${built.stdout}${built.stderr}`, built.status];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

describe('the build', () => {
  it('finds no dead link', () => {
    expect([status, said.split('\n').slice(0, -2)]).toEqual([0, []]);
    expect(Number(/wrote (\d+) pages/.exec(said)?.[1])).toBeGreaterThan(300);
  });

  it('has pages about functions, with their examples, made from their definitions', () => {
    expect(read('reference/states/file.html')).toContain('id="filemanaged"');
    expect(read('reference/states/file.html')).toMatch(/File \/srv\/example\/\w+ updated/);
    expect(read('reference/modules/test.html')).toContain('salt web1 test.ping');
    expect(read('reference/commands/salt-key.html')).toContain('--accept-all');
  });

  it('writes nothing inside pages that could load or run something', () => {
    for (const name of ['index.html', 'zh/index.html', 'architecture.html', 'reference/sdk.html']) {
      const html = read(name);
      expect(html).not.toMatch(/<script(?![^>]* src="[^":]+")|<style|\sstyle=|\son\w+=|url\(|@import/);
    }
    expect(read('assets/site.css')).not.toMatch(/url\(|@import/);
  });
});

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/');
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    if (!file.startsWith(folder) || !existsSync(file)) response.writeHead(404).end();
    else {
      response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(response);
    }
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

describe.skipIf(!hasBrowser)('in a browser', () => {
  let server: Server;
  let served: string;
  let browser: Browser;
  let tab: Tab;
  const files = (): string => pathToFileURL(folder).href;

  beforeAll(async () => {
    server = await serve();
    served = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Chromium may ask for a page and its parts of one place only, the first that is named: here, of files.
    browser = (await Browser.start(files()))!;
    tab = await browser.open({ viewport: { width: 1280, height: 800 } });
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });
  afterEach(() => {
    expect(tab.troubles.splice(0)).toEqual([]);
  });

  it('a file is searched with the keyboard, without a server', async () => {
    const { page } = tab;
    await page.goto(`${files()}/index.html`);
    await page.keyboard.press('/');
    await page.keyboard.type('durable');
    await page.locator('#found li').first().waitFor();
    expect(await page.locator('#found mark').first().textContent()).toMatch(/durable/i);
    expect(await page.locator('.said').textContent()).toMatch(/^\d+ results$/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    const target = await page.locator('#found [aria-selected=true] a').getAttribute('href');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/${target?.replace(/^(\.\/|\.\.\/)+/, '')}`);
    await page.keyboard.press('/');
    await page.keyboard.type('qqzzxy durable');
    await page.locator('.said.nothing').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.said').textContent()).toBe('');
  });

  it('a function is found by its name, first', async () => {
    const { page } = tab;
    await page.goto(`${files()}/guide/jobs.html`);
    await page.locator('#search').fill('file.managed');
    await page.locator('#found li').first().waitFor();
    expect(await page.locator('#found li').first().textContent()).toMatch(/^file\.managed/);
  });

  it('leads to the same page in Chinese and back, and finds Chinese text', async () => {
    const { page } = tab;
    await page.goto(`${files()}/guide/two-masters.html`);
    await page.getByRole('link', { name: '中文' }).click();
    await page.getByRole('heading', { level: 1, name: '两个 master' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await page.locator('#search').fill('指纹');
    await page.locator('#found mark').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'English', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Two masters' }).waitFor();
  });

  it('keeps the look that was chosen, and copies only what is typed', async () => {
    const { page } = tab;
    await page.goto(`${files()}/index.html`);
    const background = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.body.parentElement).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: 'Light or dark' }).click();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.goto(`${files()}/guide/jobs.html`);
    expect(await background()).toBe(dark);
    await page.getByRole('button', { name: 'Light or dark' }).click();
    await page.goto(`${files()}/index.html`);
    await page.evaluate(
      'Object.defineProperty(navigator, "clipboard", { value: { writeText: (text) => { window.copied = text; } } })',
    );
    await page.locator('.code', { hasText: 'hello from vm' }).getByRole('button').click();
    expect(await page.evaluate('window.copied')).toMatch(/^\. \.halite\/env\nsalt '\*' test\.ping\nsalt -G role:web/);
  });

  it('has a menu on a narrow screen', async () => {
    const narrow = await browser.open({ viewport: { width: 320, height: 640 } });
    try {
      await narrow.page.goto(`${files()}/guide/jobs.html`);
      expect(await narrow.page.locator('#navigation').isVisible()).toBe(false);
      await narrow.page.getByRole('button', { name: 'Menu' }).click();
      await narrow.page.getByRole('link', { name: /^Completion/ }).click();
      await narrow.page.getByRole('heading', { level: 1 }).waitFor();
      expect(narrow.troubles).toEqual([]);
    } finally {
      await narrow.close();
    }
  });

  it('works the same from a server', async () => {
    const other = (await Browser.start(served))!;
    try {
      const { page, troubles } = await other.open();
      await page.goto(`${served}/guide/cluster.html`);
      await page.locator('#search').fill('two masters');
      await page.locator('#found li').first().waitFor();
      await page.locator('.neighbours [rel=next]').click();
      await page.getByRole('heading', { level: 1, name: 'Two masters' }).waitFor();
      expect(troubles).toEqual([]);
    } finally {
      await other.close();
    }
  });

  const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');
  const looked = [
    ...['index.html', 'guide/jobs.html', 'job-path.html', 'architecture.html', 'guide/console.html'],
    ...['zh/guide/two-masters.html', 'reference/states/cmd.html'],
  ];
  interface Finding {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }

  it.each(['light', 'dark'] as const)(
    'has no serious finding of axe in %s, and fits the width',
    async (colorScheme) => {
      const width = colorScheme === 'light' ? 320 : 1366;
      // Our policy refuses scripts that are not ours, and so the one of axe.
      const other = await browser.open({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
      try {
        // The dark look differs in colours only.
        for (const name of colorScheme === 'light' ? looked : looked.slice(0, 3)) {
          await other.page.goto(`${files()}/${name}`);
          await other.page.evaluate(axe);
          const found = await other.page.evaluate<Finding[]>(
            'axe.run({ preload: false }).then((result) => result.violations)',
          );
          const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
          expect([name, serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)]).toEqual([name, []]);
          const wide = await other.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          expect([name, Math.max(wide, 0)]).toEqual([name, 0]);
        }
        expect(other.troubles).toEqual([]);
      } finally {
        await other.close();
      }
    },
  );

  it('prints the text without its frame', async () => {
    const { page } = tab;
    await page.goto(`${files()}/guide/jobs.html`);
    await page.emulateMedia({ media: 'print' });
    for (const part of ['.top', '#navigation', '.contents', '.neighbours'])
      expect(await page.locator(part).isVisible()).toBe(false);
    expect(await page.locator('article').isVisible()).toBe(true);
    expect((await page.pdf()).length).toBeGreaterThan(10_000);
    await page.emulateMedia({ media: 'screen' });
  });
});
