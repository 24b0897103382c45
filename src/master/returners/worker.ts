// Worker thread of the master for returners: a slow driver never blocks the master's event loop.
import { parentPort, workerData } from 'node:worker_threads';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { openReturner } from '../../engine/exec/returners/index.ts';
import { providePython } from '../../engine/python/index.ts';
import { Loader, sdkUrl } from '../../extend/loader/index.ts';
import type { LogLevel } from '../../extend/sdk/exec.ts';
import type { ExtensionLog, JobCache, ReturnerSession } from '../../extend/sdk/index.ts';
import { Delivery } from './deliver.ts';
import type { FromReturnerWorker, ToReturnerWorker } from './records.ts';

const given = parentPort;
if (!given) throw new Error('this program is a worker of salt-master');
const port = given;
const send = (message: FromReturnerWorker): void => port.postMessage(message);

const logAt =
  (level: LogLevel) =>
  (text: string, fields: Readonly<Record<string, unknown>> = {}) => {
    const plain = Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'object' ? String(value) : value,
    ]);
    send({ t: 'log', level, text, fields: Object.fromEntries(plain) as Record<string, unknown> });
  };
const log: ExtensionLog = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };

const opts = unpack((workerData as { opts: Uint8Array }).opts) as PlainDict;
const sdk = sdkUrl();
const loader = new Loader({
  opts: () => opts,
  grains: () => newDict(),
  log,
  userCode: 'import',
  python: providePython({ opts: () => opts, log, workers: 'shared', idleMs: 30_000 }).source,
  ...(sdk ? { sdkUrl: sdk } : {}),
});
const ended = new AbortController();

function open(name: string, config?: string, kwargs?: PlainDict): Promise<ReturnerSession> {
  return openReturner(loader, name, {
    id: String(opts['id'] ?? 'master'),
    opts,
    grains: newDict(),
    pillar: newDict(),
    log,
    signal: ended.signal,
    ...(config ? { config } : {}),
    ...(kwargs ? { kwargs } : {}),
  });
}

const deliveries = new Map<string, Delivery>();
/** Sessions for queries are separate from those for writing: a long write never delays an answer. */
const readers = new Map<string, Promise<ReturnerSession>>();

function start(message: Extract<ToReturnerWorker, { t: 'open' }>): void {
  const { name, returner, folder, upTo, gather } = message;
  const delivery = new Delivery({
    ...{ returner, folder, upTo, gather, log },
    open: (config, kwargs) => open(returner, config, kwargs),
    report: (progress) => send({ t: 'progress', name, progress }),
  });
  deliveries.set(name, delivery);
}

async function cacheOf(returner: string): Promise<JobCache> {
  const known = readers.get(returner) ?? open(returner);
  readers.set(returner, known);
  const { jobCache } = await known;
  if (!jobCache) throw new HaliteError('config.value', `the returner ${returner} keeps no jobs that can be looked up`);
  return jobCache;
}

async function answer({ returner, what, arg }: Extract<ToReturnerWorker, { t: 'ask' }>): Promise<Value> {
  const cache = await cacheOf(returner);
  const dict = (map: Map<string, PlainDict>): PlainDict => newDict(map);
  switch (what) {
    case 'load':
      return (await cache.load(String(arg))) ?? null;
    case 'returns':
      return dict(await cache.returns(String(arg)));
    case 'jids':
      return dict(await cache.jids());
    case 'minions':
      return cache.minions();
    case 'clean':
      return (await cache.clean?.(Number(arg))) ?? 0;
  }
}

async function ask(message: Extract<ToReturnerWorker, { t: 'ask' }>): Promise<void> {
  const { n, returner } = message;
  try {
    send({ t: 'answer', n, body: pack(await answer(message)) });
  } catch (error) {
    const session = readers.get(returner);
    readers.delete(returner);
    send({ t: 'answer', n, error: messageOf(error) });
    await session?.then((each) => each.close?.()).catch(() => undefined);
  }
}

async function stop(): Promise<void> {
  await Promise.allSettled([...deliveries.values()].map((delivery) => delivery.stop()));
  await Promise.allSettled([...readers.values()].map(async (session) => (await session).close?.()));
  ended.abort();
  send({ t: 'stopped' });
  port.close();
}

port.on('message', (message: ToReturnerWorker) => {
  if (message.t === 'open') start(message);
  else if (message.t === 'appended') deliveries.get(message.name)?.appended(message.upTo);
  else if (message.t === 'ask') void ask(message);
  else void stop();
});
