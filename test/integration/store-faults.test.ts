// What happens to results when the master is killed, and when its disk is full.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectLocal } from '../../src/engine/client/local.ts';
import { SimulatedFleet } from '../bench/simulated-fleet.ts';
import { Deployment, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';
import { readIfThere } from '../support/ssh-field.ts';

/** A returner of a user: one file per result, so that a second delivery changes nothing. */
const fileReturner = `
import { writeFileSync, mkdirSync } from 'node:fs';
import { defineReturner, p } from 'halite/sdk';
export default defineReturner({
  name: 'testfiles',
  doc: 'Keeps each result in a file.',
  options: { folder: p.text({ doc: 'where' }) },
  open({ folder }) {
    mkdirSync(folder, { recursive: true });
    return {
      async save(ret) {
        writeFileSync(folder + '/' + ret.jid + ' ' + ret.id, JSON.stringify(ret));
      },
      jobCache: {
        async saveLoad() {},
        async load() { return undefined; },
        async returns() { return new Map(); },
        async lastOf() { return new Map(); },
        async jids() { return new Map(); },
        async minions() { return []; },
      },
    };
  },
});
`;

/** Jobs for all minions, one after the other as fast as the master accepts them. */
async function publishMany(fleet: Deployment, count: number): Promise<void> {
  const client = await connectLocal({ sock_dir: fleet.path('run/master'), cachedir: fleet.path('cache/master') });
  const call = { job: { tgt: '*', tgt_type: 'glob', fun: 'test.ping', arg: [], unwatched: true } };
  for (let n = 0; n < count; n++) for await (const _item of client.publish(call)) void _item;
  client.close();
}

describe('kill -9', () => {
  it('loses none of 5,000 results that were acknowledged, and delivers each to the job cache', async () => {
    const fleet = await Deployment.create();
    onTestFinished(() => fleet.destroy());
    mkdirSync(fleet.path('ext/returners'), { recursive: true });
    writeFileSync(fleet.path('ext/returners/testfiles.mjs'), fileReturner);
    const lines = [`extension_modules: ${fleet.path('ext')}`, 'master_job_cache: testfiles'];
    writeFileSync(
      fleet.path('etc/master.d/cache.conf'),
      [...lines, `testfiles.folder: ${fleet.path('kept')}`, ''].join('\n'),
    );
    await fleet.startMaster();
    const simulated = await SimulatedFleet.start(fleet.ports.requests, 100);
    onTestFinished(() => simulated.close());
    const jobs = publishMany(fleet, 50).catch(() => undefined);
    await eventually('some results', () => simulated.acknowledged.size > 1500);
    await fleet.master.stop('SIGKILL');
    const acknowledged = [...simulated.acknowledged];
    await jobs;
    await fleet.startMaster();
    const { stdout } = await fleet.run('salt-run', ['jobs.query', 'sql=SELECT jid, id FROM ret', '--out=json']);
    const rows = JSON.parse(stdout) as { jid: string; id: string }[];
    const stored = new Set(rows.map(({ jid, id }) => `${jid} ${id}`));
    expect(stored.size).toBe(rows.length);
    expect(acknowledged.filter((key) => !stored.has(key))).toEqual([]);
    const kept = (): Set<string> => new Set(existsSync(fleet.path('kept')) ? readdirSync(fleet.path('kept')) : []);
    await eventually('everything to reach the job cache', () => {
      const there = kept();
      return acknowledged.every((key) => there.has(key));
    });
  });
});

/** What the master flushes to the disk from now on, as strace sees it. */
async function flushes(fleet: Deployment, strace: string): Promise<() => string> {
  const file = fleet.path('flushes');
  const options = ['-f', '-q', '-y', '-e', 'trace=fsync,fdatasync,getppid', '-o', file];
  // It ends with the master.
  void startProgram(strace, [...options, '-p', String(fleet.master.pid)], { timeoutMs: 120_000 }).done;
  const isTraced = (): boolean =>
    readdirSync(`/proc/${fleet.master.pid}/task`).every(
      (task) => !/^TracerPid:\t0$/m.test(readIfThere(`/proc/${fleet.master.pid}/task/${task}/status`)),
    );
  await eventually('the master to be traced', isTraced);
  return () => readFileSync(file, 'utf8');
}

describe('store_sync', () => {
  const strace = preparedProgram('strace', 'strace');
  it.runIf(strace)('full flushes results to the disk before they count as stored, normal does not', async () => {
    const fleet = await Deployment.create();
    onTestFinished(() => fleet.destroy());
    for (const [at, word] of ['normal', 'full'].entries()) {
      writeFileSync(fleet.path('etc/master.d/store.conf'), `store_sync: ${word}\n`);
      await fleet.startMaster();
      if (word === 'normal') fleet.startMinion('m1');
      await fleet.answering('m1');
      const seen = await flushes(fleet, strace!);
      expect((await fleet.salt('m1', 'test.echo', word)).code).toBe(0);
      const query = "SELECT count(*) AS n FROM salt_returns WHERE fun = 'test.echo'";
      await eventually('the result in the history', async () => {
        const { stdout } = await fleet.run('salt-run', ['jobs.query', query, '--out=json']);
        return (JSON.parse(stdout) as [{ n: number }])[0].n === at + 1;
      });
      expect(seen().includes('halite.db-wal')).toBe(word === 'full');
      await fleet.master.stop();
    }
  });

  it('refuses a word that is none, and names the known ones', async () => {
    const fleet = await Deployment.create();
    onTestFinished(() => fleet.destroy());
    writeFileSync(fleet.path('etc/master.d/store.conf'), 'store_sync: ful\n');
    const { stderr, code } = await fleet.run('salt-master', []);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/store_sync has no value 'ful'[\s\S]*normal, or full/);
  });
});

