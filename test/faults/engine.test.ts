// Faults of the engine of a cluster, one row of a table for each: how long until everything works again, and what was lost.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { LedgerItem } from '../../src/engine/cluster/messages.ts';
import { openMember, removeMember, type TestMember } from '../support/cluster-member.ts';
import { buildMember, MemberProcess } from '../support/cluster-processes.ts';
import { eventually } from '../support/eventually.ts';
import { Network, whyNoNamespaces } from '../support/namespaces.ts';
import { type NatsCluster, natsPrograms, startNats } from '../support/servers/nats.ts';
import { type RunningServer, startServer } from '../support/servers/server.ts';
import { slowLink } from '../support/slow-link.ts';

const jid = '20261118120000000000';
const server = natsPrograms().at(-1);
const rows: string[] = [];
const undo: (() => Promise<void> | void)[] = [];
let program = '';

beforeAll(async () => {
  program = await buildMember();
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});
afterAll(() => {
  rmSync(program, { force: true });
  if (rows.length > 0)
    console.log(['row  fault                                     back after   sent   lost', ...rows].join('\n'));
});

/** A row of the table; nothing may be lost. */
function row(number: number, fault: string, seconds: number, sent: number, ids: ReadonlySet<string>): void {
  const lost = Array.from({ length: sent }, (_, n) => `id${n}`).filter((id) => !ids.has(id)).length;
  rows.push(
    `${String(number).padEnd(4)} ${fault.padEnd(41)} ${seconds.toFixed(1).padStart(8)} s ${String(sent).padStart(8)} ${String(lost).padStart(6)}`,
  );
  expect(lost).toBe(0);
}

const seconds = (since: number): number => (performance.now() - since) / 1000;

function read(member: TestMember): Set<string> {
  const ids = new Set<string>();
  const { signal } = new AbortController();
  void member.cluster.ledger.follow(
    undefined,
    async ({ items }) => {
      for (const item of items as (LedgerItem & { id: string })[]) ids.add(item.id);
    },
    signal,
  );
  return ids;
}

async function threeServers(): Promise<NatsCluster> {
  const nats = await startNats(server!.program, 3);
  undo.push(() => nats.stop());
  return nats;
}

async function memberOf(servers: readonly string[], id = 'm1'): Promise<TestMember> {
  const member = await openMember({ id, servers });
  undo.push(async () => {
    await member.close();
    removeMember(member);
  });
  return member;
}

function processOf(
  servers: readonly string[],
  id: string,
  more: { insecure?: boolean; prefix?: string[] } = {},
): MemberProcess {
  const { prefix = [], ...plan } = more;
  const member = new MemberProcess(program, { id, servers, ...plan }, prefix);
  undo.push(async () => {
    member.kill('SIGKILL');
    await member.ended();
    member.remove();
  });
  return member;
}

/** Which server leads a stream. */
async function leaderOf(nats: NatsCluster, stream: string): Promise<number> {
  const nc = await connect({ servers: [...nats.servers] });
  const info = (await (await nc.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: 10_000 })).json()) as {
    cluster: { leader: string };
  };
  await nc.close();
  return Number(info.cluster.leader.slice(1));
}

/** What test/backends/cluster-faults.test.ts shows at a smaller scale runs by HALITE_CLUSTER_LONG only. */
const isLong = process.env['HALITE_CLUSTER_LONG'] !== undefined;
const onServers = (name: string, test: () => Promise<void>): void => {
  if (server && isLong) it(name, test);
};

onServers('rows 4 and 5: a server is killed, and the one that leads the history', async () => {
  const nats = await threeServers();
  const reader = await memberOf(nats.servers);
  const ids = read(reader);
  const writer = processOf(nats.servers, 'm2');
  await writer.event('open');
  let sent = 0;
  for (const [number, fault] of [
    [4, 'server killed, not the leader'],
    [5, 'leader of the stream killed'],
  ] as const) {
    const leader = await leaderOf(nats, 'HALITE_test_LOG');
    const node = nats.nodes[number === 5 ? leader : (leader + 1) % 3]!;
    const began = performance.now();
    process.kill(node.pid, 'SIGKILL');
    writer.order({ do: 'append', key: jid, from: sent, count: 500 });
    sent += 500;
    await eventually('all to be there', () => ids.size >= sent);
    row(number, fault, seconds(began), sent, ids);
    await node.pause();
    await node.start();
    await eventually('the member to be joined', async () => (await writer.tell())['state'] === 'joined');
    await eventually('a leader', () =>
      leaderOf(nats, 'HALITE_test_LOG').then(
        () => true,
        () => false,
      ),
    );
  }
});

onServers('rows 6 and 7: the majority is lost, then all data', async () => {
  const nats = await threeServers();
  const reader = await memberOf(nats.servers);
  const ids = read(reader);
  const writer = processOf(nats.servers, 'm2');
  await writer.event('open');
  for (const node of nats.nodes.slice(0, 2)) process.kill(node.pid, 'SIGSTOP');
  writer.order({ do: 'append', key: jid, from: 0, count: 2000 });
  await writer.event('change', (event) => event['state'] === 'cut-off');
  expect(reader.cluster.state.kind).toBe('cut-off');
  let began = performance.now();
  for (const node of nats.nodes.slice(0, 2)) process.kill(node.pid, 'SIGCONT');
  await eventually('all to be there', () => ids.size >= 2000);
  row(6, 'majority of the servers lost', seconds(began), 2000, ids);
  for (const node of nats.nodes) await node.pause();
  for (const node of nats.nodes) rmSync(join(node.folder, 'store'), { recursive: true, force: true });
  began = performance.now();
  writer.order({ do: 'append', key: jid, from: 2000, count: 1000 });
  await Promise.all(nats.nodes.map((node) => node.start()));
  await eventually('new items', () => ids.size >= 3000, {
    timeoutMs: 120_000,
    describe: () => `${ids.size}\n${reader.log.slice(-12).join('\n')}`,
  });
  expect(reader.changes.some(({ kind }) => kind === 'engine-lost-data')).toBe(true);
  row(7, 'all data of the servers lost', seconds(began), 3000, ids);
});

