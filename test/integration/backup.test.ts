// Backups of a master that runs: whole or not there, readable by whom they are for, and restored exactly.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let own: Deployment;
let folder: string;
const at = (...parts: string[]): string => join(folder, ...parts);
const salt = (...args: string[]) => own.run('salt-run', args, { timeoutMs: 120_000 });
const wholeIn = (place: string): string[] =>
  existsSync(place) ? readdirSync(place).filter((name) => name.endsWith('.halite')) : [];
/** What is in `place` besides backups. */
const leftIn = (place: string): string[] => readdirSync(place).filter((name) => !name.endsWith('.halite'));
const mode = (path: string): number => statSync(path).mode & 0o777;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halite-backup-'));
  own = await Deployment.create({
    masterConfig: `schedule: {save: {function: master.backup, args: [${join(folder, 'scheduled')}], seconds: 3600, run_on_start: true}}`,
  });
  writeFileSync(own.path('srv/salt/top.sls'), 'base: {"*": []}\n');
  await own.startMaster();
  own.startMinion('m1');
  await own.answering('m1');
  expect((await own.salt('m1', 'test.echo', 'remembered')).stdout).toContain('remembered');
  mkdirSync(own.path('cache/master/spool/mysql'), { recursive: true });
  writeFileSync(own.path('cache/master/spool/mysql/waiting'), 'record');
});
afterAll(async () => {
  await own?.destroy();
  rmSync(folder, { recursive: true, force: true });
});

describe('a backup', () => {
  it('is made by the schedule of the master', async () => {
    await eventually('the scheduled backup', () => wholeIn(at('scheduled')).length === 1, {
      describe: () => own.master.output().slice(-3000),
    });
  });

  it('is made while jobs run, for its owner alone, and the newest ones stay', async () => {
    const jobs = Promise.all([1, 2, 3].map((number) => own.salt('m1', 'test.echo', `during ${number}`)));
    for (let number = 0; number < 3; number++) {
      const { code, stderr } = await salt('master.backup', at('kept'), 'keep=2', 'roots=False');
      expect(code, stderr).toBe(0);
    }
    await jobs;
    expect(wholeIn(at('kept'))).toHaveLength(2);
    expect(leftIn(at('kept'))).toEqual([]);
    expect(mode(at('kept'))).toBe(0o700);
    for (const name of wholeIn(at('kept'))) expect(mode(at('kept', name))).toBe(0o600);
  });

  it('is not there when the run was killed, and the next one cleans up', async () => {
    writeFileSync(own.path('srv/salt/large'), randomBytes(40_000_000));
    mkdirSync(at('killed'));
    const changed = new Promise<void>((done) => {
      const watcher = watch(at('killed'), (_event, name) => {
        if (!name?.endsWith('.part')) return;
        watcher.close();
        done();
      });
    });
    const run = startProgram(join(halite.bin, 'salt-run'), ['-c', own.masterConfigDir, 'master.backup', at('killed')]);
    await changed;
    process.kill(run.pid, 'SIGKILL');
    await run.done;
    expect(wholeIn(at('killed'))).toEqual([]);
    expect(leftIn(at('killed')).some((name) => name.endsWith('.part'))).toBe(true);
    expect((await salt('master.backup', at('killed'))).code).toBe(0);
    expect(wholeIn(at('killed'))).toHaveLength(1);
    expect(leftIn(at('killed'))).toEqual([]);
    rmSync(own.path('srv/salt/large'));
  });

  it('says that the disk is full', async () => {
    writeFileSync(own.path('srv/salt/large'), randomBytes(3_000_000));
    mkdirSync(at('small'));
    const script = 'mount -t tmpfs -o size=2m tmpfs "$1" && exec "$2" -c "$3" master.backup "$1" history=False';
    const words = ['-m', 'sh', '-c', script, 'sh', at('small'), join(halite.bin, 'salt-run'), own.masterConfigDir];
    const { code, stderr } = await runProgram('unshare', words);
    rmSync(own.path('srv/salt/large'));
    expect(code).not.toBe(0);
    expect(stderr).toContain('is full: nothing was written');
  });
});

