// Disk space and permissions: disks that fill up, keys that others can read.
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Findings } from './finding.ts';

/** Below these a daemon will soon be unable to write. */
const leastBytes = 200 * 1024 * 1024;
const leastShare = 0.02;

function existing(path: string): string {
  return existsSync(path) || path === '/' ? path : existing(dirname(path));
}

const megabytes = (bytes: number): string => `${Math.round(bytes / (1024 * 1024))} MB`;

/** Free bytes and inodes of the disk of a folder. */
export function examineDisk(findings: Findings, folder: string): void {
  const { bavail, blocks, bsize, files, ffree } = statfsSync(existing(folder));
  const free = bavail * bsize;
  const room = `${megabytes(free)} (${Math.round((bavail / Math.max(1, blocks)) * 100)} %)`;
  if (free < leastBytes && bavail < blocks * 0.5)
    findings.problem(
      `The disk of ${folder} has only ${room} left`,
      `free space there; to see what uses it: du -xsh ${folder}/*`,
    );
  // Some file systems do not count inodes.
  else if (files > 0 && ffree < files * leastShare)
    findings.problem(
      `The disk of ${folder} has only ${ffree} of ${files} inodes left`,
      `find what has so many files: du --inodes -xs ${folder}/*`,
    );
  else findings.fine(`The disk of ${folder} has ${room} left`);
}

/** A private key that others can read is no longer secret. */
export function examinePrivateKey(findings: Findings, path: string, made: string): void {
  if (!existsSync(path)) {
    findings.warning(`There is no key ${path} yet`, `${made} creates it when it starts`);
    return;
  }
  const mode = statSync(path).mode & 0o077;
  if (mode === 0) findings.fine(`Only its owner can read ${path}`);
  else findings.problem(`Others can read the private key ${path}`, `chmod 400 ${path}`);
}
