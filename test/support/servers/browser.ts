// Debian's Chromium, driven by playwright-core. Everything that a page logs as an error, that its content policy
// refuses, or that it asks of another server is kept: tests expect none.
import { type BrowserContextOptions, type Browser as Chromium, chromium, type Page } from 'playwright-core';
import { preparedProgram } from './server.ts';

export interface Tab {
  readonly page: Page;
  /** Errors of the page, violations of its content policy, requests to other servers. */
  readonly troubles: string[];
  close(): Promise<void>;
}

export class Browser {
  readonly #chromium: Chromium;
  readonly #origin: string;

  private constructor(browser: Chromium, origin: string) {
    this.#chromium = browser;
    this.#origin = origin;
  }

  /** Undefined where there is no Chromium. */
  static async start(origin: string): Promise<Browser | undefined> {
    const executablePath = preparedProgram('chromium', 'chromium');
    if (executablePath === undefined) return undefined;
    // Tests run as root, where Chromium has no sandbox; it only sees pages of this machine.
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
    return new Browser(await chromium.launch({ executablePath, args }), origin);
  }

  /** A window with cookies of its own. */
  async open(options: BrowserContextOptions = {}): Promise<Tab> {
    const context = await this.#chromium.newContext({
      ...{ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce', baseURL: this.#origin },
      ...options,
    });
    const troubles: string[] = [];
    // As text: it is compiled for the browser, where there is a document.
    await context.addInitScript(
      'document.addEventListener("securitypolicyviolation", (event) => console.error("content policy: " + event.violatedDirective + " " + event.blockedURI))',
    );
    context.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(this.#origin) && !/^(data|blob):/.test(url)) troubles.push(`asked ${url}`);
    });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    page.on('pageerror', (error) => troubles.push(String(error)));
    page.on('console', (message) => {
      // Answers that are refused on purpose are logged by the browser itself.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        troubles.push(message.text());
    });
    return { page, troubles, close: () => context.close() };
  }

  async close(): Promise<void> {
    await this.#chromium.close();
  }
}

/** Through the form, as a user does it. */
export async function logIn(page: Page, name: string, password: string, address = '/console/'): Promise<void> {
  await page.goto(address);
  await page.locator('input[name=username]').fill(name);
  await page.locator('input[name=password]').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('header.top').waitFor();
}