describe('a restore', () => {
  const restore = (file: string, ...more: string[]) => salt('master.restore', file, `allow=${own.root}`, ...more);
  let file: string;

  beforeAll(async () => {
    expect((await salt('master.backup', at('good'))).code).toBe(0);
    file = at('good', wholeIn(at('good'))[0] ?? '');
    const refused = await restore(file);
    expect(refused.stderr).toContain('A master runs with the configuration');
    await own.master.stop();
  });

  it('gives back keys, configuration, files, history and what waited, with their modes', async () => {
    const key = readFileSync(own.path('etc/pki/master/minions/m1'), 'utf8');
    rmSync(own.path('etc/pki/master/minions'), { recursive: true });
    rmSync(own.path('cache/master/halite.db'));
    rmSync(own.path('cache/master/spool'), { recursive: true });
    writeFileSync(own.path('srv/salt/top.sls'), 'wrong');
    chmodSync(own.path('etc/pki/master/master.pem'), 0o644);
    const shown = await restore(file, '--dry-run');
    expect(shown.stdout, shown.stderr).toContain('this is a dry run');
    expect(readFileSync(own.path('srv/salt/top.sls'), 'utf8')).toBe('wrong');
    const done = await restore(file);
    expect(done.code, done.stderr).toBe(0);
    expect(readFileSync(own.path('etc/pki/master/minions/m1'), 'utf8')).toBe(key);
    expect(readFileSync(own.path('srv/salt/top.sls'), 'utf8')).toBe('base: {"*": []}\n');
    expect(readFileSync(own.path('cache/master/spool/mysql/waiting'), 'utf8')).toBe('record');
    expect(mode(own.path('etc/pki/master/master.pem'))).toBe(0o400);
    expect(mode(own.path('cache/master/halite.db'))).toBe(0o600);
    rmSync(own.path('cache/master/spool'), { recursive: true });
    await own.startMaster();
    await own.answering('m1');
    expect((await own.run('salt-run', ['jobs.list_jobs'])).stdout).toContain('remembered');
    await own.master.stop();
  });

  it('refuses a damaged, cut or foreign file, and changes nothing', async () => {
    const before = readFileSync(own.path('etc/pki/master/master.pem'), 'utf8');
    const bytes = readFileSync(file);
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 2000] = (flipped[bytes.length - 2000] as number) ^ 1;
    writeFileSync(at('flipped.halite'), flipped);
    writeFileSync(at('cut.halite'), bytes.subarray(0, bytes.length - 700));
    writeFileSync(at('other.halite'), 'HALITE MASTER 2\n');
    const other = await Deployment.create();
    try {
      await other.startMaster();
      expect((await other.run('salt-run', ['master.backup', at('foreign')])).code).toBe(0);
    } finally {
      await other.destroy();
    }
    const cases: [string, string][] = [
      [at('flipped.halite'), 'it was changed or damaged'],
      [at('cut.halite'), 'not complete'],
      [at('other.halite'), 'it is not a file of master.export or master.backup'],
      [at('foreign', wholeIn(at('foreign'))[0] ?? ''), 'has the key'],
    ];
    for (const [name, said] of cases) {
      const { code, stderr } = await restore(name);
      expect(code, name).not.toBe(0);
      expect(stderr, name).toMatch(new RegExp(`${said}|the passphrase or key is wrong, or the file was changed`));
      expect(stderr).not.toContain('defect in Halite');
    }
    expect(readFileSync(own.path('etc/pki/master/master.pem'), 'utf8')).toBe(before);
  });

  it('of a locked file needs the passphrase, or the key it is for', async () => {
    const pair = (name: string): void => {
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      writeFileSync(at(`${name}.pem`), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
      writeFileSync(at(`${name}.pub`), publicKey.export({ type: 'spki', format: 'pem' }));
    };
    pair('mine');
    pair('theirs');
    writeFileSync(at('phrase'), 'a phrase that is long\n', { mode: 0o600 });
    writeFileSync(at('wrong'), 'a phrase that is wrong\n', { mode: 0o600 });
    const small = ['roots=False', 'history=False'];
    expect((await salt('master.backup', at('for'), `recipient=${at('mine.pub')}`, ...small)).code).toBe(0);
    expect((await salt('master.backup', at('phrased'), `passphrase_file=${at('phrase')}`, ...small)).code).toBe(0);
    const [locked, phrased] = [at('for', wholeIn(at('for'))[0] ?? ''), at('phrased', wholeIn(at('phrased'))[0] ?? '')];
    expect(readFileSync(locked).includes(Buffer.from('BEGIN RSA PRIVATE'))).toBe(false);
    expect((await restore(locked, '--dry-run')).stderr).toContain('The file is for the owner of the key');
    expect((await restore(locked, '--dry-run', `identity=${at('theirs.pem')}`)).stderr).toContain('not for the one');
    expect((await restore(locked, '--dry-run', `identity=${at('mine.pem')}`)).code).toBe(0);
    expect((await restore(phrased, '--dry-run', `passphrase_file=${at('wrong')}`)).stderr).toContain('is wrong');
    expect((await restore(phrased, '--dry-run', `passphrase_file=${at('phrase')}`)).code).toBe(0);
  });
});
