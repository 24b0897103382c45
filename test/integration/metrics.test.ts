// Metrics and health of a master: read by Prometheus and promtool of Debian, asked by hostile peers, and by commands.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectLocal } from '../../src/engine/client/local.ts';
import { Deployment, runProgram, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/ports.ts';
import { preparedProgram } from '../support/servers/server.ts';

const waitMs = 90_000;
const promtool = preparedProgram('promtool', 'prometheus');
const prometheus = preparedProgram('prometheus', 'prometheus');
const dashboard = new URL('../../docs/guide/monitoring-dashboard.json', import.meta.url);

let fleet: Deployment;
let port = 0;

const settings = (at: number): string =>
  ['metrics:', '  enabled: True', '  exporter: prometheus', `  prometheus: {port: ${at}}`, 'log_format: json', ''].join(
    '\n',
  );
const page = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, init);
const metrics = async (): Promise<string> => (await page('/metrics')).text();
/** The value of one sample, as it is written: `halite_minions{state="connected"}`. */
const sample = (text: string, name: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
};

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  const config = [
    settings(port),
    'external_auth: {sharedsecret: {fred: [test.*]}}',
    'sharedsecret: not-for-metrics',
    '',
  ];
  fleet = await Deployment.create({ masterConfig: config.join('\n') });
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(() => fleet.destroy());

describe('metrics', () => {
  it('count jobs, verdicts, results, sign-ins and logins, and name nobody', async () => {
    await fleet.salt('m1', 'test.ping');
    await fleet.salt('m1', 'test.false');
    await fleet.salt('m1', 'nosuchmodule.of_a_user');
    await fleet.salt('-L', 'm1,ghost-minion', 'test.ping', '-t', '1');
    await fleet.run('salt', ['-a', 'sharedsecret', '--username', 'fred', '--password', 'wrong', 'm1', 'test.ping']);
    let text = '';
    const counted = async (): Promise<boolean> => {
      text = await metrics();
      return (sample(text, 'halite_job_verdicts_total{verdict="missing",reason="no-key"}') ?? 0) >= 1;
    };
    await eventually('the verdicts to be counted', counted, { timeoutMs: waitMs, describe: () => text });
    expect(sample(text, 'salt_jobs_published_total{module="test"}')).toBeGreaterThanOrEqual(3);
    expect(sample(text, 'salt_jobs_published_total{module="other"}')).toBe(1);
    expect(sample(text, 'halite_job_verdicts_total{verdict="returned",reason=""}')).toBeGreaterThanOrEqual(2);
    expect(sample(text, 'halite_results_total{kind="new"}')).toBeGreaterThanOrEqual(4);
    expect(sample(text, 'salt_auth_attempts_total{result="accept"}')).toBeGreaterThanOrEqual(1);
    expect(sample(text, 'salt_master_requests_handled_total{cmd="_return"}')).toBeGreaterThanOrEqual(4);
    expect(sample(text, 'halite_logins_total{result="refused"}')).toBe(1);
    expect(sample(text, 'halite_minions{state="connected"}')).toBe(1);
    expect(sample(text, 'halite_keys{state="accepted"}')).toBe(1);
    expect(sample(text, 'halite_store_up')).toBe(1);
    expect(sample(text, 'halite_store_writes_total')).toBeGreaterThan(4);
    expect(sample(text, 'halite_connections{port="publish"}')).toBeGreaterThanOrEqual(1);
    expect(sample(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e7);
    expect(text).not.toMatch(/m1|ghost-minion|of_a_user|nosuchmodule|fred|not-for-metrics/);
  });

  it('are accepted by promtool, and every name of the dashboard is among them or belongs to a cluster or a spool', async () => {
    const text = await metrics();
    if (promtool) {
      const checked = await runProgram(promtool, ['check', 'metrics'], { input: text });
      expect(checked).toMatchObject({ code: 0, stdout: '', stderr: '' });
    }
    const names = new Set(text.split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []));
    const sources = readFileSync(new URL('../../src/master/metrics/collect.ts', import.meta.url), 'utf8');
    const shown = readFileSync(dashboard, 'utf8');
    expect(JSON.parse(shown)).toMatchObject({ title: 'Halite' });
    const used = [...shown.matchAll(/\b(?:halite|salt|process)_[a-z_]+/g)].map(([name]) => name);
    expect(used.length).toBeGreaterThan(15);
    const known = (name: string): boolean =>
      names.has(name.replace(/_(?:bucket|sum|count)$/, '')) ||
      (/_(?:cluster|spool)_/.test(name) && sources.includes(`'${name}'`));
    expect(used.filter((name) => !names.has(name) && !known(name))).toEqual([]);
  });

  it.skipIf(!promtool)(
    'are asked for in expressions that promtool can read: the dashboard, and the alerts of the guide',
    async () => {
      const guide = readFileSync(new URL('../../docs/guide/monitoring.md', import.meta.url), 'utf8');
      const [, table = ''] = /^Useful alerts:\n\n([\s\S]*?)\n\n/m.exec(guide) ?? [];
      const alerts = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, expression]) => expression!);
      const shown = [...readFileSync(dashboard, 'utf8').matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)];
      const panels = shown.map(([, text]) => (JSON.parse(text!) as string).replace(/\$\w+|\$\{\w+\}/g, '5m'));
      expect(alerts.length).toBeGreaterThan(5);
      expect(panels.length).toBeGreaterThan(30);
      const rules = [...panels, ...alerts].map((expr, at) => ({ record: `check:expression:${at}`, expr }));
      const file = fleet.path('rules.json');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules }] }));
      const checked = await runProgram(promtool ?? '', ['check', 'rules', file]);
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
      expect(checked.stdout).toContain(`${rules.length} rules found`);
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules: [{ record: 'a:b', expr: 'sum(' }] }] }));
      expect((await runProgram(promtool ?? '', ['check', 'rules', file])).code).not.toBe(0);
    },
  );

  it.skipIf(!prometheus)('are scraped by a real Prometheus', async () => {
    const [own = 0] = await freePorts(1);
    const config = fleet.path('prometheus.yml');
    const targets = `[{targets: ['127.0.0.1:${port}']}]`;
    writeFileSync(
      config,
      `global: {scrape_interval: 1s}\nscrape_configs: [{job_name: halite, static_configs: ${targets}}]\n`,
    );
    const args = [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${own}`];
    const running = startProgram(prometheus ?? '', [...args, `--storage.tsdb.path=${fleet.path('tsdb')}`], {
      timeoutMs: 2 * waitMs,
    });
    onTestFinished(async () => {
      process.kill(running.pid, 'SIGKILL');
      await running.done;
    });
    const asked = async (query: string): Promise<string> => {
      const url = `http://127.0.0.1:${own}/api/v1/query?query=${encodeURIComponent(query)}`;
      return (await fetch(url)).text();
    };
    let seen = '';
    const scraped = async (): Promise<boolean> => {
      seen = await asked('up{job="halite"} * on() group_left() halite_minions{state="connected"}').catch(String);
      return seen.includes(',"1"]');
    };
    await eventually('Prometheus to have scraped', scraped, { timeoutMs: waitMs, describe: () => seen });
  });

  it('are given to operators over the local socket, and health to every known caller', async () => {
    const client = await connectLocal({ sock_dir: fleet.path('run/master'), cachedir: fleet.path('cache/master') });
    expect(await client.metrics()).toContain('# TYPE halite_minions gauge');
    expect(await client.health()).toEqual({ ready: true, why: {} });
    client.close();
    const credentials = { eauth: 'sharedsecret', username: 'fred', password: 'not-for-metrics' };
    const fred = await connectLocal(
      { sock_dir: fleet.path('run/master'), cachedir: fleet.path('cache/master') },
      credentials,
    );
    await expect(fred.metrics()).rejects.toMatchObject({ code: 'auth.denied' });
    expect(await fred.health()).toMatchObject({ ready: true });
    fred.close();
  });
});

