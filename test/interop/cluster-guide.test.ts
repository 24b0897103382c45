// The guide for a cluster, step by step with its own commands: one master becomes three and one again, while a real Salt
// minion and a Halite minion work and are not touched.
import { readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginCluster, haliteOn, machine, startServers, together } from '../support/cluster-growth.ts';
import type { CommandResult, Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';
import { type NatsCluster, natsPrograms } from '../support/servers/nats.ts';

const minions = ['halite1', 'salt1'];
let nats: NatsCluster;
let masters: [Deployment, Deployment, Deployment];
const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/cluster.md'), 'utf8');
let read = 0;

/** A command that the guide names behind those before it; throws when it does not. */
function words(command: string): string[] {
  const at = guide.indexOf(`\`${command}`, read);
  if (at < 0) throw new Error(`the guide does not name this here: ${command}`);
  read = at;
  return command.split(' ').slice(1);
}
async function good(done: Promise<CommandResult>): Promise<string> {
  const { stdout, stderr, code } = await done;
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}
const runs = (on: Deployment, command: string): Promise<string> => good(on.run('salt-run', words(command)));

describe.skipIf(natsPrograms().length === 0)('the guide for a cluster', () => {
  beforeAll(async () => {
    nats = await startServers();
    masters = (await Promise.all(['m1', 'm2', 'm3'].map((id) => machine(id)))) as typeof masters;
    const [m1] = masters;
    await m1.startMaster();
    m1.startMinion('halite1');
    m1.startMinion('salt1', saltRelease('3006.27'));
    await m1.answering(...minions);
  });
  afterAll(async () => {
    await Promise.all((masters ?? []).map((each) => each.destroy()));
    await nats?.stop();
  });

  it('makes three masters of one, and one of three, and nothing is lost', async () => {
    const [m1, m2, m3] = masters;
    const processes = minions.map((id) => m1.minion(id).pid);
    const said: string[] = [];
    /** A job of this master, with the results of both minions. */
    const works = async (on: Deployment, text: string): Promise<void> => {
      const answers = await on.json('-L', minions.join(','), 'test.echo', text, '-t', '30');
      expect(answers).toEqual(Object.fromEntries(minions.map((id) => [id, text])));
      said.push(text);
    };
    await works(m1, 'alone');
    words('halite cluster init prod tls://n1:4222 tls://n2:4222 tls://n3:4222');
    await m1.master.stop();
    await beginCluster(m1, nats);
    await m1.startMaster();
    await m1.answering(...minions);
    for (const [at, next] of [m2, m3].entries()) {
      read = guide.indexOf('For each further master');
      const line = (await runs(m1, 'salt-run cluster.invite')).trim();
      // The minions have work while the machine joins.
      const busy = works(m1, `while ${at + 2} joins`);
      await good(haliteOn(next, words('halite cluster join'), line));
      await next.startMaster();
      await busy;
      words('salt-run cluster.status');
      await together(masters.slice(0, at + 2));
    }
    for (const [at, master] of masters.entries()) await works(master, `asked by m${at + 1}`);
    for (const [id, stays] of [
      ['m3', m2],
      ['m2', m1],
    ] as const) {
      read = guide.indexOf('## A master leaves');
      const leaving = masters[id === 'm3' ? 2 : 1];
      const as = (command: string): string => command.replace('m3', id);
      const drain = words('salt-run cluster.drain m3').map(as);
      expect(await good(stays.run('salt-run', drain))).toMatch(/holds nothing/);
      await leaving.master.stop();
      const forget = words('salt-run cluster.forget m3').map(as);
      await eventually(
        `${id} to be gone`,
        async () => (await stays.run('salt-run', ['cluster.status'])).stdout.includes(`${id} is gone`),
        { timeoutMs: 120_000 },
      );
      expect(await good(stays.run('salt-run', forget))).toMatch(/nothing is lost/);
      await works(m1, `without ${id}`);
    }
    await m1.master.stop();
    rmSync(m1.path('etc/master.d/cluster.conf'));
    await m1.startMaster();
    await m1.answering(...minions);
    await works(m1, 'alone again');
    const jobs = await good(m1.run('salt-run', ['jobs.list_jobs', '--out=json']));
    for (const [jid, job] of Object.entries(
      JSON.parse(jobs) as Record<string, { Arguments: unknown[]; Function: string }>,
    )) {
      if (job.Function !== 'test.echo') continue;
      const [text] = job.Arguments;
      const results = JSON.parse(await good(m1.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']))) as object;
      expect(results).toEqual(Object.fromEntries(minions.map((id) => [id, text])));
      expect(said.splice(said.indexOf(String(text)), 1)).toEqual([text]);
    }
    expect(said).toEqual([]);
    expect(minions.map((id) => m1.minion(id).pid)).toEqual(processes);
    expect(minions.every((id) => m1.minion(id).running)).toBe(true);
  });
});
