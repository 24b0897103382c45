// The process in which one engine runs: finds it, starts it, and gives it what it may use.
import { Worker } from 'node:worker_threads';
import { unpackValue } from '../../base/codec/msgpack/index.ts';
import { asPlainDict, asText, type Dict, isDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { ConcurrencyLimit } from '../../base/util/concurrency-limit.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { EngineContext } from '../../extend/sdk/index.ts';
import { bindArguments } from '../exec/bind.ts';
import { createContext, type Runtime } from '../exec/index.ts';
import type { EngineProcess, EngineProcessHost } from '../exec/job-process.ts';
import { pythonTraceback } from '../exec/traceback.ts';
import { EngineInbox } from './inbox.ts';

/** The daemon kills what has not ended a little later. */
const longestStopMs = 3000;
const eventsAtOnce = 32;
const patienceMs = 120_000;
const mostInboxes = 16;

/** An engine that blocks its own thread would not notice that its daemon is gone. */
function endWithParent(): void {
  const code = `const first = process.ppid;
    setInterval(() => { if (process.ppid !== first) process.kill(process.pid, 'SIGKILL'); }, 1000);`;
  new Worker(code, { eval: true, stdin: false }).on('error', () => undefined).unref();
}

/** Not worth another try before something changes. */
class Unusable extends HaliteError {
  constructor(message: string) {
    super('config.value', message);
  }
}

export function createEngineProcess(host: EngineProcessHost): EngineProcess {
  const control = new AbortController();
  const inboxes = new Map<number, EngineInbox>();
  const firing = new ConcurrencyLimit(eventsAtOnce, patienceMs);
  let last = 0;
  let running: Promise<void> | undefined;
  endWithParent();

  function listen(tags: readonly string[] = []): EngineInbox {
    if (inboxes.size >= mostInboxes)
      throw new HaliteError('call.failed', `An engine reads events in at most ${mostInboxes} places at once`);
    const n = ++last;
    const inbox = new EngineInbox({
      more: () => host.send({ t: 'more', n }),
      close: () => {
        inboxes.delete(n);
        host.send({ t: 'unlisten', n });
      },
      dropped: (count) => host.log.warn(`the engine is too slow: ${count} events were dropped`),
    });
    inboxes.set(n, inbox);
    host.send({ t: 'listen', n, tags: [...tags] });
    return inbox;
  }

  function contextOf(name: string, runtime: Runtime): EngineContext {
    const { signal } = control;
    const now = () => createContext(runtime, { signal, progress: () => undefined, retcode: 0, cache: new Map() });
    const { master, minion } = now();
    const fire = (tag: string, data: Dict): Promise<boolean> => firing.run(() => minion.fire(tag, data));
    const context = {
      ...{ name, signal, fire, log: host.log, id: runtime.id },
      role: runtime.opts()['__role'] === 'master' ? ('master' as const) : ('minion' as const),
      opts: runtime.opts(),
      grains: runtime.grains(),
      pillar: runtime.pillar(),
      ...(master ? { master } : {}),
      // Not for engines in TypeScript: what Python programs reach through the names of Salt.
      minion: { ...minion, fire },
      events: listen,
      call: (fun: string, ...args: Parameters<EngineContext['call']>[1][]) => now().call(fun, ...args),
      callWith: (...call: Parameters<EngineContext['callWith']>) => now().callWith(...call),
      exec: (...call: Parameters<EngineContext['exec']>) => now().exec(...call),
    };
    return context;
  }

  async function run(start: PlainDict): Promise<void> {
    const runtime = host.runtime();
    const module = asText(start['module']) ?? '';
    const name = asText(start['name']) ?? module;
    const loaded = await runtime.loader.get('engines', module);
    if (!loaded) {
      const why = runtime.loader.reason('engines', module);
      throw new Unusable(`there is no engine "${module}"${why ? ` that works here: ${why}` : ''}`);
    }
    const { extension, origin } = loaded;
    const config = asPlainDict(start['config']) ?? newDict();
    let bound: unknown;
    try {
      bound = bindArguments('start', extension.params, [], config);
    } catch (error) {
      throw new Unusable(`its configuration is wrong: ${messageOf(error)}`);
    }
    host.say(
      newDict([
        ['state', 'runs'],
        ['origin', origin],
      ]),
    );
    await extension.start(bound as never, contextOf(name, runtime));
  }

  return {
    start(body) {
      running = run(body)
        .then(() => ({ error: control.signal.aborted ? '' : 'it returned' }))
        .catch((error: unknown) => ({
          error: control.signal.aborted ? '' : error instanceof HaliteError ? error.message : pythonTraceback(error),
          ...(error instanceof Unusable ? { unusable: true } : {}),
        }))
        .then((end) => {
          host.say(newDict(Object.entries({ state: 'ended', ...end })));
          host.leave();
        });
    },
    events(n, dropped, body) {
      const events = unpackValue(body);
      inboxes.get(n)?.receive(readEvents(events), dropped);
    },
    async stop() {
      control.abort();
      for (const inbox of inboxes.values()) inbox.end();
      if (running) await withTimeout(running, longestStopMs, () => undefined);
    },
  };
}

function readEvents(batch: unknown): { tag: string; data: Dict }[] {
  const found: { tag: string; data: Dict }[] = [];
  for (const item of Array.isArray(batch) ? batch : []) {
    const [tag, data] = Array.isArray(item) ? item : [];
    if (typeof tag === 'string' && isDict(data)) found.push({ tag, data });
  }
  return found;
}
