// The minion daemon: builds its parts, maintains one link per master, and shuts everything down in order.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import type { MasterAddress, MinionOpts } from '../base/config/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { bundleFile } from '../base/util/bundle-file.ts';
import type { Engines } from '../engine/engines/index.ts';
import { JobPool, matchesMinion, ReturnerWorker } from '../engine/exec/index.ts';
import { sdkUrl } from '../extend/loader/index.ts';
import { EventBus } from '../protocol/event/bus.ts';
import type { Transport } from '../protocol/wire/transport.ts';
import { DurableMemory } from './jobs/durable-memory.ts';
import { Jobs } from './jobs/jobs.ts';
import { adoptOrphans } from './jobs/orphans.ts';
import { ProcFiles } from './jobs/proc-files.ts';
import { RecentJobs } from './jobs/recent-jobs.ts';
import { Returns } from './jobs/return.ts';
import { Returners } from './jobs/returners.ts';
import { Spool } from './jobs/spool.ts';
import { PackedData } from './jobs/worker-data.ts';
import type { Identity } from './link/identity.ts';
import { type JobLink, MasterLink } from './link/master-link.ts';
import type { LinkStart } from './link/masters/choice.ts';
import { Masters } from './link/masters/masters.ts';
import { pingMaster } from './link/masters/ping.ts';
import { openSession } from './link/session.ts';
import { aloneName, MasterlessLink } from './masterless.ts';
import { ProxyMinion, type ProxyParts } from './proxy/minion.ts';
import { MinionBeacons } from './services/beacons.ts';
import { minionEngines } from './services/engines.ts';
import { GrainStore } from './services/grains.ts';
import { callAlone, collectGrains, JobEnvironment } from './services/job-environment.ts';
import { MinionScheduler } from './services/scheduler.ts';
import { runningJobs, signalJob } from './services/services.ts';

export interface DaemonParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly identity: Identity;
  readonly transport: Transport;
  /** The path of the built job process; determined automatically when not given. */
  readonly jobProcess?: string;
  /** A proxy minion: it stands for a device. */
  readonly proxy?: ProxyParts | undefined;
}

const idleProcessMs = 20_000;
/** Another master may send what one sent a moment ago, also under load: the option counts what is kept on disk. */
const rememberedJobs = 20_000;
/** The limit for "no limit", so that a flood of jobs cannot overload the machine. */
const mostProcesses = 100;

export class MinionDaemon {
  readonly pool: JobPool;
  readonly grains: GrainStore;
  readonly #parts: DaemonParts;
  #fatal: (error: Error) => void = () => undefined;
  readonly #control = new AbortController();
  readonly #masters: Masters;
  readonly #procFiles: ProcFiles;
  readonly #spool: Spool;
  readonly #memory: DurableMemory;
  readonly #recent: RecentJobs;
  readonly #returns: Returns;
  readonly #returners: Returners;
  readonly #data: PackedData;
  readonly #environment: JobEnvironment;
  readonly #jobs: Jobs;
  readonly #proxy: ProxyMinion | undefined;
  #scheduler: MinionScheduler;
  #beacons: MinionBeacons;
  readonly #engines: Engines;
  /** What this minion tells its masters, for its engines. */
  readonly #told = new EventBus();

