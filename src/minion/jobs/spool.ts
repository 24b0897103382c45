// Returns that no master has accepted yet, one file each, delivered in order when the master is back.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { unpack } from '../../base/codec/msgpack/index.ts';
import { isDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isJid } from '../../base/util/index.ts';
import { writeSpoolFile } from '../../engine/exec/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn, returnMessage } from '../../protocol/wire/messages/job-return.ts';

/** A limit for the number of files, so that a lasting failure does not fill the disk. */
const mostFiles = 10_000;

export class Spool {
  readonly #folder: string;
  readonly #log: Logger;
  #count = 0;
  #last = 0;

  constructor(cacheDir: string, log: Logger) {
    this.#folder = join(cacheDir, 'halite', 'spool');
    this.#log = log;
  }

  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    this.#count = (await readdir(this.#folder)).length;
  }

  /** A file name for the return of a job to a master; names sort in order of creation. */
  pathFor(master: string, jid: string): string {
    this.#last = Math.max(Date.now() * 1000, this.#last + 1);
    const job = isJid(jid) ? jid : 'job';
    return join(this.#folder, `${String(this.#last).padStart(17, '0')}-${job}-${keyOf(master)}.p`);
  }

  async add(master: string, ret: JobReturn): Promise<void> {
    if (this.#count >= mostFiles) {
      this.#log.limited('spool full', 'error', 'The spool is full: a return is lost', { jid: ret.jid });
      return;
    }
    await writeSpoolFile(this.pathFor(master, ret.jid), returnMessage(ret));
    this.#count++;
  }

  /** Whether a return of this job waits here, for any master. */
  async has(jid: string): Promise<boolean> {
    const names = await readdir(this.#folder).catch((): string[] => []);
    return isJid(jid) && names.some((name) => name.includes(`-${jid}-`));
  }

  /** Passes every waiting return of a master to `deliver`, oldest first; stops at the first failure. */
  async drain(master: string, deliver: (ret: JobReturn) => Promise<void>): Promise<number> {
    const ending = `-${keyOf(master)}.p`;
    const names = (await readdir(this.#folder).catch((): string[] => []))
      .filter((name) => name.endsWith(ending))
      .sort();
    let delivered = 0;
    for (const name of names) {
      const path = join(this.#folder, name);
      const ret = await this.#read(path);
      if (ret) await deliver(ret);
      await unlink(path).catch(() => undefined);
      this.#count = Math.max(0, this.#count - 1);
      if (ret) delivered++;
    }
    return delivered;
  }

  async #read(path: string): Promise<JobReturn | undefined> {
    try {
      const value = unpack(await readFile(path));
      const ret = isDict(value) ? readJobReturn(value) : undefined;
      if (ret && !isProblem(ret)) return ret;
      this.#log.warn('a damaged file in the spool is dropped', { path, ...(ret ? { error: ret.problem } : {}) });
    } catch (error) {
      this.#log.warn('a damaged file in the spool is dropped', { path, error: messageOf(error) });
    }
    return undefined;
  }
}

/** The master of a file, in its name: results go back to the master of the job. */
function keyOf(master: string): string {
  return createHash('sha256').update(master).digest('hex').slice(0, 12);
}
