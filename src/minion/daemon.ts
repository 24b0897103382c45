// The minion daemon: puts its parts together, keeps one link per master, and lets go of everything in order.
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newDict, type PlainDict } from '../base/codec/value.ts';
import { type MinionOpts, masterAddresses } from '../base/config/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { bundleFile } from '../base/util/bundle-file.ts';
import {
  execProgram,
  JobPool,
  matchesMinion,
  packShared,
  ReturnerWorker,
  type Runtime,
  type WorkerData,
} from '../engine/exec/index.ts';
import { Loader, sdkUrl } from '../extend/loader/index.ts';
import type { Transport } from '../protocol/wire/transport.ts';
import { DurableMemory } from './jobs/durable-memory.ts';
import { Jobs } from './jobs/jobs.ts';
import { adoptOrphans } from './jobs/orphans.ts';
import { ProcFiles } from './jobs/proc-files.ts';
import { RecentJobs } from './jobs/recent-jobs.ts';
import { Returns } from './jobs/return.ts';
import { Returners } from './jobs/returners.ts';
import { Spool } from './jobs/spool.ts';
import type { Identity } from './link/identity.ts';
import { type JobLink, MasterLink } from './link/master-link.ts';
import { MasterTrust } from './link/trust.ts';
import { aloneName, MasterlessLink } from './masterless.ts';
import { MinionBeacons } from './services/beacons.ts';
import { GrainStore } from './services/grains.ts';
import { MinionScheduler } from './services/scheduler.ts';
import { createServices, runningJobs, signalJob } from './services/services.ts';

export interface DaemonParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly identity: Identity;
  readonly transport: Transport;
  /** The built job process; found by itself when not given. */
  readonly jobProcess?: string;
}

const idleProcessMs = 20_000;
/** What "no limit" means, so that a flood of jobs cannot take the machine down. */
const mostProcesses = 100;

export class MinionDaemon {
  readonly links: MasterLink[] = [];
  readonly pool: JobPool;
  readonly grains: GrainStore;
  readonly #parts: DaemonParts;
  readonly #control = new AbortController();
  readonly #procFiles: ProcFiles;
  readonly #spool: Spool;
  readonly #memory: DurableMemory;
  readonly #returns: Returns;
  readonly #returners: Returners;
  readonly #jobs: Jobs;
  readonly #recent: RecentJobs;
  readonly #scheduler: MinionScheduler;
  readonly #beacons: MinionBeacons;
  #alone: MasterlessLink | undefined;
  readonly #sdkUrl: string | undefined;
  readonly #packed = new Map<string, WorkerData>();
  #dataVersion = 0;
  #loader: Loader;

