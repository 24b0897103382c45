// Measures the console before many simulated minions: first content, scrolling, live verdicts, memory of the page. The
// browser's own trace tells frames over 50 ms. `npm run bench -- console`; sizes by BENCH_MINIONS and BENCH_JOBS.
import type { CDPSession, Page } from 'playwright-core';
import { ApiFleet } from '../support/api.ts';
import { Browser, logIn } from '../support/servers/browser.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

const minions = Number(process.env['BENCH_MINIONS'] ?? 10_000);
const jobs = Number(process.env['BENCH_JOBS'] ?? 50);
const last = `sim-${String(minions - 1).padStart(4, '0')}`;
const slowMs = 50;

interface TraceEvent {
  readonly name: string;
  readonly dur?: number;
  /** Processor time: all that says something while the machine does other work. */
  readonly tdur?: number;
}

/** Tasks of the page that kept it from drawing for too long, while something is done. */
async function traced(page: Page, cdp: CDPSession, what: string, action: () => Promise<void>): Promise<void> {
  const found: TraceEvent[] = [];
  const keep = ({ value }: { value: { [key: string]: string }[] }): void => {
    for (const { name, dur, tdur } of value)
      found.push({ name: String(name), dur: Number(dur ?? 0), tdur: Number(tdur ?? 0) });
  };
  cdp.on('Tracing.dataCollected', keep);
  await cdp.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'devtools.timeline'] },
  });
  await action();
  const complete = new Promise<void>((resolve) => cdp.once('Tracing.tracingComplete', () => resolve()));
  await cdp.send('Tracing.end');
  await complete;
  cdp.off('Tracing.dataCollected', keep);
  const tasks = found
    .filter(({ name }) => name === 'RunTask' || name === 'ThreadControllerImpl::RunTask')
    .map(({ dur = 0, tdur = 0 }) => ({ ms: dur / 1000, busyMs: tdur / 1000 }));
  const slow = tasks.filter(({ ms }) => ms > slowMs);
  const longest = Math.max(0, ...tasks.map(({ ms }) => ms));
  const busiest = Math.max(0, ...tasks.map(({ busyMs }) => busyMs));
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize');
  console.log(
    `${what}: ${slow.length} of ${tasks.length} tasks over ${slowMs} ms, the longest ${longest.toFixed(0)} ms, at most ${busiest.toFixed(0)} ms of processor time, heap ${(heap / 1e6).toFixed(1)} MB`,
  );
}

async function measure(api: ApiFleet, browser: Browser): Promise<void> {
  const { page, troubles, close } = await browser.open({ viewport: { width: 1280, height: 900 } });
  await logIn(page, 'ann', 'of all');
  const cdp = await page.context().newCDPSession(page);
  const started = performance.now();
  await page.goto('/console/#/minions');
  await page.reload();
  await page.locator('[data-row="5"] .id').waitFor();
  console.log(`first rows of ${minions} minions after ${(performance.now() - started).toFixed(0)} ms`);
  await traced(page, cdp, 'scrolling', async () => {
    for (let step = 0; step < 60; step++) {
      await page.evaluate(`document.querySelector('.table-box').scrollTo(0, ${step * 5_000})`);
      await page.waitForTimeout(50);
    }
  });
  const searched = performance.now();
  await page.locator('main input[type=search]').fill(last);
  await page.locator('.page-count', { hasText: /^1$/ }).waitFor();
  console.log(
    `a search is answered after ${(performance.now() - searched).toFixed(0)} ms, 200 of them the pause of typing`,
  );
  const token = await api.login('ann');
  const start = async (): Promise<string> =>
    (await api.ask('POST', '/halite/v1/jobs', { token, json: { tgt: 'sim-*', fun: 'test.ping' } })).json.jid as string;
  const jid = await start();
  await page.goto(`/console/#/job/${jid}`);
  await traced(page, cdp, 'a job on all of them', async () => {
    await page.locator('.legend').getByText('ok').first().waitFor();
    await page.locator('.job-state.done').waitFor({ timeout: 300_000 });
  });
  for (let done = 0; done < jobs; done++) {
    const next = await start();
    await page.evaluate(`location.hash = '/job/${next}'`);
    await page.locator('.job-state.done').waitFor({ timeout: 300_000 });
  }
  await cdp.send('HeapProfiler.collectGarbage');
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize');
  console.log(`after ${jobs} more jobs: heap ${(heap / 1e6).toFixed(1)} MB`);
  for (const trouble of new Set(troubles)) console.log(`trouble: ${trouble}`);
  await close();
}

const api = await ApiFleet.start();
try {
  const begun = performance.now();
  const fleet = await SimulatedFleet.start(api.fleet.ports.requests, minions, { prefix: 'sim', steady: true });
  console.log(`${minions} minions signed in after ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  const browser = await Browser.start(`http://127.0.0.1:${api.port}`);
  if (!browser) throw new Error('there is no chromium: npm run prepare-tests -- integration');
  await measure(api, browser);
  await browser.close();
  fleet.close();
} finally {
  await api.fleet.destroy();
}
