// Masters of a cluster behind one address: a balancer gives each connection to the next of them, so that the two
// connections of a minion end on different ones.
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment, type DeploymentOptions, halite, type Implementation } from './deployment.ts';
import { eventually } from './eventually.ts';
import { freePorts } from './ports.ts';
import { listens } from './servers/memcached.ts';
import { type NatsCluster, natsPrograms, startNats } from './servers/nats.ts';
import { preparedProgram, type RunningServer, startServer } from './servers/server.ts';

export interface OneAddressPlan extends Omit<DeploymentOptions, 'interface' | 'ports'> {
  readonly count?: number;
}

const address = '127.0.0.9';
const interfaceOf = (at: number): string => `127.0.0.${at + 1}`;

/** The programs that this needs; undefined when one of them is not here. */
export function oneAddressPrograms(): { nats: string; haproxy: string } | undefined {
  const nats = natsPrograms().at(-1)?.program;
  const haproxy = preparedProgram('haproxy', 'haproxy');
  return nats !== undefined && haproxy !== undefined ? { nats, haproxy } : undefined;
}

export class OneAddress {
  readonly nats: NatsCluster;
  readonly all: Deployment[] = [];
  readonly ports: { readonly publish: number; readonly requests: number };
  readonly #plan: OneAddressPlan;
  readonly #busKey = `1 ${randomBytes(32).toString('base64')}\n`;
  #balancer: RunningServer | undefined;

  private constructor(nats: NatsCluster, ports: OneAddress['ports'], plan: OneAddressPlan) {
    this.nats = nats;
    this.ports = ports;
    this.#plan = plan;
  }

  static async start(plan: OneAddressPlan = {}): Promise<OneAddress> {
    const programs = oneAddressPrograms();
    if (!programs) throw new Error('there is no nats-server, or no haproxy');
    const [publish, requests] = await freePorts(2);
    const masters = new OneAddress(await startNats(programs.nats), { publish: publish!, requests: requests! }, plan);
    try {
      for (let at = 0; at < (plan.count ?? 2); at++) await masters.add();
      masters.#balancer = await startServer({
        name: 'haproxy',
        prepare: (folder, port) => writeFileSync(join(folder, 'haproxy.cfg'), masters.#configuration(port)),
        command: (_port, folder) => [programs.haproxy, '-db', '-f', join(folder, 'haproxy.cfg')],
        ready: listens,
      });
    } catch (error) {
      await masters.destroy();
      throw error;
    }
    return masters;
  }

  /** Writes the configuration of one more member, with the keys of the first, and starts it. */
  async add(prepare: (master: Deployment) => void = () => undefined): Promise<Deployment> {
    const { count: _count, ...options } = this.#plan;
    const at = this.all.length;
    const master = await Deployment.create({ ...options, interface: interfaceOf(at), ports: this.ports });
    this.all.push(master);
    const servers = this.nats.servers.join(', ');
    const lines = [
      `id: m${at + 1}`,
      'cluster:',
      '  name: test',
      `  servers: [${servers}]`,
      '  replicas: 1',
      '  log_mb: 512',
      '',
    ];
    appendFileSync(master.path('etc/master'), lines.join('\n'));
    mkdirSync(master.path('etc/pki/master'), { recursive: true, mode: 0o700 });
    for (const name of ['master.pem', 'master.pub']) {
      const from = this.all[0]!.path('etc/pki/master', name);
      if (at > 0) cpSync(from, master.path('etc/pki/master', name));
    }
    writeFileSync(master.path('etc/pki/master/cluster_bus.key'), this.#busKey, { mode: 0o600 });
    prepare(master);
    await master.startMaster();
    return master;
  }

  master(at: number): Deployment {
    return this.all[at]!;
  }

  /** A minion that knows the one address; its folder is in that of the first master. */
  startMinion(id: string, implementation: Implementation = halite, extra = ''): void {
    const first = this.master(0);
    const folder = first.path(id, 'etc/minion.d');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'address.conf'), `master: ${address}\n`);
    first.startMinion(id, implementation, extra);
  }

  /** Keys are accepted on all members before a job is sent. */
  async answering(...ids: string[]): Promise<void> {
    for (const master of this.all) if (master.master.running) await master.answering(...ids);
  }

  #configuration(statusPort: number): string {
    const servers = this.all.map((_, at) => `m${at + 1} ${interfaceOf(at)}`);
    const listen = (name: string, port: number, order: readonly string[]): string[] => [
      `listen ${name}`,
      `  bind ${address}:${port}`,
      ...order.map((server) => `  server ${server}:${port} check inter 300 fall 1 rise 1`),
    ];
    return [
      'defaults',
      '  mode tcp',
      '  balance roundrobin',
      '  option redispatch',
      '  retries 5',
      '  timeout connect 2s',
      '  timeout client 1h',
      '  timeout server 1h',
      ...listen('requests', this.ports.requests, servers),
      ...listen('publish', this.ports.publish, servers.toReversed()),
      'listen status',
      `  bind 127.0.0.1:${statusPort}`,
      '  server none 127.0.0.1:1',
      '',
    ].join('\n');
  }

  async destroy(): Promise<void> {
    // The first has the folders of the minions.
    await Promise.all(this.all.map((master) => master.destroy()));
    await this.#balancer?.stop();
    await this.nats.stop();
  }

  /** Waits until a condition holds on each running master. */
  async everywhere(what: string, holds: (master: Deployment) => boolean | Promise<boolean>): Promise<void> {
    for (const master of this.all)
      if (master.master.running)
        await eventually(`${what} on each master`, () => holds(master), { describe: () => master.master.output() });
  }
}