  constructor(parts: DaemonParts) {
    const { opts, log } = parts;
    this.#parts = parts;
    const entry = parts.jobProcess ?? fileURLToPath(bundleFile('job-process'));
    this.#sdkUrl = sdkUrl();
    const maxProcesses = opts.process_count_max > 0 ? opts.process_count_max : mostProcesses;
    this.pool = new JobPool({ entry, log: log.child('job'), maxProcesses, idleMs: idleProcessMs });
    this.grains = new GrainStore(opts, log, () => this.#collectGrains());
    this.#procFiles = new ProcFiles(opts.cachedir);
    this.#spool = new Spool(opts.cachedir, log);
    this.#memory = new DurableMemory(opts.cachedir);
    this.#returns = new Returns(opts, this.#spool, log, this.#control.signal);
    const file = join(opts.cachedir, 'halite', 'recent-jobs');
    this.#recent = new RecentJobs(opts.minion_jid_queue_hwm, { file, log });
    this.#loader = this.#newLoader();
    const keeping = new ReturnerWorker({ entry, log: log.child('returner'), idleMs: idleProcessMs });
    this.#returners = new Returners(opts, log, keeping, (link) => this.#workerData(link));
    this.#jobs = new Jobs({
      ...{ opts, log, pool: this.pool, procFiles: this.#procFiles, returns: this.#returns, spool: this.#spool },
      ...{ memory: this.#memory, returners: this.#returners },
      signal: this.#control.signal,
      loader: () => this.#loader,
      services: (link) => createServices(this.#serviceParts(), link),
      runtime: (link) => this.#runtime(link),
      data: (link) => this.#workerData(link),
    });
    this.#scheduler = this.#newScheduler();
    this.#beacons = this.#newBeacons(entry);
  }

  /** Starts everything; masters are connected in the background. `fatal` is told when no master will ever take us. */
  async start(fatal: (error: Error) => void): Promise<void> {
    const { opts, log } = this.#parts;
    await this.#procFiles.prepare();
    await this.#spool.prepare();
    await this.#memory.prepare();
    await this.#recent.restore();
    await this.#adoptOrphans();
    if (opts.master_type === 'disable') {
      log.info('no master: master_type is disable');
      await this.#startMasterless();
      return;
    }
    void this.grains
      .get()
      .catch((error: unknown) => log.error('grains could not be collected', { error: messageOf(error) }));
    const trust = await MasterTrust.load(opts);
    const boot = randomBytes(8).toString('hex');
    for (const address of masterAddresses(opts)) {
      if (this.links.some((link) => link.address.host === address.host && link.address.port === address.port)) {
        log.warn('a master is listed twice and used once', { master: `${address.host}:${address.port}` });
        continue;
      }
      const link = new MasterLink({
        ...{ opts, address, trust, boot, recent: this.#recent },
        identity: this.#parts.identity,
        transport: this.#parts.transport,
        log: log.with({ master: `${address.host}:${address.port}` }),
        grains: () => this.grains.get(),
        isTarget: (self, { tgt, tgt_type, delimiter }) => matchesMinion(this.#self(self), tgt, tgt_type, delimiter),
        onJob: (self, job) => this.#jobs.handle(self, job),
        onReady: (self) => {
          void this.#returns.replay(self);
          this.#scheduler.ready(self);
          void this.#beacons.start();
        },
        onPillar: (self) => {
          this.#packed.delete(self.name);
          this.#beacons.changed();
        },
      });
      this.links.push(link);
      void this.#runLink(link, fatal);
    }
    if (opts.raw['scheduler_before_connect'] === true) void this.#scheduler.start();
    if (opts.raw['beacons_before_connect'] === true) void this.#beacons.start();
  }

  /** Without a master there is still the clock. */
  async #startMasterless(): Promise<void> {
    const alone = this.#newMasterlessLink();
    this.#alone = alone;
    await alone.loadPillar();
    this.#scheduler.ready(alone);
    void this.#beacons.start();
  }

  #newMasterlessLink(): MasterlessLink {
    const { opts, log } = this.#parts;
    const changed = () => {
      this.#packed.delete(aloneName);
      this.#beacons.changed();
    };
    return new MasterlessLink(opts, log, () => this.grains.get(), changed);
  }

  /** Jobs that outlived an earlier daemon, as after an upgrade. */
  #adoptOrphans(): Promise<void> {
    const procFiles = this.#procFiles;
    const parts = this.#parts;
    const control = this.#control;
    return adoptOrphans({
      ...{ log: parts.log, procFiles, signal: control.signal },
      replay: () => {
        for (const link of this.links) if (link.ready) void this.#returns.replay(link);
      },
      ended: async (job, outcome) => {
        const [link] = this.links;
        if (link) await this.#jobs.finish(link, job, { outcome, deadline: true });
      },
    });
  }

  async stop(): Promise<void> {
    this.#control.abort();
    this.#scheduler.stop();
    this.#beacons.stop();
    await this.pool.stop('leave');
    await this.#jobs.settle();
    this.#returners.stop();
    for (const link of this.links) link.stop();
    await this.#recent.flush();
  }

  running() {
    return runningJobs(this.pool, this.#procFiles);
  }

  signalJob(jid: string, signal: number): Promise<string> {
    return signalJob(this.pool, this.#procFiles, jid, signal);
  }

  /** A link that ends for good takes the daemon along only when it was the last one. */
  async #runLink(link: MasterLink, fatal: (error: Error) => void): Promise<void> {
    try {
      await link.start();
      await this.#dropDuplicateLink(link);
    } catch (error) {
      if (this.#control.signal.aborted || link.state === 'stopped') return;
      this.#parts.log.error('a master is given up', { master: link.name, error: messageOf(error) });
      link.stop();
      if (this.links.every((other) => other.state === 'stopped'))
        fatal(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }

  /** The same master under two names would be asked everything twice: the one that is written first stays. */
  async #dropDuplicateLink(link: MasterLink): Promise<void> {
    const addresses = await addressesOf(link.address.host);
    for (const other of this.links) {
      if (other === link || other.address.port !== link.address.port) continue;
      const duplicate = (await addressesOf(other.address.host)).some((address) => addresses.includes(address));
      const sameKey = other.credentials && other.credentials.masterKeyText === link.credentials?.masterKeyText;
      const [used, unused] = this.links.indexOf(other) < this.links.indexOf(link) ? [other, link] : [link, other];
      // From here on nothing is awaited, so the two checks of a pair cannot both act.
      if (!duplicate || !sameKey || used.state === 'stopped' || unused.state === 'stopped') continue;
      this.#parts.log.warn('two entries of "master" are the same machine: the second is not used', {
        used: used.name,
        unused: unused.name,
      });
      unused.stop();
    }
  }

  #serviceParts() {
    return {
      opts: this.#parts.opts,
      pool: this.pool,
      procFiles: this.#procFiles,
      delivering: () => this.#jobs.delivering(),
      refreshGrains: () => this.#refreshGrains(),
      reloadExtensions: () => this.#reloadExtensions(),
      schedule: (request: PlainDict) => this.#scheduler.request(request),
      beacons: (request: PlainDict) => this.#beacons.request(request),
    };
  }

  #usable(): MasterLink[] {
    return this.links.filter((link) => link.state !== 'stopped');
  }

