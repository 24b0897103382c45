// The other end of a clone over ssh: a consistent copy of this machine's history, and its SHA-256 sum.
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HaliteError } from '../../../base/errors/index.ts';
import { exitCodes } from '../../../base/util/exit-codes.ts';
import type { Terminal } from '../../io.ts';
import { snapshotDatabase } from './snapshot.ts';

export async function sendSnapshot(database: string, io: Terminal): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-snapshot-'));
  try {
    const copy = join(folder, 'copy.db');
    const made = await snapshotDatabase(database, copy);
    if (made !== true) throw new HaliteError('store.unavailable', made);
    const hash = createHash('sha256');
    for await (const part of createReadStream(copy)) {
      hash.update(part as Buffer);
      // Bytes, not text for a terminal.
      io.out(part as Buffer, 'all');
    }
    io.err(`sha256 ${hash.digest('hex')}\n`);
    return exitCodes.ok;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
