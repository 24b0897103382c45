// A job process: runs one job at a time for the minion daemon, so that a job can be killed without affecting anything
// else.

import { packValue } from '../../base/codec/msgpack/index.ts';
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { cancelCollection, collectWhenIdle, keepHeapSmall } from '../../base/util/small-heap.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { LogLevel } from '../../extend/sdk/exec.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../../protocol/wire/messages/job.ts';
import { returnFields } from '../../protocol/wire/messages/job-return.ts';
import { providePython } from '../python/index.ts';
import { executeJob } from './call.ts';
import { collectGrains } from './collect-grains.ts';
import { execProgram } from './exec.ts';
import { type FromJobProcess, type Packed, type SharedData, type ToJobProcess, unpackDict } from './job-messages.ts';
import { createRemoteServices } from './job-services.ts';
import { matchesMinion } from './match.ts';
import { failed, type Outcome } from './outcome.ts';
import { pacedProgress } from './paced-progress.ts';
import { proxyServices } from './proxy-services.ts';
import { jobReturn } from './return-load.ts';
import { callForReturner } from './returners/call.ts';
import { ReturnerProcess } from './returners/returner-process.ts';
import { returnerChoice } from './returners/sessions.ts';
import { createContext, type Runtime } from './runtime.ts';
import { writeSpoolFile } from './spool-file.ts';
import { pythonTraceback } from './traceback.ts';

function send(message: FromJobProcess): void {
  if (process.connected) process.send?.(message, () => undefined);
}

const remote = createRemoteServices(send);
let id = '';
let shared: SharedData = { opts: {}, grains: {}, pillar: {} };
let loader: Loader | undefined;
let sdkUrl: string | undefined;
let busy = false;
let offers: JobProcessOffers = {};
let beacons: Promise<BeaconProcess> | undefined;
let engine: Promise<EngineProcess> | undefined;

/** Higher-level parts that are provided to functions. */
export interface JobProcessOffers extends Pick<Runtime, 'states' | 'master'> {
  /** Makes this the process of the beacons. */
  readonly beacons?: (host: BeaconProcessHost) => Promise<BeaconProcess>;
  /** Makes this the process of an engine. */
  readonly engine?: (host: EngineProcessHost) => Promise<EngineProcess>;
}

export interface BeaconProcessHost {
  readonly runtime: () => Runtime;
  readonly log: ExtensionLog;
  /** Sends `{events}` or `{ran_once}` to the daemon. */
  readonly emit: (body: PlainDict) => void;
}

export interface BeaconProcess {
  answer(request: PlainDict): Promise<PlainDict>;
  stop(): Promise<void>;
}

export interface EngineProcessHost {
  readonly runtime: () => Runtime;
  readonly log: ExtensionLog;
  readonly send: (message: FromJobProcess) => void;
  /** Tells the daemon how the engine stands. */
  readonly say: (body: PlainDict) => void;
  /** The engine has ended: so does the process. */
  readonly leave: () => void;
}

export interface EngineProcess {
  start(body: PlainDict): void;
  events(n: number, dropped: number, body: Packed): void;
  stop(): Promise<void>;
}

const logAt =
  (level: LogLevel) =>
  (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
    send({ t: 'log', level, message, fields: plainFields(fields) });
const log: ExtensionLog = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };

/** Only values that can be cloned are sent over the channel. */
function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      if (value instanceof Error) return [key, value.stack ?? value.message];
      return [key, typeof value === 'object' || typeof value === 'function' ? JSON.stringify(value) : value];
    }),
  );
}

/** Tells the daemon which programs have to be ended with this process. */
const execWatcher = {
  started: (pid: number) => send({ t: 'exec', pid, on: true }),
  ended: (pid: number) => send({ t: 'exec', pid, on: false }),
};

/** One worker for one job: started when a function in Python is called, ended with the job. */
const python = providePython({ opts: () => shared.opts, log, workers: 'shared', watcher: execWatcher });
const quiet = { signal: new AbortController().signal, progress: () => undefined };

function currentLoader(): Loader {
  loader ??= new Loader({
    opts: () => shared.opts,
    grains: () => shared.grains as Dict,
    log,
    userCode: 'import',
    python: python.source,
    pythonCaller: () => createContext(runtime(false), { ...quiet, retcode: 0 }),
    ...(sdkUrl ? { sdkUrl } : {}),
  });
  return loader;
}

function runtime(hasMaster: boolean): Runtime {
  return {
    id,
    loader: currentLoader(),
    log,
    minion: remote.services(hasMaster),
    opts: () => shared.opts,
    grains: () => shared.grains as Dict,
    pillar: () => shared.pillar as Dict,
    exec: (file, args, options, signal) => execProgram(file, args, options, signal, execWatcher),
    match: (expression, kind) => matchesMinion({ id, ...shared }, expression, kind),
    ...(offers.states ? { states: offers.states } : {}),
    ...(offers.master ? { master: offers.master } : {}),
  };
}

const returners = new ReturnerProcess(currentLoader, () => ({
  ...{ id, opts: shared.opts, log, signal: new AbortController().signal },
  grains: shared.grains as PlainDict,
  pillar: shared.pillar as PlainDict,
  call: (fun, args) => callForReturner(runtime(false), fun, args),
}));

/** Shows in the process list what this process is running. */
const program = (): string => (shared.opts['__role'] === 'master' ? 'salt-master' : 'salt-minion');

