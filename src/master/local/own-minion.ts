// The master as its own minion: runs execution functions in job processes, with the master's files, pillar and services.
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { minionOptions } from '../../base/config/index.ts';
import { defaultsOf } from '../../base/config/opts.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import { generateJid } from '../../base/util/jid.ts';
import { JobPool, packShared, type WorkerData } from '../../engine/exec/index.ts';
import { answerOrchestration } from '../../engine/exec/orchestration.ts';
import type { PillarService } from '../../engine/pillar/service.ts';
import { sdkUrl } from '../../extend/loader/index.ts';
import type { MinionServices, OwnCallOptions, OwnCallOutcome } from '../../extend/sdk/index.ts';
import type { MasterFunctions } from './functions.ts';
import { type OrchestrationParts, orchestrationServices } from './orchestration.ts';

/** Orchestrations may start orchestrations and wait for them: a low limit could cause a deadlock. */
const mostProcesses = 256;
const idleProcessMs = 30_000;
/** As long as a minion's grains cache. */
const grainsMs = 300_000;

export interface OwnMinionParts extends OrchestrationParts {
  readonly opts: { readonly raw: PlainDict };
  readonly log: Logger;
  readonly pillars: Pick<PillarService, 'compile'>;
  readonly functions: OrchestrationParts['functions'] & Pick<MasterFunctions, 'reload'>;
}

export class OwnMinion {
  readonly #parts: OwnMinionParts;
  #pool: JobPool | undefined;
  #grains: { readonly data: Promise<PlainDict>; readonly at: number } | undefined;
  #packed: { readonly grains: PlainDict; readonly data: WorkerData } | undefined;
  #version = 0;
  /** Called when extensions changed. */
  onReload: () => void = () => undefined;

  constructor(parts: OwnMinionParts) {
    this.#parts = parts;
  }

  /** Runs a function to its end. Aborting `signal` ends its process with all child processes. */
  async call(fun: string, args: readonly Value[], kwargs: PlainDict, options: OwnCallOptions): Promise<OwnCallOutcome> {
    const { signal, user = 'root' } = options;
    const data = options.withPillar ? await this.#dataWithPillar() : await this.workerData();
    // Nested orchestrations share a jid; in the pool each has its own.
    const key = generateJid();
    const job = {
      ...{ jid: options.jid ?? key, fun, tgt: data.id, tgt_type: 'glob', ret: '', user },
      arg: [...args, Object.assign(newDict([['__kwarg__', true]]), kwargs)],
    };
    if (signal.aborted) throw new HaliteError('call.failed', `${fun} was ended before it began`);
    const end = (): void => void this.#jobs().signal(key, constants.signals.SIGKILL);
    signal.addEventListener('abort', end, { once: true });
    try {
      const services = this.servicesFor(user, signal, (text) => options.print?.(text));
      const assignment = { job, services, data, onProgress: (text: string) => options.progress(text) };
      const outcome = await this.#jobs().run({ jid: key, assignment });
      const retcode = typeof outcome.retcode === 'number' ? outcome.retcode : 1;
      return { return: outcome.return, retcode, success: outcome.success === true };
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  async stop(): Promise<void> {
    await this.#pool?.stop('end');
  }

  #jobs(): JobPool {
    this.#pool ??= new JobPool({
      entry: fileURLToPath(bundleFile('job-process')),
      log: this.#parts.log.child('job'),
      maxProcesses: mostProcesses,
      idleMs: idleProcessMs,
    });
    return this.#pool;
  }

  /** The master's options over a minion's defaults; files and pillar are those of the master. */
  #opts(): PlainDict {
    const own = Object.fromEntries(Object.entries(this.#parts.opts.raw)) as PlainDict;
    return Object.assign(defaultsOf(minionOptions), own, { file_client: 'local', __role: 'master' });
  }

  #data(id: string, opts: PlainDict, grains: PlainDict, pillar: Dict = newDict()): WorkerData {
    const body = packShared({ opts, grains, pillar });
    return { version: `master ${++this.#version}`, id, sdkUrl: sdkUrl(), body };
  }

  /** Its options and grains for a process. */
  async workerData(): Promise<WorkerData> {
    if (!this.#grains || Date.now() - this.#grains.at > grainsMs) {
      this.#grains = { data: this.#collectGrains(), at: Date.now() };
    }
    const grains = await this.#grains.data;
    if (this.#packed?.grains !== grains) {
      const opts = this.#opts();
      this.#packed = { grains, data: this.#data(String(opts['id']), opts, grains) };
    }
    return this.#packed.data;
  }

  async #dataWithPillar(): Promise<WorkerData> {
    const { id } = await this.workerData();
    return this.#data(id, this.#opts(), (await this.#grains?.data) ?? newDict(), await this.#compilePillar({}));
  }

  async #compilePillar(request: Parameters<MinionServices['compilePillar']>[0]): Promise<Dict> {
    const grains = (await this.#grains?.data) ?? newDict();
    return this.#parts.pillars.compile({ ...request, minionId: String(this.#opts()['id']), grains });
  }

  async #collectGrains(): Promise<PlainDict> {
    const opts = this.#opts();
    const data = this.#data(String(opts['id']), opts, newDict());
    const services = this.servicesFor('root', new AbortController().signal);
    const outcome = await this.#jobs().run({ jid: generateJid(), assignment: { job: undefined, services, data } });
    if (outcome.success) return outcome.return as PlainDict;
    this.#grains = undefined;
    throw new HaliteError('call.failed', `The grains of the master could not be collected: ${String(outcome.return)}`);
  }

  /** What functions in processes of the master may ask of it. */
  servicesFor(user: string, signal: AbortSignal, print: (text: string) => void = () => {}): MinionServices {
    const services = orchestrationServices(this.#parts, { user, signal });
    return {
      hasMaster: false,
      // As in Salt: orchestrations may run in parallel and do not block each other.
      running: async () => [],
      signalJob: async () => '',
      masterRequest: (load) =>
        answerOrchestration(services, load).catch((error: unknown) => {
          if (error instanceof HaliteError && error.code === 'target.empty') print(error.message);
          throw error;
        }),
      fire: async (tag, data) => {
        this.#parts.bus.fire(tag, data);
        return true;
      },
      refreshGrains: async () => {
        this.#grains = undefined;
      },
      refreshPillar: async () => true,
      compilePillar: (request) => this.#compilePillar(request),
      reloadExtensions: async () => {
        this.#parts.functions.reload();
        this.#pool?.recycle();
        this.onReload();
      },
    };
  }
}
