// A field of machines for faults: three nats-servers, three masters, simulated and real minions, each in a network namespace
// of its own, so that any two of them can be cut from each other.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram, LineProcess } from './cluster-processes.ts';
import { Deployment, halite, type Implementation } from './deployment.ts';
import { eventually } from './eventually.ts';
import { Network } from './namespaces.ts';
import { natsPrograms } from './servers/nats.ts';
import { type RunningServer, startServer } from './servers/server.ts';

export interface FieldPlan {
  readonly masters?: number;
  /** Minions of all masters, each on a machine of its own that is called like it. */
  readonly minions?: Readonly<Record<string, Implementation>>;
  /** How many simulated minions each master has. */
  readonly simulated?: number;
  readonly masterConfig?: string;
  /** Lines below `cluster:`. */
  readonly cluster?: readonly string[];
  /** In front of the program of a master: another clock, for example. */
  readonly before?: (master: string, folder: string) => readonly string[];
  /** The build of each master. */
  readonly build?: Implementation;
  /** Before the start of a master. */
  readonly prepare?: (master: Deployment, id: string) => void;
}

const ports = { publish: 4505, requests: 4506 };
const servers = ['n1', 'n2', 'n3'];

export class Field {
  readonly network: Network;
  readonly nats: RunningServer[] = [];
  readonly masters: Deployment[] = [];
  readonly fleets: LineProcess[] = [];
  readonly plan: FieldPlan;
  #program = '';

  private constructor(plan: FieldPlan) {
    this.plan = plan;
    const sims = plan.simulated ? this.masterIds.map((_, at) => `f${at + 1}`) : [];
    this.network = new Network([...servers, ...this.masterIds, ...sims, ...this.minionIds]);
  }

  get masterIds(): string[] {
    return Array.from({ length: this.plan.masters ?? 3 }, (_, at) => `m${at + 1}`);
  }
  get minionIds(): string[] {
    return Object.keys(this.plan.minions ?? {});
  }
  get serverIds(): readonly string[] {
    return servers;
  }

  static async start(plan: FieldPlan): Promise<Field> {
    const field = new Field(plan);
    try {
      await Promise.all(servers.map((_, at) => field.#startServer(at)));
      for (const at of field.masterIds.keys()) await field.#addMaster(at);
      await field.together();
      for (const [id, implementation] of Object.entries(plan.minions ?? {})) field.startMinion(id, implementation);
      if (plan.simulated) await field.#startFleets(plan.simulated);
    } catch (error) {
      await field.destroy();
      throw error;
    }
    return field;
  }

  async #startServer(at: number): Promise<void> {
    const program = natsPrograms().at(-1)?.program;
    if (program === undefined) throw new Error('there is no nats-server');
    const [name, { network }] = [servers[at]!, this];
    const address = network.address(name);
    const routes = servers.map((other) => `"nats://${network.address(other)}:6222"`).join(', ');
    const lines = [
      `listen: "${address}:4222"`,
      `server_name: ${name}`,
      'ping_interval: "2s"',
      `cluster { name: test, listen: "${address}:6222", routes: [${routes}] }`,
    ];
    const server = await startServer({
      ...{ name, port: 4222, signal: 'SIGKILL' },
      prepare: (folder) =>
        writeFileSync(join(folder, 'nats.conf'), [...lines, `jetstream { store_dir: "${folder}/store" }`].join('\n')),
      command: (_port, folder) => ['env', ...network.on(name), program, '-c', join(folder, 'nats.conf')],
      ready: async () => {
        const [file, ...args] = [...network.on(name), 'bash', '-c', `exec 3<>/dev/tcp/${address}/4222`];
        if (spawnSync(file!, args).status !== 0) throw new Error('it does not listen yet');
      },
    });
    this.nats[at] = server;
  }

  readonly #busKey = `1 ${randomBytes(32).toString('base64')}\n`;

  async #addMaster(at: number): Promise<void> {
    const { plan, network } = this;
    const id = this.masterIds[at]!;
    const { masterConfig = '' } = plan;
    const master = await Deployment.create({ interface: network.address(id), ports, masterConfig });
    this.masters.push(master);
    const urls = servers.map((name) => `nats://${network.address(name)}:4222`);
    const lines = [`id: ${id}`, 'cluster:', '  name: test', `  servers: [${urls.join(', ')}]`, '  insecure: true'];
    lines.push('  replicas: 3', '  log_mb: 512', ...(plan.cluster ?? []).map((line) => `  ${line}`), '');
    appendFileSync(master.path('etc/master'), lines.join('\n'));
    const first = this.masters[0]!;
    if (first !== master) cpSync(first.path('etc/pki'), master.path('etc/pki'), { recursive: true });
    mkdirSync(master.path('etc/pki/master'), { recursive: true, mode: 0o700 });
    writeFileSync(master.path('etc/pki/master/cluster_bus.key'), this.#busKey, { mode: 0o600 });
    plan.prepare?.(master, id);
    await master.startMaster(this.buildFor(id, plan.build));
  }

  /** A build as it runs on the machine of a master. */
  buildFor(id: string, build: Implementation = halite): Implementation {
    const folder = this.masters[this.masterIds.indexOf(id)]!.root;
    return { ...build, before: [...this.network.on(id), ...(this.plan.before?.(id, folder) ?? [])] };
  }

  master(id: string): Deployment {
    return this.masters[this.masterIds.indexOf(id)]!;
  }
  /** Those whose process runs. */
  get running(): Deployment[] {
    return this.masters.filter(({ master }) => master.running);
  }

  /** Its folder is that of a master: another one's for a second machine with the same id. */
  startMinion(id: string, implementation: Implementation = halite, machine = id, folderOf = this.masters[0]!): void {
    const folder = folderOf.path(id, 'etc/minion.d');
    mkdirSync(folder, { recursive: true });
    const addresses = this.masterIds.map((master) => `'${this.network.address(master)}:${ports.requests}'`);
    const lines = [`master: [${addresses.join(', ')}]`, 'cache_jobs: True', ''];
    writeFileSync(join(folder, 'masters.conf'), lines.join('\n'));
    folderOf.startMinion(id, { ...implementation, before: this.network.on(machine) });
  }

  async #startFleets(count: number): Promise<void> {
    this.#program = await buildProgram('fleet-process');
    for (const [at, id] of this.masterIds.entries()) {
      const prefix = `${id}-sim`;
      const plan = { host: this.network.address(id), port: ports.requests, count, prefix };
      this.fleets.push(new LineProcess(prefix, this.#program, plan, this.network.on(`f${at + 1}`)));
    }
    for (const fleet of this.fleets) await fleet.event('open');
  }

  /** Waits until each running master has joined. */
  async together(timeoutMs = 60_000): Promise<void> {
    const joined = (): boolean => this.running.every(({ master }) => master.said(['joined the cluster']));
    await eventually('all masters to join', joined, { timeoutMs, describe: () => this.logs() });
  }

  logs(length = 2500): string {
    return this.masters.map(({ master }) => `--- ${master.log}\n${master.output().slice(-length)}`).join('\n');
  }

  async destroy(): Promise<void> {
    this.network.healAll();
    for (const fleet of this.fleets) fleet.kill('SIGKILL');
    await Promise.all(this.fleets.map((fleet) => fleet.ended()));
    await Promise.all(this.masters.map((master) => master.destroy()));
    await Promise.all(this.nats.map((server) => server?.stop()));
    this.network.close();
    rmSync(this.#program, { force: true });
  }
}
