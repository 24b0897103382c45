// The pid file of a daemon: one per configuration, a stale one is replaced.
import { chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findAccount } from '../../base/config/accounts.ts';
import { HaliteError } from '../../base/errors/index.ts';

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A process that is alive and looks like this daemon; a pid that another program now has does not count. */
function runningPid(path: string, prog: string): number | undefined {
  const pid = Number(readText(path).trim());
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
  return readText(`/proc/${pid}/cmdline`).includes(prog) ? pid : undefined;
}

/** Throws daemon.running when another process holds the file; returns the function that removes it. */
export function claimPidFile(path: string, prog: string, user: string): () => void {
  const other = runningPid(path, prog);
  if (other !== undefined) {
    throw new HaliteError('daemon.running', `${prog} already runs as process ${other} (${path})`, {
      hint: `Stop it first (kill ${other}), or give this one its own --pid-file.`,
    });
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, String(process.pid), { mode: 0o644 });
  const account = process.geteuid?.() === 0 ? findAccount(user) : undefined;
  if (account) chownSync(path, account.uid, account.gid);
  return () => {
    if (readText(path).trim() !== String(process.pid)) return;
    try {
      rmSync(path);
    } catch {
      // The folder belongs to root and privileges were dropped: the next start replaces the file.
    }
  };
}