  constructor(parts: DaemonParts) {
    const { opts, log } = parts;
    const { signal } = this.#control;
    this.#parts = parts;
    const entry = parts.jobProcess ?? fileURLToPath(bundleFile('job-process'));
    const maxProcesses = opts.process_count_max > 0 ? opts.process_count_max : mostProcesses;
    const pooling = { entry, log: log.child('job'), maxProcesses, idleMs: idleProcessMs };
    this.pool = parts.proxy?.pool ?? new JobPool(pooling);
    const { pool } = this;
    this.#data = new PackedData({ id: opts.id, opts: opts.raw, sdkUrl: sdkUrl(), grains: () => this.grains.now });
    this.grains = new GrainStore(opts, log, () => this.#collectGrains());
    this.#masters = new Masters({
      ...{ opts, log, signal },
      newLink: (address, start) => this.#newLink(address, start),
      ping: (address) => pingMaster(parts.transport, opts, address),
      open: (address, trust) =>
        openSession({ ...parts, trust, signal, grains: () => this.grains.now, tries: 1 }, address),
      evaluate: async (fun) => callAlone(pool, this.#data, fun, await this.grains.get()),
    });
    this.#procFiles = new ProcFiles(opts.cachedir);
    this.#spool = new Spool(opts.cachedir, log);
    this.#memory = new DurableMemory(opts.cachedir);
    const file = join(opts.cachedir, 'halite', 'recent-jobs');
    this.#recent = new RecentJobs(opts.minion_jid_queue_hwm, { file, log }, rememberedJobs);
    this.#returns = new Returns(opts, this.#spool, log, signal, this.#masters);
    const keeping = new ReturnerWorker({ entry, log: log.child('returner'), idleMs: idleProcessMs });
    this.#returners = new Returners(opts, log, keeping, (link) => this.#data.of(link));
    // Jobs use services, which know about jobs, the schedule and beacons, which start jobs: a circular dependency.
    this.#environment = new JobEnvironment({
      ...{ opts, log, pool, procFiles: this.#procFiles, grains: this.grains, data: this.#data },
      delivering: () => this.#jobs.delivering(),
      schedule: (request) => this.#scheduler.request(request),
      beacons: (request) => this.#beacons.request(request),
      inPlaceOf: (link) => this.#masters.inPlaceOf(link),
      masters: () => this.#masters.status(),
      handover: (request) => this.#masters.handover(request),
      masterKey: () => this.#masters.masterKey(),
      told: (tag, data) => this.#told.fire(tag, data),
      proxy: parts.proxy && ((request) => this.#askDevice(request)),
      // The master gets the grains with the pillar request.
      tellMasters: async () => {
        await Promise.all(this.links.filter((link) => link.ready).map((link) => link.loadPillar()));
      },
      recycle: () => {
        for (const part of [pool, this.#returners, this.#beacons, this.#engines]) part.recycle();
        parts.proxy?.host.reload();
      },
    });
    this.#jobs = new Jobs({
      ...{ opts, log, pool, signal, procFiles: this.#procFiles, returns: this.#returns, spool: this.#spool },
      ...{ memory: this.#memory, returners: this.#returners },
      loader: () => this.#environment.loader,
      services: (link) => this.#environment.services(link),
      runtime: (link) => this.#environment.runtime(link),
      data: (link) => this.#data.of(link),
    });
    this.#scheduler = this.#newScheduler();
    this.#beacons = this.#newBeacons(entry);
    this.#engines = this.#newEngines(entry);
    this.#proxy = parts.proxy && this.#newProxy(parts.proxy, entry);
  }

  /** Links to masters, in the order of the configuration. */
  get links(): readonly MasterLink[] {
    return this.#masters.links;
  }

  /**
   * Starts everything; masters are connected in the background. `fatal` is called when no master will ever accept this
   * minion.
   */
  async start(fatal: (error: Error) => void): Promise<void> {
    const { opts, log } = this.#parts;
    this.#fatal = fatal;
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
    await this.#masters.start(fatal);
    if (opts.raw['scheduler_before_connect'] === true) void this.#scheduler.start();
    if (opts.raw['beacons_before_connect'] === true) void this.#beacons.start();
  }

  async stop(): Promise<void> {
    this.#control.abort();
    this.#scheduler.stop();
    this.#beacons.stop();
    await this.#engines.stop();
    this.#proxy?.stop();
    await this.pool.stop('leave');
    await this.#jobs.settle();
    this.#returners.stop();
    this.#masters.stop();
    await this.#recent.flush();
  }

  /** For the service manager. */
  status(): string {
    const { links } = this;
    const ready = links.filter((link) => link.ready).length;
    return `connected to ${ready} of ${links.length} masters, ${this.pool.running().length} jobs run`;
  }

  running() {
    return runningJobs(this.pool, this.#procFiles);
  }

  signalJob(jid: string, signal: number): Promise<string> {
    return signalJob(this.pool, this.#procFiles, jid, signal);
  }

  #newLink(address: MasterAddress, { trust, boot, tries, heartbeatMs }: LinkStart): MasterLink {
    const { opts, log, identity, transport } = this.#parts;
    return new MasterLink({
      ...{ opts, address, trust, boot, tries, heartbeatMs, identity, transport, recent: this.#recent },
      log: log.with({ master: `${address.host}:${address.port}` }),
      grains: () => this.grains.get(),
      isTarget: (self, { tgt, tgt_type, delimiter }) =>
        matchesMinion(this.#environment.self(self), tgt, tgt_type, delimiter),
      prepare: this.#proxy && ((self) => this.#prepare(self)),
      onJob: (self, job) => this.#jobs.handle(self, job),
      onReady: (self) => {
        void this.#returns.replay(self);
        this.#scheduler.ready(self);
        void this.#beacons.start();
        this.#engines.start();
      },
      onPillar: (self) => this.#pillarChanged(self.name),
    });
  }

  #pillarChanged(name: string): void {
    this.#data.forget(name);
    this.#beacons.changed();
    this.#proxy?.changed();
  }

  /** The schedule also runs without a master. */
  async #startMasterless(): Promise<void> {
    const alone = this.#newMasterlessLink();
    this.#masters.startMasterless(alone);
    await alone.loadPillar();
    await this.#prepare(alone);
    this.#scheduler.ready(alone);
    void this.#beacons.start();
    this.#engines.start();
  }

  #newMasterlessLink(): MasterlessLink {
    const { opts, log } = this.#parts;
    return new MasterlessLink(
      opts,
      log,
      () => this.grains.get(),
      () => this.#pillarChanged(aloneName),
    );
  }

  /** Jobs that survived an earlier daemon, as after an upgrade. */
  #adoptOrphans(): Promise<void> {
    return adoptOrphans({
      ...{ log: this.#parts.log, procFiles: this.#procFiles, signal: this.#control.signal },
      replay: () => void this.#returns.pump(),
      ended: async (job, outcome) => {
        const [link] = this.links;
        if (link) await this.#jobs.finish(link, job, { outcome, deadline: true });
      },
    });
  }

  /** One scheduler for all masters: with several of them a job still runs once. */
  #newScheduler(): MinionScheduler {
    const { opts, log } = this.#parts;
    const masters = this.#masters;
    return new MinionScheduler({
      ...{ opts, log, signal: this.#control.signal },
      grains: () => this.grains.now,
      pillar: () => masters.best()[0]?.pillar ?? newDict(),
      running: () => this.running(),
      masters: () => (masters.masterless ? [masters.masterless] : masters.ready()),
      alsoLook: () => this.#beacons.followFile(),
      run: (job, delivery, master) =>
        this.#jobs.runScheduled(master ? [master] : masters.best(), job, masters.masterless ? 'none' : delivery),
    });
  }

  /** Before a proxy has its device, all proxies of a process have the same. */
  #collectGrains(): Promise<PlainDict> {
    const base = this.#parts.proxy?.baseGrains;
    const device = this.#proxy?.device;
    if (!base || device) return collectGrains(this.pool, this.#data, device);
    return Promise.resolve(newDict([...Object.entries(base), ['id', this.#parts.opts.id]]));
  }

  #askDevice(request: PlainDict): Promise<Value> {
    if (!this.#proxy) throw new HaliteError('daemon.unreachable', 'This minion has no device');
    return this.#proxy.request(request);
  }

  /** Before the first job: a proxy learns from its pillar what it stands for. Ends the daemon when that says nothing. */
  async #prepare(link: JobLink): Promise<void> {
    await this.#proxy?.prepare(link).catch((error: unknown) => {
      if (error instanceof HaliteError && error.code === 'config.value') this.#fatal(error);
      throw error;
    });
  }

  #newProxy(proxy: ProxyParts, entry: string): ProxyMinion {
    const { opts, log } = this.#parts;
    const link = (): JobLink => this.#masters.best()[0] ?? this.#newMasterlessLink();
    return new ProxyMinion({
      ...{ opts, log, proxy, pool: this.pool, signal: this.#control.signal },
      data: (of) => this.#data.of(of ?? link()),
      services: (of) => this.#environment.services(of ?? link()),
      refreshGrains: () => this.#environment.services(link()).refreshGrains(),
      // Both have options that the pillar may have changed.
      settled: () => {
        this.#data.forgetAll();
        this.#scheduler = this.#newScheduler();
        this.#beacons = this.#newBeacons(entry);
      },
      reload: () => this.#environment.services(link()).reloadExtensions(),
    });
  }

  /** Also one for all masters; events go to each of them. */
  #newBeacons(entry: string): MinionBeacons {
    const { opts, log } = this.#parts;
    const masters = this.#masters;
    const link = (): JobLink => masters.best()[0] ?? this.#newMasterlessLink();
    return new MinionBeacons({
      ...{ opts, log, entry, idleMs: idleProcessMs },
      grains: () => this.grains.get(),
      pillar: () => masters.best()[0]?.pillar ?? newDict(),
      data: () => this.#data.of(link()),
      services: () => this.#environment.services(link()),
      masters: () => masters.ready(),
      told: (tag, data) => this.#told.fire(tag, data),
    });
  }

  #newEngines(entry: string): Engines {
    const { opts, log } = this.#parts;
    const link = (): JobLink => this.#masters.best()[0] ?? this.#newMasterlessLink();
    return minionEngines({
      ...{ opts, log, entry, told: this.#told },
      grains: () => this.grains.get(),
      data: () => this.#data.of(link()),
      services: () => this.#environment.services(link()),
    });
  }
}
