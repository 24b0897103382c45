// Features of the minion itself: several masters, jobs that survive it, users' own code, salt-call.
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';

describe('a minion of two masters', () => {
  let first: Deployment;
  let second: Deployment;

  beforeAll(async () => {
    first = await Deployment.create();
    second = await Deployment.create();
    await first.startMaster();
    // Masters of one minion share their key pair.
    mkdirSync(second.path('etc/pki/master'), { recursive: true, mode: 0o700 });
    for (const name of ['master.pem', 'master.pub']) {
      copyFileSync(first.path('etc/pki/master', name), second.path('etc/pki/master', name));
    }
    await second.startMaster();
    const masters = [first, second, first].map(
      ({ ports }, at) => `${at === 2 ? 'localhost' : '127.0.0.1'}:${ports.requests}`,
    );
    mkdirSync(first.path('both/etc/minion.d'), { recursive: true });
    writeFileSync(first.path('both/etc/minion.d/masters.conf'), `master: ${JSON.stringify(masters)}\n`);
    first.startMinion('both');
    await first.answering('both');
    await second.answering('both');
  });
  afterAll(async () => {
    await first?.destroy();
    await second?.destroy();
  });

  it('answers each of them, and each gets only its own results', async () => {
    const jids: string[] = [];
    for (const master of [first, second]) {
      const { stdout } = await master.salt('both', 'test.echo', 'mine', '-v');
      expect(stdout).toContain('both:\n    mine');
      jids.push(jidIn(stdout));
    }
    const listed = async (master: Deployment) =>
      (await master.run('salt-run', ['jobs.list_jobs', '--out=json'])).stdout;
    expect(await listed(first)).toContain(jids[0]);
    expect(await listed(first)).not.toContain(jids[1]);
    expect(await listed(second)).toContain(jids[1]);
  });

  it('notices that one of them is listed with two names', async () => {
    await eventually('the warning', () => first.minion('both').output().includes('are the same machine'));
  });

  it('continues with one while the other is down, and reconnects to it', async () => {
    await second.master.stop();
    expect(await first.json('both', 'test.ping')).toEqual({ both: true });
    await second.startMaster();
    await second.answering('both');
  });
});

describe('a minion', () => {
  let fleet: Deployment;
  const extensions = () => fleet.path('m1/cache/extmods/modules');

  beforeAll(async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    mkdirSync(extensions(), { recursive: true });
    writeFileSync(
      `${extensions()}/hello.js`,
      `/** Greet somebody.  CLI: salt '*' hello.greet bob greeting=Hi */
export function greet(name, greeting = 'Hello') { return greeting + ' ' + name + ' from ' + this.grains.id; }`,
    );
    writeFileSync(
      `${extensions()}/typed.mjs`,
      `import { defineModule, fn, p } from 'halite/sdk';
export default defineModule({ name: 'typed', doc: '', functions: { twice: fn({ doc: 'Twice.', params: { n: p.int() }, run: ({ n }) => 2 * n }) } });`,
    );
    writeFileSync(`${extensions()}/broken.js`, 'export function x( {');
    fleet.startMinion('m1', halite, `extension_modules: ${fleet.path('m1/cache/extmods')}`);
    await fleet.answering('m1');
  });
  afterAll(async () => {
    await fleet?.destroy();
  });

  it("runs users' own functions of both styles, and only a broken file is missing", async () => {
    expect(await fleet.json('m1', 'hello.greet', 'bob', 'greeting=Hi')).toEqual({ m1: 'Hi bob from m1' });
    expect(await fleet.json('m1', 'typed.twice', '21')).toEqual({ m1: 42 });
    expect(String((await fleet.json('m1', 'broken.x'))['m1'])).toContain('broken.js');
    expect(JSON.stringify(await fleet.json('m1', 'sys.doc', 'hello.greet'))).toContain('Greet somebody.');
    expect(String((await fleet.json('m1', 'hello.greet'))['m1'])).toContain(
      "greet() missing 1 required positional argument: 'name'",
    );
  });

  it('keeps the text of commands', async () => {
    const { code } = await fleet.salt('m1', 'cmd.run', 'false');
    expect(code).toBe(1);
    expect(await fleet.json('m1', 'cmd.run', 'echo "[1, 2]"')).toEqual({ m1: '[1, 2]' });
  });

  it('lets a job finish that survives it, and delivers the result at the next start', async () => {
    const jid = jidIn((await fleet.salt('m1', 'cmd.run', 'sleep 2; echo outlived', '--async')).stdout);
    await eventually('the job to run', () => existsSync(fleet.path('m1/cache/proc', jid)));
    await fleet.minion('m1').stop();
    const spool = fleet.path('m1/cache/halite/spool');
    await eventually('the result to lie in the spool', () => readdirSync(spool).some((name) => name.includes(jid)));
    fleet.startMinion('m1', halite, `extension_modules: ${fleet.path('m1/cache/extmods')}`);
    await eventually('the result to arrive', async () => {
      const { stdout } = await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
      return stdout.includes('outlived');
    });
    expect(readdirSync(spool)).toEqual([]);
    await fleet.answering('m1');
  });

  it('answers salt-call with and without its master', async () => {
    const call = (...args: string[]) => runProgram(`${halite.bin}/salt-call`, ['-c', fleet.path('m1/etc'), ...args]);
    expect(await call('test.ping')).toMatchObject({ stdout: 'local:\n    True\n', code: 0 });
    expect(await call('--local', 'cmd.run', 'false')).toMatchObject({ code: 1 });
    expect(await call('--local', 'hello.greet', 'bob')).toMatchObject({ stdout: 'local:\n    Hello bob from m1\n' });
    expect(await call('--local', 'no.such')).toMatchObject({ stderr: "'no.such' is not available.\n", code: 255 });
    expect((await call('--local', 'test.echo')).stderr).toContain('echo() missing 1 required positional argument');
    const { stdout } = await fleet.run('salt-run', ['jobs.list_jobs', '--out=json']);
    expect(stdout).toContain('"Function": "test.ping"');
  });
});

describe('salt-call of a minion that is not accepted', () => {
  it('reports it immediately', async () => {
    const fleet = await Deployment.create({ autoAccept: false });
    try {
      await fleet.startMaster();
      const configDir = fleet.configureMinion('stranger');
      const result = await runProgram(`${halite.bin}/salt-call`, ['-c', configDir, 'test.ping']);
      expect(result.code).toBe(2);
      expect(result.stdout).toContain('has the minion key been accepted?');
      expect(result.stderr).toContain('salt-key -a stranger');
    } finally {
      await fleet.destroy();
    }
  });
});