if (server)
  it('row 14: a link of 300 ms and 1 Mbit/s', async () => {
    const nats = await threeServers();
    const reader = await memberOf(nats.servers);
    const ids = read(reader);
    const link = await slowLink(nats.nodes[0]!.port, 150, 125_000);
    undo.push(() => link.close());
    const writer = processOf([`nats://127.0.0.1:${link.port}`], 'm2');
    await writer.event('open');
    const began = performance.now();
    writer.order({ do: 'append', key: jid, from: 0, count: 1000 });
    await eventually('all to be there', () => ids.size >= 1000);
    expect(writer.events.some((event) => event['state'] === 'cut-off')).toBe(false);
    row(14, 'slow link: 300 ms, 1 Mbit/s', seconds(began), 1000, ids);
  });

const noNamespaces = whyNoNamespaces();
if (noNamespaces !== undefined) console.error(`SKIPPED: faults with network namespaces: ${noNamespaces}`);
const onMachines = (name: string, test: () => Promise<void>): void => {
  if (server && noNamespaces === undefined) it(name, test);
};

onMachines('row 12: one server is cut off from the two others', async () => {
  const names = ['n0', 'n1', 'n2', 'ma', 'mb'];
  const network = new Network(names);
  undo.push(() => network.close());
  const nodes: RunningServer[] = [];
  undo.push(async () => {
    for (const node of nodes) await node.stop();
  });
  const hosts = names.slice(0, 3);
  for (const [at, host] of hosts.entries()) {
    const address = network.address(host);
    const routes = hosts.map((other) => `"nats://${network.address(other)}:6222"`).join(', ');
    nodes.push(
      await startServer({
        name: host,
        port: 4222,
        prepare: (folder) =>
          writeFileSync(
            join(folder, 'nats.conf'),
            `listen: "${address}:4222"\nserver_name: n${at}\nping_interval: "2s"\njetstream { store_dir: "${folder}/store" }\ncluster { name: test, listen: "${address}:6222", routes: [${routes}] }\n`,
          ),
        command: (_port, folder) => ['env', ...network.on(host), server!.program, '-c', join(folder, 'nats.conf')],
        ready: async () => {
          const [file, ...args] = [...network.on(host), 'bash', '-c', `exec 3<>/dev/tcp/${address}/4222`];
          if (spawnSync(file!, args).status !== 0) throw new Error('it does not listen yet');
        },
        signal: 'SIGKILL',
      }),
    );
  }
  const servers = hosts.map((host) => `nats://${network.address(host)}:4222`);
  const members = [
    processOf(servers, 'm1', { insecure: true, prefix: network.on('ma') }),
    processOf(servers, 'm2', { insecure: true, prefix: network.on('mb') }),
  ];
  for (const member of members) await member.event('open');
  // The one that a member uses, so that this member has to find another one.
  const used = String((await members[0]!.tell())['server']);
  const alone = hosts.find((host) => used.startsWith(`${network.address(host)}:`))!;
  const others = hosts.filter((host) => host !== alone);
  const began = performance.now();
  for (const other of others) network.cut(alone, other);
  for (const member of members) member.order({ do: 'append', key: jid, from: 0, count: 200 });
  await eventually(
    'both to have sent all',
    async () => {
      const told = await Promise.all(members.map((member) => member.tell()));
      return told.every((one) => one['acknowledged'] === 200 && one['state'] === 'joined' && one['members'] === 2);
    },
    { timeoutMs: 120_000 },
  );
  row(12, 'servers split 1 : 2', seconds(began), 0, new Set());
  expect((await members[0]!.tell())['server']).not.toBe(used);
  for (const other of others) network.heal(alone, other);
});

onMachines('row 18: the disk of a server is full', async () => {
  const nats = await threeServers();
  const leader = await leaderOf(nats, 'HALITE_test_LOG').catch(() => 0);
  const node = nats.nodes[leader]!;
  await node.pause();
  const store = join(node.folder, 'store');
  rmSync(store, { recursive: true, force: true });
  mkdirSync(store);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', store]).status !== 0) {
    console.error('SKIPPED: row 18: this machine allows no tmpfs');
    return;
  }
  undo.push(async () => {
    await node.pause();
    spawnSync('umount', [store]);
  });
  await node.start();
  const reader = await memberOf(nats.servers);
  const ids = read(reader);
  const writer = processOf(nats.servers, 'm2');
  await writer.event('open');
  const { bavail, bsize } = statfsSync(store);
  writeFileSync(join(store, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - 400_000)));
  const began = performance.now();
  writer.order({ do: 'append', key: jid, from: 0, count: 20_000 });
  await eventually('all to be there', () => ids.size >= 20_000, {
    timeoutMs: 120_000,
    describe: () => String(ids.size),
  });
  row(18, 'disk of one server full', seconds(began), 20_000, ids);
});