async function run(job: PublishedJob, hasMaster: boolean, spool: string | undefined): Promise<void> {
  busy = true;
  cancelCollection();
  process.title = `${program()} job ${job.jid}`;
  const control = new AbortController();
  const progress = pacedProgress((text) => send({ t: 'progress', text }));
  const state = { job, signal: control.signal, progress: progress.say, retcode: 0 };
  currentLoader().retryMissing();
  const outcome = await executeJob(runtime(hasMaster), state).catch((thrown: unknown) =>
    failed(`The minion function caused an exception: ${pythonTraceback(thrown)}`),
  );
  python.release();
  busy = false;
  progress.end();
  process.title = `${program()} job process`;
  collectWhenIdle();
  if (process.connected) send({ t: 'done', body: packOutcome(outcome) });
  else await leaveResult(job, outcome, spool);
}

async function grains(withDevice: boolean): Promise<void> {
  busy = true;
  const device = withDevice ? proxyServices(remote.services(false), shared.opts) : undefined;
  const found = await collectGrains(currentLoader(), shared.opts, log, device).then(
    (value): Outcome => ({ return: value, retcode: 0, success: true }),
    (error: unknown) => failed(messageOf(error)),
  );
  python.release();
  busy = false;
  send({ t: 'done', body: packOutcome(found) });
}

/** Requests to beacons; they run here until the daemon releases this process. */
async function askBeacons(message: Extract<ToJobProcess, { t: 'beacons' }>): Promise<void> {
  process.title = `${program()} beacons`;
  beacons ??= offers.beacons?.({
    ...{ log, runtime: () => runtime(message.hasMaster) },
    emit: (body) => send({ t: 'beacon', body: packValue(body) }),
  });
  const answer = await beacons
    ?.then((found) => found.answer(unpackDict(message.body)))
    .catch((error: unknown): PlainDict => ({ problem: messageOf(error) }));
  send({ t: 'beacons', n: message.n, body: packValue(answer ?? {}) });
}

/** From now on this process runs one engine, until that or the daemon ends. */
function startEngine({ hasMaster, body }: Extract<ToJobProcess, { t: 'engine' }>): void {
  const start = unpackDict(body);
  process.title = `${program()} engine ${String(start['name'])}`;
  // Ended by its daemon, which is asked by the same signal when a terminal or a supervisor sends it to all.
  process.on('SIGTERM', leave);
  engine ??= offers.engine?.({
    ...{ log, send, leave, runtime: () => runtime(hasMaster) },
    say: (said) => send({ t: 'engine', body: packValue(said) }),
  });
  void engine?.then((found) => found.start(start));
}

/** Closes everything and ends. */
function leave(): void {
  const stopping = Promise.all([beacons?.then((found) => found.stop()), engine?.then((found) => found.stop())]);
  void Promise.allSettled([returners.settle(), stopping]).finally(() => process.exit(0));
}

function packOutcome(outcome: Outcome): Uint8Array {
  try {
    return packValue({ ...outcome });
  } catch (error) {
    return packValue({ ...failed(`ERROR: The result cannot be sent: ${messageOf(error)}`) });
  }
}

/**
 * The daemon ended before the job (for example, the minion upgraded itself): the next one finds the result in the
 * spool.
 */
async function leaveResult(job: PublishedJob, outcome: Outcome, spool: string | undefined): Promise<void> {
  const load = returnFields(jobReturn(id, job, outcome));
  if (spool) await writeSpoolFile(spool, load).catch(() => undefined);
  const choice = returnerChoice(job, shared.opts['return']);
  if (choice && shared.opts['return_via_master'] !== true) await returners.save(choice, load);
  process.exit(0);
}

/** The daemon only sends what it has parsed before. */
function readJob(body: Packed): PublishedJob {
  const job = readPublishedJob(unpackDict(body));
  if (isProblem(job)) throw new HaliteError('call.arguments', job.problem);
  return job;
}

function receive(message: ToJobProcess): void {
  switch (message.t) {
    case 'data': {
      const data = unpackDict(message.body);
      shared = { opts: data['opts'] as Record<string, Value>, grains: data['grains']!, pillar: data['pillar']! };
      id = message.id;
      sdkUrl = message.sdkUrl;
      // Which extensions are available depends on grains and options.
      loader = undefined;
      returners.changed();
      return;
    }
    case 'grains':
      void grains(message.device);
      return;
    case 'run':
      void run(readJob(message.body), message.hasMaster, message.spool);
      return;
    case 'keep':
      process.title = `${program()} returner process`;
      void returners.answer(message, send);
      return;
    case 'beacons':
      void askBeacons(message);
      return;
    case 'engine':
      startEngine(message);
      return;
    case 'events':
      void engine?.then((found) => found.events(message.n, message.dropped, message.body));
      return;
    case 'reply':
    case 'failure':
      remote.receive(message);
      return;
    case 'end':
      leave();
  }
}

/** Makes this process a job process: it handles messages of the daemon until that ends. */
export function startJobProcess(offered: JobProcessOffers = {}): void {
  offers = offered;
  // When started manually there is no channel to a daemon.
  if (!process.send) {
    process.stderr.write('This program is started by salt-minion.\n');
    process.exit(64);
  }
  process.title = 'salt-minion job process';
  keepHeapSmall();
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // Ctrl-C in a terminal is handled by the daemon, which decides about jobs.
  process.on('SIGINT', () => undefined);
  process.on('message', receive);
  process.on('disconnect', () => {
    remote.close();
    if (!busy) leave();
  });
  // Nothing of the daemon is lost from here on; it may have ended before.
  if (process.connected) send({ t: 'ready' });
  else leave();
}
