// The files of a job whose user is not root: this user reads them, and cannot make root follow a link of theirs.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { findAccount } from '../../base/config/accounts.ts';
import { jidDir } from '../../base/util/jid.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { JobFiles } from './job-files.ts';

const jid = '20261119120000000001';
const asked: AskedJob = { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', user: 'nobody' } as AskedJob;

it.runIf(process.geteuid?.() === 0)('lets the user of a job read its files, and write nothing there', async () => {
  const cachedir = mkdtempSync(join(tmpdir(), 'halite-job-files-'));
  const account = findAccount('nobody');
  if (!account) throw new Error('this system has no user nobody');
  const as = (program: string, ...args: string[]): number | null =>
    spawnSync(program, args, { uid: account.uid, gid: account.gid, stdio: 'ignore' }).status;
  const problems: unknown[] = [];
  const files = new JobFiles({
    opts: { cachedir, hash_type: 'sha256', user: 'root' },
    log: { limited: (_name, _level, _text, fields) => void problems.push(fields) },
    keepSeconds: 0,
  });
  try {
    chmodSync(cachedir, 0o755);
    await files.saveJob(jid, asked, ['m1']);
    chmodSync(join(cachedir, 'jobs'), 0o755);
    const folder = jidDir(jid, join(cachedir, 'jobs'), 'sha256');
    expect(as('cat', join(folder, '.load.p'))).toBe(0);
    // A link in the place of the folder of a result would make root write, and give away, another folder.
    const victim = mkdtempSync(join(cachedir, 'victim-'));
    expect(as('ln', '-s', victim, join(folder, 'm1'))).not.toBe(0);
    expect(as('rm', '-f', join(folder, '.load.p'))).not.toBe(0);
    await files.saveReturn(jid, 'm1', newDict([['return', true]]));
    expect(as('cat', join(folder, 'm1', 'return.p'))).toBe(0);
    expect(as('ls', folder)).toBe(0);
    expect(readdirSync(victim)).toEqual([]);
    expect(statSync(victim).uid).toBe(0);
    expect(as('ln', '-sf', victim, join(folder, 'm1', 'return.p'))).not.toBe(0);
    expect(existsSync(join(folder, 'm1', 'return.p'))).toBe(true);
    expect(problems).toEqual([]);
  } finally {
    files.stop();
    rmSync(cachedir, { recursive: true, force: true });
  }
});
