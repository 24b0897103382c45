// Which publishes this minion has seen, on disk too: what was recorded on the wire and is sent again does not run again,
// nor after a restart of the minion.
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isTexts } from '../../base/codec/value.ts';
import type { Crypticle } from '../../base/crypto/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

/** Where the memory is kept; without it, it ends with the process. */
export interface RecentPlace {
  readonly file: string;
  readonly log: Logger;
}

/** One per master, and some that were replaced. */
const mostKeys = 16;
/** Publishes for others only move the serial: written together. */
const gatherMs = 1000;

/**
 * The job ids seen last, shared by all masters: a job that comes by two ways runs once. And the last serial under each
 * key of a master: whatever is not newer was there before.
 */
export class RecentJobs {
  readonly #limit: number;
  readonly #place: RecentPlace | undefined;
  /** Job ids, and whether they are kept for the next process. */
  readonly #jids = new Map<string, boolean>();
  readonly #serials = new Map<string, number>();
  readonly #known = new WeakMap<Crypticle, string>();
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();
  #dirty = false;

  constructor(limit: number, place?: RecentPlace) {
    this.#limit = Math.max(1, limit);
    this.#place = place;
  }

  /** Called once at start. A file that cannot be read is as good as none. */
  async restore(): Promise<void> {
    if (!this.#place) return;
    try {
      const kept = JSON.parse(await readFile(this.#place.file, 'utf8')) as { jids?: unknown; serials?: unknown };
      if (isTexts(kept.jids)) for (const jid of kept.jids.slice(-this.#limit)) this.#jids.set(jid, true);
      for (const [digest, serial] of Object.entries(kept.serials ?? {})) {
        if (typeof serial === 'number') this.#serials.set(digest, serial);
      }
    } catch {
      // The first start.
    }
  }

  /** False when it was seen already. Durable jobs are delivered again to the next process, which knows itself what it did. */
  add(jid: string, durable = false): boolean {
    if (this.#jids.has(jid)) return false;
    this.#jids.set(jid, !durable);
    if (this.#jids.size > this.#limit) this.#jids.delete(this.#jids.keys().next().value!);
    if (!durable) this.#save();
    return true;
  }

  /** Before the first publish under a key is opened: what an earlier process saw under it counts. */
  resume(aes: Crypticle): void {
    if (!this.#place || this.#known.has(aes)) return;
    const digest = createHash('sha256').update(aes.keyString).digest('hex').slice(0, 32);
    this.#known.set(aes, digest);
    aes.resumePublishes(this.#serials.get(digest) ?? 0);
  }

  /** After one was opened. */
  opened(aes: Crypticle): void {
    const digest = this.#known.get(aes);
    if (digest === undefined || aes.serial === this.#serials.get(digest)) return;
    this.#serials.delete(digest);
    this.#serials.set(digest, aes.serial);
    if (this.#serials.size > mostKeys) this.#serials.delete(this.#serials.keys().next().value!);
    this.#timer ??= setTimeout(() => this.#save(), gatherMs).unref();
  }

  /** Resolves when all that was seen is on disk. */
  async flush(): Promise<void> {
    if (this.#timer) this.#save();
    await this.#writing;
  }

  /** One write at a time; what comes meanwhile goes with the next. */
  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#place || this.#dirty) return;
    this.#dirty = true;
    const { file, log } = this.#place;
    this.#writing = this.#writing
      .then(() => this.#write(file))
      .catch((error: unknown) =>
        log.limited('recent jobs', 'warn', 'which jobs were seen is not on disk', { file, error: messageOf(error) }),
      );
  }

  async #write(file: string): Promise<void> {
    this.#dirty = false;
    const jids = [...this.#jids].flatMap(([jid, kept]) => (kept ? [jid] : []));
    const text = JSON.stringify({ jids, serials: Object.fromEntries(this.#serials) });
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, text);
  }
}
