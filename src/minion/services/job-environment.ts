// What a job can access of the minion: its runtime inside the daemon, and its services.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { generateJid } from '../../base/util/index.ts';
import { execProgram, type JobPool, matchesMinion, type Runtime, type WorkerData } from '../../engine/exec/index.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import type { PackedData } from '../jobs/worker-data.ts';
import type { JobLink } from '../link/master-link.ts';
import type { GrainStore } from './grains.ts';
import { createServices, type ServiceParts } from './services.ts';

export interface EnvironmentParts
  extends Pick<ServiceParts, 'pool' | 'procFiles' | 'delivering' | 'schedule' | 'beacons' | 'told' | 'proxy'> {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly grains: Pick<GrainStore, 'now' | 'refresh'>;
  readonly data: Pick<PackedData, 'forgetAll'>;
  /** Called when the grains changed, to inform masters. */
  tellMasters(): Promise<void>;
  /** Who answers a request of a job of this master now. */
  inPlaceOf(link: JobLink): JobLink;
  masters(): readonly PlainDict[];
  handover(request: PlainDict): Promise<PlainDict>;
  masterKey(): Promise<PlainDict>;
  /** Called when extensions changed: processes with the old ones are not reused. */
  recycle(): void;
}

export class JobEnvironment {
  readonly #parts: EnvironmentParts;
  #loader: Loader;

  constructor(parts: EnvironmentParts) {
    this.#parts = parts;
    this.#loader = this.#newLoader();
  }

  get loader(): Loader {
    return this.#loader;
  }

  /** The data against which targets are matched. */
  self({ pillar }: Pick<JobLink, 'pillar'>): Parameters<typeof matchesMinion>[0] {
    const { opts, grains } = this.#parts;
    return { id: opts.id, opts: opts.raw, grains: grains.now, pillar };
  }

  runtime(link: JobLink): Runtime {
    const { opts, log, grains } = this.#parts;
    return {
      id: opts.id,
      loader: this.#loader,
      log,
      minion: this.services(link),
      opts: () => opts.raw,
      grains: () => grains.now,
      pillar: () => link.pillar,
      exec: (file, args, options, signal) => execProgram(file, args, options, signal),
      match: (expression, kind) => matchesMinion(this.self(link), expression, kind),
    };
  }

  services(link: JobLink): MinionServices {
    const { opts, pool, procFiles } = this.#parts;
    return createServices(
      {
        ...{ opts, pool, procFiles },
        delivering: () => this.#parts.delivering(),
        schedule: (request) => this.#parts.schedule(request),
        beacons: (request) => this.#parts.beacons(request),
        masters: () => this.#parts.masters(),
        handover: (request) => this.#parts.handover(request),
        masterKey: () => this.#parts.masterKey(),
        told: (tag, data) => this.#parts.told(tag, data),
        proxy: this.#parts.proxy,
        inPlaceOf: (asked) => this.#parts.inPlaceOf(asked),
        refreshGrains: () => this.#refreshGrains(),
        reloadExtensions: () => this.#reloadExtensions(),
      },
      link,
    );
  }

  async #refreshGrains(): Promise<void> {
    await this.#parts.grains.refresh();
    this.#parts.data.forgetAll();
    await this.#parts.tellMasters();
  }

  #reloadExtensions(): void {
    this.#loader = this.#newLoader();
    this.#parts.recycle();
  }

  #newLoader(): Loader {
    const { opts, log, grains } = this.#parts;
    return new Loader({ opts: () => opts.raw, grains: () => grains.now, log, userCode: 'names' });
  }
}

/** In a job process without services. */
export async function collectGrains(
  pool: Pick<JobPool, 'run'>,
  data: Pick<PackedData, 'pack'>,
  proxy?: MinionServices['proxy'],
): Promise<PlainDict> {
  const services = proxy ? { ...noServices, proxy } : noServices;
  const outcome = await pool.run({
    jid: 'grains',
    assignment: { job: undefined, services, data: data.pack(newDict(), newDict()) },
  });
  if (outcome.success !== true) throw new HaliteError('call.failed', String(outcome.return));
  return outcome.return as PlainDict;
}

/** The value of an execution function without arguments, in a job process, before there is any master. */
export async function callAlone(
  pool: Pick<JobPool, 'run'>,
  data: Pick<PackedData, 'pack'>,
  fun: string,
  grains: PlainDict,
): Promise<Value> {
  return callInProcess(pool, { data: data.pack(grains, newDict()), services: noServices }, fun, newDict());
}

/** The value of an execution function that nobody asked for: the minion itself needs it. */
export async function callInProcess(
  pool: Pick<JobPool, 'run'>,
  scene: { readonly data: WorkerData; readonly services: MinionServices },
  fun: string,
  kwargs: PlainDict,
): Promise<Value> {
  const jid = generateJid();
  const arg = Object.keys(kwargs).length > 0 ? [newDict([['__kwarg__', true], ...Object.entries(kwargs)])] : [];
  const job = { jid, fun, arg, tgt: '', tgt_type: 'glob' };
  const outcome = await pool.run({ jid, assignment: { job, ...scene } });
  if (outcome.success !== true) throw new HaliteError('call.failed', String(outcome.return));
  return outcome.return;
}

const unavailable = async (): Promise<never> => {
  throw new HaliteError('daemon.unreachable', 'Not available while grains are collected');
};
const noServices: MinionServices = {
  hasMaster: false,
  running: unavailable,
  signalJob: unavailable,
  masterRequest: unavailable,
  fire: unavailable,
  refreshGrains: unavailable,
  refreshPillar: unavailable,
  compilePillar: unavailable,
  reloadExtensions: unavailable,
};
