// The API of Halite and of real Salt, side by side in one run: `npm run bench -- api`.
// HALITE_BENCH_SECONDS (10): how long each rate is measured; HALITE_BENCH_JOBS (10,000): jobs in the history.
import { chmodSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { jidOf } from '../../src/base/util/jid.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { Deployment, halite, type Implementation, runProgram, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { job as jobRecord, ret as result } from '../support/job-records.ts';
import { freePorts } from '../support/ports.ts';
import { saltRelease } from '../support/salt-release.ts';
import { memoryOf } from './process-memory.ts';

const seconds = Number(process.env['HALITE_BENCH_SECONDS'] ?? 10);
const history = Number(process.env['HALITE_BENCH_JOBS'] ?? 10_000);
const streams = 200;
const readers = 13;
const atOnce = 10;

interface Figures {
  readonly name: string;
  pings: number;
  pingMs: number;
  lists: number;
  listMs: number;
  idleMb: number;
  streamsMb: number;
  streamsOpened: number;
  eventSeconds: number;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

interface Answer {
  readonly status: number;
  readonly text: string;
}

class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  readonly #port: number;
  #token = '';

  constructor(port: number) {
    this.#port = port;
  }

  ask(method: string, path: string, body?: object, token = this.#token): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      Accept: 'application/json',
      ...(token === '' ? {} : { 'X-Auth-Token': token }),
      ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        headers,
        agent: this.#agent,
        timeout: 120_000,
      };
      const sent = request(options, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      });
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      sent.on('error', reject).end(text);
    });
  }

  async login(username: string): Promise<string> {
    const login = { username, password: 'of all', eauth: 'sharedsecret' };
    const { status, text } = await this.ask('POST', '/login', login, '');
    if (status !== 200) throw new Error(`login: ${status} ${text}`);
    return JSON.parse(text).return[0].token as string;
  }

  async begin(): Promise<void> {
    this.#token = await this.login('ann');
  }

  /** Requests a second, and the median time of one, with several clients at once. */
  async rate(ask: () => Promise<Answer>, good: (answer: Answer) => boolean): Promise<[number, number]> {
    const times: number[] = [];
    const begin = performance.now();
    const end = begin + seconds * 1000;
    const work = async (): Promise<void> => {
      while (performance.now() < end) {
        const started = performance.now();
        const answer = await ask();
        if (!good(answer)) throw new Error(`wrong answer: ${answer.status} ${answer.text.slice(0, 300)}`);
        times.push(performance.now() - started);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return [(times.length * 1000) / (performance.now() - begin), median(times)];
  }

  /** Opens a stream; `heard` is called for each result in it. */
  stream(token: string, heard: (text: string) => void): { begun: boolean; close(): void } {
    const state = { begun: false, close: () => sent.destroy() };
    const headers = { 'X-Auth-Token': token };
    const sent = request({ host: '127.0.0.1', port: this.#port, path: '/events', headers, agent: false }, (answer) => {
      state.begun = answer.statusCode === 200;
      answer
        .setEncoding('utf8')
        .on('data', heard)
        .on('error', () => undefined);
    });
    sent.on('error', () => undefined).end();
    return state;
  }
}

async function fillHalite(fleet: Deployment): Promise<void> {
  const store = await SqliteJobStore.open(fleet.path('cache/master/halite.db'));
  for (let job = 0; job < history; job++) {
    const jid = jidOf((Date.parse('2026-01-01T00:00:00Z') + job * 1000) * 1000);
    const saved = [store.saveJob(jobRecord(jid, { expected: ['m1'] })), store.saveReturn(result(jid, 'm1'))];
    if (job % 100 === 0 || job === history - 1) await Promise.all(saved);
  }
  await store.close();
}

async function fillSalt(fleet: Deployment, { bin }: Implementation): Promise<void> {
  const file = join(import.meta.dirname, '../bench/fill-salt-cache.py');
  const args = [file, join(fleet.masterConfigDir, 'master'), String(history - 1), '1'];
  const { code, stderr } = await runProgram(join(bin, 'python'), args, { timeoutMs: 600_000 });
  if (code !== 0) throw new Error(stderr);
}

function configure(fleet: Deployment, port: number): void {
  const names = ['ann', ...Array.from({ length: readers }, (_each, at) => `r${at}`)];
  const rules = names.map((name) => `    ${name}: ['.*', '@runner', '@wheel']`);
  const lines = [
    ...['sharedsecret: of all', 'external_auth:', '  sharedsecret:', ...rules],
    'netapi_enable_clients: [local, local_async, runner]',
    ...[`api_pidfile: ${fleet.path('run/api.pid')}`, `api_logfile: ${fleet.path('log/api')}`],
    // Salt needs a thread for each stream.
    ...['rest_cherrypy:', '  host: 127.0.0.1', `  port: ${port}`, '  disable_ssl: True', '  thread_pool: 300', ''],
  ];
  writeFileSync(fleet.path('etc/master.d/api.conf'), lines.join('\n'));
  chmodSync(fleet.root, 0o755);
}

async function measure(implementation: Implementation): Promise<Figures> {
  const [port] = await freePorts(1);
  const fleet = await Deployment.create({ master: implementation, masterConfig: 'keep_jobs_seconds: 0\nkeep_jobs: 0' });
  const client = new Client(port!);
  configure(fleet, port!);
  if (implementation === halite) await fillHalite(fleet);
  else await fillSalt(fleet, implementation);
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
  const api = startProgram(join(implementation.bin, 'salt-api'), ['-c', fleet.masterConfigDir, '-l', 'error'], {
    timeoutMs: 1_800_000,
  });
  try {
    const login = (): Promise<boolean> =>
      client.begin().then(
        () => true,
        () => false,
      );
    await eventually('the API to answer', login, { timeoutMs: 60_000 });
    const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' };
    const pinged = ({ text }: Answer): boolean => text.includes('"m1": true');
    await client.ask('POST', '/', ping);
    const idleMb = memoryOf(api.pid, 'Pss');
    const [pings, pingMs] = await client.rate(() => client.ask('POST', '/', ping), pinged);
    const [lists, listMs] = await client.rate(
      () => client.ask('GET', '/jobs'),
      ({ status, text }) => status === 200 && text.length > history * 100,
    );
    const { streamsMb, streamsOpened, eventSeconds } = await withStreams(client, api.pid);
    return { name: implementation.name, pings, pingMs, lists, listMs, idleMb, streamsMb, streamsOpened, eventSeconds };
  } finally {
    process.kill(api.pid, 'SIGTERM');
    const hard = setTimeout(() => process.kill(api.pid, 'SIGKILL'), 10_000);
    await api.done;
    clearTimeout(hard);
    await fleet.destroy();
  }
}

/** All readers hear 20 jobs: the time from the first of them to the last result at the last reader. */
async function withStreams(client: Client, pid: number) {
  const jobs = 20;
  const tokens = await Promise.all(Array.from({ length: readers }, (_each, at) => client.login(`r${at}`)));
  const heard = Array.from({ length: streams }, () => 0);
  const open = heard.map((_each, at) =>
    client.stream(tokens[at % readers]!, (text) => {
      heard[at]! += text.match(/^tag: salt\/job\/\d+\/ret\/m1$/gm)?.length ?? 0;
    }),
  );
  const begun = (): number => open.filter((each) => each.begun).length;
  await eventually('the streams to begin', () => begun() === streams, { timeoutMs: 60_000 }).catch(() => undefined);
  const streamsOpened = begun();
  const started = performance.now();
  for (let job = 0; job < jobs; job++)
    await client.ask('POST', '/', { client: 'local_async', tgt: 'm1', fun: 'test.echo', arg: [job] });
  const all = (): boolean => open.every((each, at) => !each.begun || heard[at]! >= jobs);
  await eventually('all readers to hear them', all, { timeoutMs: 120_000 });
  const eventSeconds = (performance.now() - started) / 1000;
  const streamsMb = memoryOf(pid, 'Pss');
  for (const each of open) each.close();
  return { streamsMb, streamsOpened, eventSeconds };
}

const ours = await measure(halite);
const real = await measure(saltRelease('3006.27'));
const row = (label: string, pick: (figures: Figures) => number, unit: string, smaller: boolean): string => {
  const [a, b] = [pick(ours), pick(real)];
  const digits = Math.max(a, b) >= 100 ? 0 : 2;
  return `| ${label} | ${a.toFixed(digits)} ${unit} | ${b.toFixed(digits)} ${unit} | ${(smaller ? b / a : a / b).toFixed(1)} × |`;
};
console.log(`| | Halite | ${real.name} | |\n| --- | ---: | ---: | ---: |`);
console.log(row(`\`local\` test.ping on one minion, ${atOnce} at once`, (f) => f.pings, '/s', false));
console.log(row('the same, median', (f) => f.pingMs, 'ms', true));
console.log(row(`\`/jobs\` with ${history} jobs, ${atOnce} at once`, (f) => f.lists, '/s', false));
console.log(row('the same, median', (f) => f.listMs, 'ms', true));
console.log(row(`20 jobs, until all of ${streams} event streams have heard them`, (f) => f.eventSeconds, 's', true));
console.log(row('memory of the API, idle', (f) => f.idleMb, 'MB', true));
console.log(row(`memory of the API with ${streams} event streams`, (f) => f.streamsMb, 'MB', true));
console.log(`| streams that began | ${ours.streamsOpened} | ${real.streamsOpened} | |`);