function mountSmall(folder: string, size: string): boolean {
  mkdirSync(folder, { recursive: true });
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0) return true;
  console.error('SKIPPED: a tmpfs cannot be mounted here, so that a full disk was not tried.');
  return false;
}

/** Takes all the space that is left; the file that holds it. */
function fill(folder: string): string {
  const file = join(folder, 'filler');
  const handle = openSync(file, 'w');
  for (let size = 65_536; size >= 512; ) {
    try {
      if (writeSync(handle, Buffer.alloc(size)) < size) size /= 2;
    } catch {
      size /= 2;
    }
  }
  closeSync(handle);
  return file;
}

describe('a full disk', () => {
  it('is reported clearly, jobs continue, and everything is stored when there is space again', async ({ skip }) => {
    const fleet = await Deployment.create();
    onTestFinished(() => fleet.destroy());
    const cache = fleet.path('cache/master');
    if (!mountSmall(cache, '8m')) return skip();
    onTestFinished(() => void spawnSync('umount', ['-l', cache]));
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    const health = async (): Promise<{ summary: string }> =>
      JSON.parse((await fleet.run('salt-run', ['jobs.health', '--out=json'])).stdout) as { summary: string };
    const filler = fill(cache);
    const words = Array.from({ length: 6 }, (_, n) => `${n} ${'x'.repeat(20_000)}`);
    for (const word of words) {
      const { stdout, code } = await fleet.salt('m1', 'test.echo', word, '--out=newline_values_only');
      expect([code, stdout.trim()]).toEqual([0, word]);
    }
    expect((await health()).summary).toMatch(/^store: .*(full|disk)/);
    expect(fleet.master.output()).toMatch(/the job store cannot be written; jobs continue, results are queued/);
    rmSync(filler);
    await eventually('the store to be fine', async () => (await health()).summary === 'store: ok');
    const { stdout } = await fleet.run('salt-run', ['jobs.list_jobs', 'search_function=test.echo', '--out=json']);
    const jids = Object.keys(JSON.parse(stdout) as object);
    expect(jids).toHaveLength(words.length);
    const results = await Promise.all(
      jids.map(async (jid) => JSON.parse((await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout)),
    );
    expect(results).toEqual(words.map((word) => ({ m1: word })));
  });
});
