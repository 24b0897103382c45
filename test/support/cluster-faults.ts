// What can break in a field of machines: each fault of the table of failures does its harm, waits until it is seen, and
// mends it again. Tests and the random schedule use the same ones.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Field } from './cluster-field.ts';
import { ask } from './cluster-load.ts';
import type { Deployment } from './deployment.ts';
import { eventually } from './eventually.ts';

export interface Fault {
  readonly row: number;
  readonly name: string;
  /** Takes some seconds only. */
  readonly quick?: boolean;
  /** Resolves with the moment from which on everything should be well again. */
  run(field: Field, pick: (count: number) => number): Promise<number>;
}

const now = (): number => performance.now();

export async function runner<T>(master: Deployment, ...args: string[]): Promise<T> {
  const { stdout, stderr } = await master.run('salt-run', [...args, '--out=json']);
  if (stdout.trim() === '') throw new Error(`salt-run ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface MemberSeen {
  readonly state: string;
  readonly leads?: boolean;
}

/** What a master says of the members. */
export const membersAt = (master: Deployment): Promise<Record<string, MemberSeen>> =>
  runner<Record<string, MemberSeen>>(master, 'cluster.members').catch(() => ({}));

export async function seen(what: string, master: Deployment, member: string, state: string): Promise<void> {
  let last: unknown;
  const test = async (): Promise<boolean> => {
    const members = await membersAt(master);
    last = members;
    return members[member]?.state === state;
  };
  await eventually(what, test, { timeoutMs: 120_000, describe: () => JSON.stringify(last) });
}

/** For faults that nobody sees: until each master has had this many more jobs answered by all that could. */
export async function jobsGoOn(field: Field, ids: readonly string[], count = 2): Promise<void> {
  for (let n = 0; n < count; n++) {
    for (const master of field.running) {
      const complete = async (): Promise<boolean> => {
        const { answers } = await ask(master, ids, 'test.ping', { seconds: 10 });
        return ids.every((id) => answers.has(id));
      };
      await eventually(`${ids.join(', ')} to answer`, complete, { timeoutMs: 120_000, describe: () => field.logs() });
    }
  }
}

const other = (field: Field, id: string): Deployment =>
  field.masters.find((master) => master !== field.master(id) && master.master.running)!;

export async function leaderId(field: Field): Promise<string> {
  let found: string | undefined;
  await eventually('a leader', async () => {
    const [[id] = []] = Object.entries(await membersAt(field.running[0]!)).filter(([, { leads }]) => leads === true);
    found = id;
    return found !== undefined;
  });
  return found!;
}

const signalGroup = (pid: number, signal: NodeJS.Signals): boolean => process.kill(-pid, signal);

/** The server that leads the history, by what the servers say. */
async function leadingServer(field: Field): Promise<number> {
  const { nats } = field;
  const asked = `$JS.API.STREAM.INFO.HALITE_test_LOG`;
  const script = `import('@nats-io/transport-node').then(async ({ connect }) => {
    const nc = await connect({ servers: process.argv[1].split(',') });
    const info = (await nc.request('${asked}', '', { timeout: 10000 })).json();
    console.log(info.cluster.leader ?? '');
    await nc.close();
  })`;
  const urls = field.serverIds.map((id) => `nats://${field.network.address(id)}:4222`).join(',');
  const { runProgram } = await import('./deployment.ts');
  const [file, ...args] = [...field.network.on('m1'), process.execPath, '-e', script, urls];
  const { stdout } = await runProgram(file!, args);
  const at = field.serverIds.indexOf(stdout.trim());
  return at >= 0 && nats[at] ? at : 0;
}

const real = (field: Field): string[] => field.minionIds;

async function killServer(field: Field, at: number, whileGone: () => Promise<void>): Promise<number> {
  const node = field.nats[at]!;
  process.kill(node.pid, 'SIGKILL');
  await whileGone();
  await node.pause();
  await node.start();
  return now();
}

export const faults: readonly Fault[] = [
  {
    ...{ row: 1, name: 'a master killed' },
    run: async (field, pick) => {
      const id = field.masterIds[pick(field.masterIds.length)]!;
      await field.master(id).master.stop('SIGKILL');
      await seen('its death to be noticed', other(field, id), id, 'gone');
      await field.master(id).startMaster();
      await field.together();
      return now();
    },
  },
  {
    ...{ row: 2, name: 'the leader frozen for 20 s' },
    run: async (field) => {
      const id = await leaderId(field);
      const { pid } = field.master(id).master;
      const began = now();
      signalGroup(pid, 'SIGSTOP');
      try {
        await seen('it to be taken for gone', other(field, id), id, 'gone');
        await eventually('20 s to pass', () => now() - began > 20_000);
      } finally {
        signalGroup(pid, 'SIGCONT');
      }
      return now();
    },
  },
  {
    ...{ row: 3, name: 'the machine of a master vanishes' },
    run: async (field, pick) => {
      const id = field.masterIds[pick(field.masterIds.length)]!;
      field.network.unplug(id);
      await seen('its death to be noticed', other(field, id), id, 'gone');
      await field.master(id).master.stop('SIGKILL');
      field.network.plug(id);
      await field.master(id).startMaster();
      await field.together();
      return now();
    },
  },
  {
    ...{ row: 4, name: 'a nats-server killed, not the leader', quick: true },
    run: async (field) => {
      const leader = await leadingServer(field);
      return killServer(field, (leader + 1) % 3, () => jobsGoOn(field, real(field)));
    },
  },
  {
    ...{ row: 5, name: 'the leader of the history killed', quick: true },
    run: async (field) => killServer(field, await leadingServer(field), () => jobsGoOn(field, real(field))),
  },
  {
    ...{ row: 6, name: 'two of three nats-servers gone' },
    run: async (field) => {
      const gone = field.nats.slice(0, 2);
      for (const { pid } of gone) process.kill(pid, 'SIGSTOP');
      try {
        for (const id of field.masterIds) await seen('it to be cut off', field.master(id), id, 'cut off');
        await jobsGoOn(field, real(field), 1);
      } finally {
        for (const { pid } of gone) process.kill(pid, 'SIGCONT');
      }
      return now();
    },
  },
  {
    ...{ row: 7, name: 'all data of the nats-servers lost' },
    run: async (field) => {
      for (const node of field.nats) await node.pause();
      for (const node of field.nats) rmSync(join(node.folder, 'store'), { recursive: true, force: true });
      await Promise.all(field.nats.map((node) => node.start()));
      return now();
    },
  },
  {
    ...{ row: 8, name: 'a master cut from NATS', quick: true },
    run: async (field, pick) => {
      const id = field.masterIds[pick(field.masterIds.length)]!;
      for (const server of field.serverIds) field.network.cut(id, server);
      await seen('it to be cut off', field.master(id), id, 'cut off');
      await seen('the others to notice', other(field, id), id, 'gone');
      await jobsGoOn(field, real(field), 1);
      for (const server of field.serverIds) field.network.heal(id, server);
      return now();
    },
  },
  {
    ...{ row: 9, name: 'masters cut from each other', quick: true },
    run: async (field) => {
      field.network.cut('m1', 'm2');
      field.network.cut('m1', 'm3');
      await jobsGoOn(field, real(field), 2);
      const members = Object.values(await membersAt(field.master('m1')));
      if (members.some(({ state }) => state !== 'joined')) throw new Error(JSON.stringify(members));
      field.network.heal('m1', 'm2');
      field.network.heal('m1', 'm3');
      return now();
    },
  },
  {
    ...{ row: 10, name: 'minions cut from one master', quick: true },
    run: async (field, pick) => {
      const id = field.masterIds[pick(field.masterIds.length)]!;
      for (const minion of real(field)) field.network.cut(id, minion);
      await jobsGoOn(field, real(field), 1);
      for (const minion of real(field)) field.network.heal(id, minion);
      return now();
    },
  },
  {
    ...{ row: 11, name: 'minions cut from all' },
    run: async (field, pick) => {
      for (const minion of real(field)) field.network.unplug(minion);
      const master = field.masters[pick(field.masters.length)]!;
      await eventually(
        'them to be missed',
        async () => {
          const { missing } = await ask(master, real(field), 'test.ping', { seconds: 2 });
          return real(field).every((minion) => missing.has(minion));
        },
        { timeoutMs: 120_000 },
      );
      for (const minion of real(field)) field.network.plug(minion);
      return now();
    },
  },
  {
    ...{ row: 12, name: 'a nats-server cut from the others', quick: true },
    run: async (field) => {
      for (const server of ['n2', 'n3']) field.network.cut('n1', server);
      // A master that used it has to find another one; it may be cut off until then.
      await jobsGoOn(field, real(field), 1);
      for (const id of field.masterIds) await seen('it to be joined', field.master(id), id, 'joined');
      for (const server of ['n2', 'n3']) field.network.heal('n1', server);
      return now();
    },
  },
  {
    ...{ row: 13, name: 'a master and a nats-server cut from the rest' },
    run: async (field) => {
      const [here, there] = [
        ['m1', 'n1'],
        ['m2', 'm3', 'n2', 'n3'],
      ] as const;
      for (const one of here) for (const far of there) field.network.cut(one, far);
      await seen('it to be cut off', field.master('m1'), 'm1', 'cut off');
      await seen('the others to notice', field.master('m2'), 'm1', 'gone');
      await jobsGoOn(field, real(field), 1);
      for (const one of here) for (const far of there) field.network.heal(one, far);
      return now();
    },
  },
  {
    ...{ row: 15, name: 'half-open: a master hears NATS, which does not hear it' },
    run: async (field, pick) => {
      const id = field.masterIds[pick(field.masterIds.length)]!;
      for (const server of field.serverIds) field.network.cutOneWay(id, server);
      await seen('it to be cut off', field.master(id), id, 'cut off');
      await jobsGoOn(field, real(field), 1);
      for (const server of field.serverIds) field.network.heal(id, server);
      return now();
    },
  },
];
