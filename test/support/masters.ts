// Several masters as one, on nats-servers of the test: each in a folder of its own, with copied keys as operators make it.
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { openDatabase } from '../../src/store/sqlite/driver.ts';
import { Deployment, type DeploymentOptions, halite, type Implementation } from './deployment.ts';
import { eventually } from './eventually.ts';
import { type NatsCluster, natsPrograms, startNats } from './servers/nats.ts';

export interface MastersPlan extends DeploymentOptions {
  readonly count?: number;
  readonly servers?: 1 | 3;
  /** Lines below `cluster:`, as `ack: quorum`. */
  readonly cluster?: readonly string[];
}

export class Masters {
  readonly nats: NatsCluster;
  readonly all: readonly Deployment[];

  private constructor(nats: NatsCluster, all: readonly Deployment[]) {
    this.nats = nats;
    this.all = all;
  }

  /** All masters are started; they are called m1, m2, m3. */
  static async start(plan: MastersPlan = {}): Promise<Masters> {
    const { count = 3, servers = 1, cluster = [], ...options } = plan;
    const program = natsPrograms().at(-1)?.program;
    if (program === undefined) throw new Error('there is no nats-server');
    const nats = await startNats(program, servers);
    const all: Deployment[] = [];
    const masters = new Masters(nats, all);
    const busKey = `1 ${randomBytes(32).toString('base64')}\n`;
    try {
      for (let at = 0; at < count; at++) {
        const master = await Deployment.create(options);
        all.push(master);
        const lines = [`id: m${at + 1}`, 'cluster:', '  name: test', `  servers: [${nats.servers.join(', ')}]`];
        lines.push(`  replicas: ${servers}`, '  log_mb: 512', ...cluster.map((line) => `  ${line}`), '');
        appendFileSync(master.path('etc/master'), lines.join('\n'));
        const [first] = all;
        if (first && first !== master) cpSync(first.path('etc/pki'), master.path('etc/pki'), { recursive: true });
        mkdirSync(master.path('etc/pki/master'), { recursive: true, mode: 0o700 });
        // Each has one of its own.
        rmSync(master.path('etc/pki/master/cluster_identity.pem'), { force: true });
        writeFileSync(master.path('etc/pki/master/cluster_bus.key'), busKey, { mode: 0o600 });
        await master.startMaster();
      }
      await masters.together();
    } catch (error) {
      await masters.destroy();
      throw error;
    }
    return masters;
  }

  master(at: number): Deployment {
    return this.all[at]!;
  }

  /** Waits until each of them has joined. */
  async together(): Promise<void> {
    await eventually('all masters to join', () => this.all.every(({ master }) => master.said(['joined the cluster'])), {
      timeoutMs: 120_000,
      describe: () => this.all.map(({ master }) => master.output().slice(-2000)).join('\n---\n'),
    });
  }

  /** A minion of all masters, or of those named; its folder is that of the first of them. */
  startMinion(id: string, implementation: Implementation = halite, extra: readonly string[] = [], of = this.all): void {
    const first = of[0]!;
    const folder = first.path(id, 'etc/minion.d');
    mkdirSync(folder, { recursive: true });
    const addresses = of.map(({ ports }) => `'127.0.0.1:${ports.requests}'`);
    writeFileSync(`${folder}/masters.conf`, [`master: [${addresses.join(', ')}]`, ...extra, ''].join('\n'));
    first.startMinion(id, implementation);
  }

  async answering(ids: readonly string[], of = this.all): Promise<void> {
    for (const master of of) await master.answering(...ids);
  }

  /** Waits until all have the same results, and the ledger has them all; returns these. */
  async sameHistory(timeoutMs = 30_000): Promise<Record<string, unknown>[]> {
    let found: Record<string, unknown>[][] = [];
    const equal = async (): Promise<boolean> => {
      found = await Promise.all(this.all.map((master) => historyOf(master, results)));
      const [one = [], ...others] = found.map((each) => JSON.stringify(each));
      return others.every((other) => other === one) && !found[0]?.some((row) => row['place'] === -1);
    };
    const describe = (): string => `${found.map((each) => each.length).join(', ')} results`;
    await eventually('all masters to have the same history', equal, { timeoutMs, describe });
    return found[0] ?? [];
  }

  async destroy(): Promise<void> {
    await Promise.all(this.all.map((master) => master.destroy()));
    await this.nats.stop();
  }
}

const results =
  'SELECT jid, id, fun, retcode, full_ret, received, attempt, place, digest, via FROM ret ORDER BY jid, id';

/** The history of a master, read from its file. */
export async function historyOf(master: Deployment, sql: string): Promise<Record<string, unknown>[]> {
  const db = await openDatabase(master.path('cache/master/halite.db'), { readonly: true });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}
