// Members of a cluster without the rest of a master, in this process.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict } from '../../src/base/codec/value.ts';
import { memoryLogger } from '../../src/base/log/testing.ts';
import type { Cluster, ClusterChange } from '../../src/engine/cluster/api.ts';
import { busKeyFile, busKeyText, fileBusKeys } from '../../src/engine/cluster/bus-keys.ts';
import { identityFile, newIdentityPem, readIdentity } from '../../src/engine/cluster/identity.ts';
import type { JobPublication, LedgerItem } from '../../src/engine/cluster/messages.ts';
import { openCluster } from '../../src/engine/cluster/open.ts';
import { readClusterOptions } from '../../src/engine/cluster/options.ts';
import { openHeldSpool } from '../../src/store/spool/held.ts';
import { openSmallTable } from '../../src/store/sqlite/local-table.ts';

export interface TestMember {
  readonly id: string;
  readonly folder: string;
  readonly cluster: Cluster;
  /** Every change that was told. */
  readonly changes: ClusterChange[];
  readonly log: readonly string[];
  close(): Promise<void>;
}

export interface MemberPlan {
  readonly id: string;
  /** Absent: a master without others. */
  readonly servers?: readonly string[];
  readonly name?: string;
  /** Of an earlier member, to go on with what it has on disk. */
  readonly folder?: string;
  readonly key?: Uint8Array;
  /** What others seal for it alone can be opened. */
  readonly hasIdentity?: boolean;
  readonly replicas?: number;
  /** Servers on another address than loopback. */
  readonly insecure?: boolean;
}

/** As in the pki_dir of a master: what is there of an earlier run stays. */
function kept(folder: string, name: string, text: () => string): string {
  const file = join(folder, name);
  if (!existsSync(file)) writeFileSync(file, text(), { mode: 0o400 });
  return file;
}

export async function openMember(plan: MemberPlan): Promise<TestMember> {
  const folder = plan.folder ?? mkdtempSync(join(tmpdir(), `halite-member-${plan.id}-`));
  const table = await openSmallTable(join(folder, 'own.db'));
  const { name = 'test', replicas = 3 } = plan;
  const options =
    plan.servers &&
    newDict([
      ['name', name],
      ['servers', [...plan.servers]],
      ['replicas', replicas],
      ['log_mb', 512],
      ['insecure', plan.insecure === true],
    ]);
  const identity = plan.hasIdentity ? readIdentity(kept(folder, identityFile, newIdentityPem)) : undefined;
  let closeHeld = async (): Promise<void> => undefined;
  const changes: ClusterChange[] = [];
  const { log, lines } = memoryLogger();
  const end = async (): Promise<void> => {
    await closeHeld();
    table.close();
  };
  try {
    const cluster = await openCluster({
      ...{ id: plan.id, table, log, addresses: [`${plan.id}:4506`], keepSeconds: 3600 },
      options: readClusterOptions(options ?? null),
      busKeys: () => fileBusKeys(kept(folder, busKeyFile, () => busKeyText([[1, plan.key ?? Buffer.alloc(32, 7)]]))),
      identity: () => identity,
      held: async () => {
        const { spool, close } = await openHeldSpool(join(folder, 'held'), log);
        closeHeld = close;
        return spool;
      },
    });
    cluster.onChange((change) => changes.push(change));
    return {
      ...{ id: plan.id, folder, cluster, changes, log: lines },
      close: async () => {
        await cluster.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

export const removeMember = ({ folder }: TestMember): void => rmSync(folder, { recursive: true, force: true });

export const publication = (jid: string, ttlMs = 15_000): JobPublication => ({
  ...{ kind: 'job', owner: 0, at: Date.now(), ttlMs },
  job: { jid, fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob' },
});

export const result = (jid: string, id: string, text = 'x'): LedgerItem => ({
  ...{ kind: 'ret', jid, id, attempt: 1, fun: 'test.ping', retcode: 0, success: true, received: Date.now() },
  load: newDict([['return', text]]),
});
