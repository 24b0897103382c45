// A new RSA key for all masters of a cluster: each step is asked of another member; one is killed before the switch and
// comes back after it, one joins in between; jobs go on all the time; the way back, and the end.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { eventually } from '../support/eventually.ts';
import { Masters } from '../support/masters.ts';
import { natsPrograms } from '../support/servers/nats.ts';

let masters: Masters;
const all = [0, 1, 2];
const patient = { timeoutMs: 120_000 };

async function rotate(at: number, ...words: string[]): Promise<{ report: Record<string, unknown>; text: string }> {
  const { stdout, stderr } = await masters
    .master(at)
    .run('salt-run', ['master.rotate_keys', ...words, '--out=json'], { timeoutMs: 120_000 });
  const text = `${stdout}${stderr}`;
  try {
    return { report: JSON.parse(stdout) as Record<string, unknown>, text };
  } catch {
    // A refusal is text.
    return { report: {}, text };
  }
}

const keyFile = (at: number, name: string): string => join(masters.master(at).path('etc/pki/master'), name);
const printOf = (at: number, name: string): string =>
  existsSync(keyFile(at, name)) ? fingerprint(readFileSync(keyFile(at, name), 'utf8')) : '';
const prints = (name: string, of = all): string[] => of.map((at) => printOf(at, name));
const trusted = (): string => fingerprint(readFileSync(masters.master(0).path('h1/pki/minion_master.pub'), 'utf8'));
const standing = async (at: number, title: string): Promise<string[]> =>
  Object.keys(((await rotate(at, 'status=True')).report[title] as object | undefined) ?? {});

/** Jobs of all these masters, one after the other, until it is stopped: what was not answered. */
function jobsOf(of: readonly number[]): () => Promise<{ asked: number; unanswered: string[] }> {
  const stop = new AbortController();
  const unanswered: string[] = [];
  let asked = 0;
  const done = (async () => {
    for (let n = 0; !stop.signal.aborted || n < of.length; n++) {
      const at = of[n % of.length]!;
      const { stdout, stderr } = await masters.master(at).salt('h1', 'test.echo', `word-${n}`, '-t', '30');
      asked += 1;
      if (!stdout.includes(`word-${n}`)) unanswered.push(`m${at + 1}: ${stdout}${stderr}`);
    }
  })();
  return async () => {
    stop.abort();
    await done;
    return { asked, unanswered };
  };
}

describe.skipIf(natsPrograms().length === 0)('a new key for several masters', () => {
  let [first, next] = ['', ''];

  beforeAll(async () => {
    masters = await Masters.start();
    masters.startMinion('h1');
    await masters.answering(['h1']);
    first = printOf(0, 'master.pub');
  });
  afterAll(() => masters?.destroy());

  it('is announced on one, stored by all, and withdrawn on another', async () => {
    const { report, text } = await rotate(0);
    expect(report['key before'], text).toBe(first);
    const withdrawn = String(report['key after']);
    expect(prints('master_next.pub')).toEqual([withdrawn, withdrawn, withdrawn]);
    for (const at of all) expect(statSync(keyFile(at, 'master_next.pem')).mode & 0o777).toBe(0o400);
    await rotate(2, 'abort=True');
    expect(prints('master_next.pem')).toEqual(['', '', '']);
    expect((await rotate(1, 'switch=True')).text).toContain('No next key is announced');
  });

  it('of two announcements at once one counts', async () => {
    const both = await Promise.all([rotate(0), rotate(1)]);
    const told = both.map(({ report }) => report['key after']).filter((print) => print !== undefined);
    next = printOf(2, 'master_next.pub');
    expect(prints('master_next.pub')).toEqual([next, next, next]);
    for (const print of told) expect(print).toBe(next);
    const refused = both.filter(({ report }) => report['key after'] === undefined);
    for (const { text } of refused) expect(text).toContain('Another master has just done a step');
    const { report } = await rotate(2, 'wait=60');
    expect(report['key after']).toBe(next);
    expect(await standing(1, 'ready')).toEqual(['h1']);
  });

  it('is switched on all while jobs run; one that was killed does it at its start', async () => {
    const stop = jobsOf([0, 1]);
    await masters.master(2).master.stop('SIGKILL');
    const { text } = await rotate(1, 'switch=True');
    await eventually('both to have it', () => prints('master.pub', [0, 1]).every((print) => print === next), {
      ...patient,
      describe: () => text,
    });
    expect(prints('master_old.pub', [0, 1])).toEqual([first, first]);
    await eventually('the minion to trust it', () => trusted() === next, patient);
    await masters.master(2).startMaster();
    expect([printOf(2, 'master.pub'), printOf(2, 'master_old.pub')]).toEqual([next, first]);
    expect(existsSync(keyFile(2, 'master_next.pem'))).toBe(false);
    await masters.answering(['h1']);
    const { asked, unanswered } = await stop();
    expect(unanswered).toEqual([]);
    expect(asked).toBeGreaterThan(2);
    await eventually(
      'm3 to know who has it',
      async () => (await standing(2, 'have the new key')).includes('h1'),
      patient,
    );
  });

  it('a master that lacks the key before, as one that joined after the switch, gets it from the others', async () => {
    await masters.master(2).master.stop();
    for (const name of ['master_old.pem', 'master_old.pub', 'master_rollover.json']) rmSync(keyFile(2, name));
    await masters.master(2).startMaster();
    await eventually('m3 to have it again', () => printOf(2, 'master_old.pub') === first, patient);
    expect((await rotate(2, 'status=True')).report['key before']).toBe(first);
  });

  it('is taken back by another one, also by one that was away for that and for the end', async () => {
    await masters.master(0).master.stop();
    await rotate(1, 'back=True');
    expect(prints('master.pub', [1, 2])).toEqual([first, first]);
    // Whoever cannot open the next job signs in again, and gets the key.
    await masters.answering(['h1'], [masters.master(1), masters.master(2)]);
    await eventually('the minion to trust it again', () => trusted() === first, patient);
    await eventually('m3 to know it', async () => (await standing(2, 'have the new key')).includes('h1'), patient);
    const { text } = await rotate(2, 'end=True');
    expect(prints('master_old.pem', [1, 2]), text).toEqual(['', '']);
    expect(printOf(0, 'master.pub')).toBe(next);
    await masters.master(0).startMaster();
    expect([printOf(0, 'master.pub'), printOf(0, 'master_old.pem')]).toEqual([first, '']);
    expect(existsSync(keyFile(0, 'master_rollover.json'))).toBe(false);
    await masters.answering(['h1']);
    expect(trusted()).toBe(first);
  });

  it('another cluster_bus.key, put on all while they are stopped, keeps keys, minions and history', async () => {
    const before = (await masters.sameHistory()).length;
    for (const { master } of masters.all) await master.stop();
    const key = `2 ${randomBytes(32).toString('base64')}\n`;
    for (const at of all) {
      rmSync(keyFile(at, 'cluster_bus.key'));
      writeFileSync(keyFile(at, 'cluster_bus.key'), key, { mode: 0o400 });
    }
    for (const master of masters.all) await master.startMaster();
    await masters.answering(['h1']);
    // What was on its way under the old key is compared and fetched.
    for (const master of masters.all) await master.run('salt-run', ['cluster.repair'], { timeoutMs: 120_000 });
    expect((await masters.sameHistory(90_000)).length).toBeGreaterThan(before);
  });
});