  /** Masters that can be reached; the first one when there is none. */
  #best(): JobLink[] {
    if (this.#alone) return [this.#alone];
    const ready = this.#usable().filter((link) => link.ready);
    return ready.length > 0 ? ready : this.#usable().slice(0, 1);
  }

  /** One clock for all masters: with several of them a job still runs once. */
  #newScheduler(): MinionScheduler {
    const { opts, log } = this.#parts;
    return new MinionScheduler({
      ...{ opts, log, signal: this.#control.signal },
      grains: () => this.grains.now,
      pillar: () => this.#best()[0]?.pillar ?? newDict(),
      running: () => this.running(),
      masters: () => (this.#alone ? [this.#alone] : this.#usable().filter((link) => link.ready)),
      alsoLook: () => this.#beacons.followFile(),
      run: (job, delivery, master) =>
        this.#jobs.runScheduled(master ? [master] : this.#best(), job, this.#alone ? 'none' : delivery),
    });
  }

  /** Also one for all masters; each is told. */
  #newBeacons(entry: string): MinionBeacons {
    const { opts, log } = this.#parts;
    const nobody = () => this.#alone ?? this.#newMasterlessLink();
    const link = (): JobLink => this.#best()[0] ?? nobody();
    return new MinionBeacons({
      ...{ opts, log, entry, idleMs: idleProcessMs },
      grains: () => this.grains.get(),
      pillar: () => this.#best()[0]?.pillar ?? newDict(),
      data: () => this.#workerData(link()),
      services: () => createServices(this.#serviceParts(), link()),
      masters: () => this.#usable().filter((item) => item.ready),
    });
  }

  async #refreshGrains(): Promise<void> {
    await this.grains.refresh();
    this.#packed.clear();
    // The master learns grains from the pillar request.
    await Promise.all(this.links.filter((link) => link.ready).map((link) => link.loadPillar()));
  }

  #reloadExtensions(): void {
    this.#loader = this.#newLoader();
    this.pool.recycle();
    this.#returners.recycle();
    this.#beacons.recycle();
  }

  #newLoader(): Loader {
    const { opts, log } = this.#parts;
    return new Loader({ opts: () => opts.raw, grains: () => this.grains.now, log, userCode: 'names' });
  }

  #runtime(link: JobLink): Runtime {
    const { opts, log } = this.#parts;
    return {
      id: opts.id,
      loader: this.#loader,
      log,
      minion: createServices(this.#serviceParts(), link),
      opts: () => opts.raw,
      grains: () => this.grains.now,
      pillar: () => link.pillar,
      exec: (file, args, options, signal) => execProgram(file, args, options, signal),
      match: (expression, kind) => matchesMinion(this.#self(link), expression, kind),
    };
  }

  /** What targets are compared with. */
  #self({ pillar }: Pick<JobLink, 'pillar'>) {
    const { opts } = this.#parts;
    return { id: opts.id, opts: opts.raw, grains: this.grains.now, pillar };
  }

  #workerData(link: JobLink): WorkerData {
    let data = this.#packed.get(link.name);
    if (!data) {
      data = this.#packData(this.grains.now, link.pillar as PlainDict);
      this.#packed.set(link.name, data);
    }
    return data;
  }

  #packData(grains: PlainDict, pillar: PlainDict): WorkerData {
    const { opts } = this.#parts;
    const body = packShared({ opts: opts.raw, grains, pillar });
    return { version: String(++this.#dataVersion), id: opts.id, sdkUrl: this.#sdkUrl, body };
  }

  async #collectGrains(): Promise<PlainDict> {
    const outcome = await this.pool.run({
      jid: 'grains',
      assignment: { job: undefined, services: noServices, data: this.#packData(newDict(), newDict()) },
    });
    if (outcome.success !== true) throw new HaliteError('call.failed', String(outcome.return));
    return outcome.return as PlainDict;
  }
}

async function addressesOf(host: string): Promise<string[]> {
  return lookup(host, { all: true }).then(
    (found) => found.map((item) => item.address),
    () => [],
  );
}

const unavailable = async (): Promise<never> => {
  throw new HaliteError('daemon.unreachable', 'Not available while grains are collected');
};
const noServices = {
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
