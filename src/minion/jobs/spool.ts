// Returns that no master has accepted yet, one file each: named by time, job and the master that asked.
import { mkdir, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { unpack } from '../../base/codec/msgpack/index.ts';
import { isDict } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isJid } from '../../base/util/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';
import { writeSpoolFile } from '../../engine/exec/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn, returnMessage } from '../../protocol/wire/messages/job-return.ts';
import { type AskedMaster, keyOf, readAskedMaster, unknownMaster } from './asked-master.ts';

/** A limit for the number of files, so that a lasting failure does not fill the disk. */
const mostReturns = 10_000;
/** Files that cannot be read are kept for people, and not more than these. */
const mostDamaged = 100;
/** A temporary file of a process that was killed; a younger one may still be written. */
const abandonedMs = 3_600_000;

/** A waiting return, as its file name tells. */
export interface Waiting {
  readonly file: string;
  readonly jid: string;
  /** The key of the master that asked. */
  readonly asked: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Another master has a copy. */
  readonly kept: boolean;
}

const fileName = /^(\d{17})-(.+)-([0-9a-f]{12})(\+?)\.p$/;

export class Spool {
  readonly #folder: string;
  readonly #damaged: string;
  /** One file for each master that asked, named by its key. */
  readonly #about: string;
  readonly #log: Logger;
  readonly #most: number;
  readonly #masters = new Map<string, AskedMaster>();
  #count = 0;
  #last = 0;

  constructor(cacheDir: string, log: Logger, most = mostReturns) {
    this.#folder = join(cacheDir, 'halite', 'spool');
    this.#damaged = join(cacheDir, 'halite', 'spool-damaged');
    this.#about = join(cacheDir, 'halite', 'spool-masters');
    this.#log = log;
    this.#most = most;
  }

  /** Called once at start. */
  async prepare(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) if (name.endsWith('.tmp')) await this.#dropAbandoned(name);
    const waiting = await this.list();
    const used = new Set(waiting.map(({ asked }) => asked));
    await mkdir(this.#about, { recursive: true, mode: 0o700 });
    for (const key of await readdir(this.#about))
      if (!used.has(key)) await unlink(join(this.#about, key)).catch(() => undefined);
  }

  /** No further job should be started: its result might have no place. */
  get full(): boolean {
    return this.#count >= this.#most;
  }

  /** The file for the return of a job to a master; names sort in order of creation. */
  async placeFor(asked: AskedMaster, jid: string): Promise<string> {
    await this.#noteMaster(asked);
    this.#last = Math.max(Date.now() * 1000, this.#last + 1);
    const job = isJid(jid) ? jid : 'job';
    return join(this.#folder, `${String(this.#last).padStart(17, '0')}-${job}-${keyOf(asked)}.p`);
  }

  /** Also beyond the limit: the limit keeps new jobs away, but a result that exists is not dropped. */
  async add(asked: AskedMaster, ret: JobReturn): Promise<void> {
    await writeSpoolFile(await this.placeFor(asked, ret.jid), returnMessage(ret));
    this.#count++;
  }

  /** Whether a return of this job waits here, for any master. */
  async has(jid: string): Promise<boolean> {
    return isJid(jid) && (await this.list()).some((waiting) => waiting.jid === jid);
  }

  /** Everything that waits, oldest first. */
  async list(): Promise<Waiting[]> {
    const names = await readdir(this.#folder).catch(() => undefined);
    const found: Waiting[] = [];
    // Not readable at this moment (EMFILE, EIO): it is asked again.
    if (!names) return found;
    for (const file of names.sort()) {
      const [, time = '', jid = '', asked = '', mark = ''] = fileName.exec(file) ?? [];
      if (time) found.push({ file, jid, asked, since: Number(time) / 1000, kept: mark !== '' });
    }
    this.#count = found.filter(({ kept }) => !kept).length;
    return found;
  }

  /** Undefined when the file is not usable: it is then set aside. Throws what may pass by itself (EMFILE, EIO). */
  async read({ file }: Waiting): Promise<JobReturn | undefined> {
    const path = join(this.#folder, file);
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!bytes) return undefined;
    try {
      const value = unpack(bytes);
      const ret = isDict(value) ? readJobReturn(value) : undefined;
      if (ret && !isProblem(ret)) return ret;
      await this.#setAside(file, ret ? ret.problem : 'it is not a map');
    } catch (error) {
      if (!(error instanceof HaliteError)) throw error;
      await this.#setAside(file, error.message);
    }
    return undefined;
  }

  /** The master that asked for it. Throws what may pass by itself. */
  async askedFor({ asked }: Waiting): Promise<AskedMaster> {
    const known = this.#masters.get(asked);
    if (known) return known;
    const text = await readFile(this.#masterFile(asked), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const master = readAskedMaster(text) ?? unknownMaster;
    this.#masters.set(asked, master);
    return master;
  }

  async remove({ file, kept }: Waiting): Promise<void> {
    await unlink(join(this.#folder, file)).catch(() => undefined);
    if (!kept) this.#count = Math.max(0, this.#count - 1);
  }

  /** Another master has a copy; it waits on for the one that asked. */
  async markKept({ file, kept }: Waiting): Promise<void> {
    if (kept) return;
    await rename(join(this.#folder, file), join(this.#folder, file.replace(/\.p$/, '+.p')));
    this.#count = Math.max(0, this.#count - 1);
  }

  #masterFile(key: string): string {
    return join(this.#about, key);
  }

  /** Written before the first file that refers to it; a process of a job that outlives this one needs nothing else. */
  async #noteMaster(asked: AskedMaster): Promise<void> {
    const key = keyOf(asked);
    if (this.#masters.has(key)) return;
    await mkdir(this.#about, { recursive: true, mode: 0o700 });
    await replaceFile(this.#masterFile(key), JSON.stringify(asked));
    this.#masters.set(key, asked);
  }

  async #setAside(file: string, why: string): Promise<void> {
    await mkdir(this.#damaged, { recursive: true, mode: 0o700 });
    const path = join(this.#damaged, file);
    const others = await readdir(this.#damaged);
    if (others.length >= mostDamaged) await unlink(join(this.#folder, file)).catch(() => undefined);
    else await rename(join(this.#folder, file), path);
    this.#log.error('a damaged file in the spool is set aside: the result of a job is lost', {
      ...{ path, error: why, jid: fileName.exec(file)?.[2] ?? '' },
    });
    this.#count = Math.max(0, this.#count - 1);
  }

  async #dropAbandoned(name: string): Promise<void> {
    const path = join(this.#folder, name);
    try {
      if ((await stat(path)).mtimeMs < Date.now() - abandonedMs) await unlink(path);
    } catch (error) {
      this.#log.debug('a temporary file stays in the spool', { path, error: messageOf(error) });
    }
  }
}