describe('the port', () => {
  it('says that the master lives and is ready, and nothing else to anyone', async () => {
    expect(await (await page('/health/live')).json()).toEqual({ status: 'ok' });
    const ready = await page('/health/ready');
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
    expect(
      (await page('/metrics', { method: 'POST', body: 'x'.repeat(100_000) }).catch(() => ({ status: 405 }))).status,
    ).toBe(405);
    expect((await page('/metrics', { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD');
    expect(await (await page('/metrics', { method: 'HEAD' })).text()).toBe('');
    for (const path of ['/', '/etc/passwd', '/metrics/../x', '/__proto__', '/constructor', '/health'])
      expect((await page(path)).status).toBe(404);
  });

  it('refuses header bombs and huge addresses', async () => {
    const statusOf = (path: string, headers: Record<string, string>): Promise<number | string> =>
      new Promise((resolve) => {
        const asked = request({ port, host: '127.0.0.1', path, headers, agent: false }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
        asked.end();
      });
    const refused = [431, 'ECONNRESET', 'EPIPE'];
    expect(refused).toContain(await statusOf('/metrics', { 'x-bomb': 'x'.repeat(200_000) }));
    expect(refused).toContain(await statusOf(`/metrics?${'x'.repeat(200_000)}`, {}));
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_each, at) => [`x-${at}`, 'y']));
    expect(refused).toContain(await statusOf('/metrics', many));
  });

  it('closes idle, slow and surplus connections, and answers others afterwards', async () => {
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let at = 0; at < 100; at++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      // Half a request, or a reader that does not read its many answers.
      const text =
        at % 2 === 0
          ? 'GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: '
          : 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500);
      socket.on('connect', () => socket.write(text));
      socket.pause();
      sockets.push(socket);
    }
    const answers = async (): Promise<boolean> =>
      (await page('/health/live', { headers: { connection: 'close' } }).catch(() => undefined))?.status === 200;
    await eventually('the port to answer again', answers, { timeoutMs: waitMs });
    expect((await fleet.json('m1', 'test.ping'))['m1']).toBe(true);
  });
});

describe('faults', () => {
  it('says once that the port is taken, works without it, and takes it later; logs are JSON without secrets', async () => {
    const [taken = 0] = await freePorts(1);
    const occupant = createServer().listen(taken, '127.0.0.1');
    const other = await Deployment.create({ masterConfig: settings(taken) });
    onTestFinished(async () => {
      occupant.close();
      await other.destroy();
    });
    appendFileSync(other.path('etc/master'), 'log_level_logfile: info\n');
    await other.startMaster();
    const lines = (): Record<string, unknown>[] =>
      (existsSync(other.path('log/master')) ? readFileSync(other.path('log/master'), 'utf8') : '')
        .split('\n')
        // The last line may not be whole yet.
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const failed = 'metrics and health cannot be served: the master goes on and tries again';
    await eventually('the log to be written', () => lines().some(({ message }) => message === 'master is ready'));
    expect(lines().filter(({ message }) => message === failed)).toMatchObject([{ level: 'ERROR', port: taken }]);
    await new Promise((resolve) => occupant.close(resolve));
    const served = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${taken}/health/ready`).catch(() => undefined))?.status === 200;
    await eventually('the port to be taken', served, { timeoutMs: waitMs, describe: () => other.master.output() });
    expect(lines().filter(({ message }) => message === failed)).toHaveLength(1);
    expect((await other.run('salt-run', ['jobs.active'])).code).toBe(0);
  });
});
