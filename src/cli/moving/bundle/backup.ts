// `master.backup`: this master in one file, while it runs; the newest ones are kept. A file has its name only when it is
// whole: what an interrupted run left is removed by the next one.
import { createPublicKey } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { OldMaster } from '../old-master.ts';
import { packMaster } from './export.ts';
import type { Lock } from './lock.ts';

export interface BackupRequest {
  readonly master: OldMaster;
  readonly folder: string;
  /** How many backups stay; 0 for all. */
  readonly keep: number;
  readonly roots: boolean;
  readonly history: boolean;
  readonly dryRun: boolean;
  lock(): Promise<Lock>;
}

const named = /^master-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.halite$/;
const draft = /^master-[\dTZ.-]+\.halite\.part$/;
const working = /^\.backup-(\d+)$/;

export const backupsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => named.test(name))
    .sort();

export async function backupMaster(request: BackupRequest): Promise<string> {
  const { folder, keep, master, roots, history } = request;
  const time = new Date().toISOString().replaceAll(':', '-');
  const file = join(folder, `master-${time}.halite`);
  if (request.dryRun) return `Would write ${file}. Nothing was written: this is a dry run.\n`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  sweep(folder);
  // The copy of the history is as large as the history: it belongs where there has to be room for it anyway.
  const scratch = join(folder, `.backup-${process.pid}`);
  mkdirSync(scratch, { mode: 0o700 });
  try {
    const lock = await request.lock();
    const { finger, count, write } = await packMaster({ master, file, roots, history, spool: true, scratch });
    await write(lock);
    const { size } = statSync(file);
    const removed = keep > 0 ? removeOld(folder, keep) : [];
    return [
      `${file}: ${count} files, ${size.toLocaleString('en')} bytes, signed with the key ${finger}`,
      lock.kind === 'none' ? '; not encrypted' : '',
      removed.length > 0 ? `; removed: ${removed.join(', ')}` : '',
      '\n',
    ].join('');
  } catch (error) {
    throw error instanceof HaliteError
      ? error
      : new HaliteError('call.failed', `No backup was made: ${messageOf(error)}`, { cause: error });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function removeOld(folder: string, keep: number): string[] {
  const old = backupsIn(folder).slice(0, -keep);
  for (const name of old) rmSync(join(folder, name));
  return old;
}

/** What killed runs left; nothing while another run is under way. */
function sweep(folder: string): void {
  const runs = readdirSync(folder).filter((name) => working.test(name));
  const dead = runs.filter((name) => !isAlive(Number(working.exec(name)?.[1])));
  for (const name of dead) rmSync(join(folder, name), { recursive: true, force: true });
  if (dead.length < runs.length) return;
  for (const name of readdirSync(folder)) if (draft.test(name)) rmSync(join(folder, name), { force: true });
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The public key of whoever may read a backup. */
export function readRecipient(file: string): Lock {
  try {
    const recipient = createPublicKey(readFileSync(file));
    if (recipient.asymmetricKeyType !== 'rsa' || (recipient.asymmetricKeyDetails?.modulusLength ?? 0) < 2048)
      throw new Error('it is no RSA key of 2048 bits or more');
    return { kind: 'rsa', recipient };
  } catch (error) {
    throw new HaliteError('crypto.key', `recipient=${file} cannot be used: ${messageOf(error)}`, {
      hint: 'Make a key pair: openssl genrsa -out backup.pem 3072; openssl rsa -in backup.pem -pubout -out backup.pub',
    });
  }
}
