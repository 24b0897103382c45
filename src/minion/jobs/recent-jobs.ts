// Which publishes this minion has received, also on disk: a publish that was recorded on the wire and is sent again
// does not run again, even after a restart of the minion.
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isTexts } from '../../base/codec/value.ts';
import type { Crypticle } from '../../base/crypto/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

/** Where the data is stored; without it, it is lost with the process. */
export interface RecentPlace {
  readonly file: string;
  readonly log: Logger;
}

/** One per master, and some that were replaced. */
const mostKeys = 64;
/** Publishes for others only change the serial: written together. */
const gatherMs = 1000;

/**
 * The last jids, shared by all masters: a job that arrives from two masters runs once. And the last serial for each
 * key of each master: a publish that is not newer is a replay. Masters of a cluster have one key, and one that is cut off
 * counts on from an older number than the others.
 */
export class RecentJobs {
  /** How many are stored for the next process. */
  readonly #limit: number;
  readonly #most: number;
  readonly #place: RecentPlace | undefined;
  /** Jids, and whether they are stored for the next process. */
  readonly #jids = new Map<string, boolean>();
  readonly #serials = new Map<string, number>();
  readonly #known = new WeakMap<Crypticle, string>();
  #timer: NodeJS.Timeout | undefined;
  #writing = Promise.resolve();
  #dirty = false;

  /** `most`: how many this process remembers; `limit`: how many of them the next one does. */
  constructor(limit: number, place?: RecentPlace, most = limit) {
    this.#limit = Math.max(1, limit);
    this.#most = Math.max(this.#limit, most);
    this.#place = place;
  }

  /** Called once at start. An unreadable file is treated as absent. */
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

  /**
   * False when it was received before. Durable jobs are delivered again to the next process, which has its own record
   * of them.
   */
  add(jid: string, durable = false): boolean {
    if (this.#jids.has(jid)) return false;
    this.#jids.set(jid, !durable);
    if (this.#jids.size > this.#most) this.#jids.delete(this.#jids.keys().next().value!);
    if (!durable) this.#save();
    return true;
  }

  /**
   * Called before the first publish of a master with a key is decrypted: what was received from it before, also by an
   * earlier process, counts.
   */
  resume(aes: Crypticle, master: string): void {
    if (!this.#place || this.#known.has(aes)) return;
    const digest = createHash('sha256').update(`${aes.keyString} ${master}`).digest('hex').slice(0, 32);
    this.#known.set(aes, digest);
    aes.resumePublishes(this.#serials.get(digest) ?? 0);
  }

  /** Called after one was decrypted. */
  opened(aes: Crypticle): void {
    const digest = this.#known.get(aes);
    if (digest === undefined || aes.serial === this.#serials.get(digest)) return;
    this.#serials.delete(digest);
    this.#serials.set(digest, aes.serial);
    if (this.#serials.size > mostKeys) this.#serials.delete(this.#serials.keys().next().value!);
    this.#timer ??= setTimeout(() => this.#save(), gatherMs).unref();
  }

  /** Resolves when everything received is on disk. */
  async flush(): Promise<void> {
    if (this.#timer) this.#save();
    await this.#writing;
  }

  /** One write at a time; later changes are written with the next. */
  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#place || this.#dirty) return;
    this.#dirty = true;
    const { file, log } = this.#place;
    this.#writing = this.#writing
      .then(() => this.#write(file))
      .catch((error: unknown) =>
        log.limited('recent jobs', 'warn', 'the received jobs could not be stored on disk', {
          file,
          error: messageOf(error),
        }),
      );
  }

  async #write(file: string): Promise<void> {
    this.#dirty = false;
    const jids = [...this.#jids].flatMap(([jid, kept]) => (kept ? [jid] : [])).slice(-this.#limit);
    const text = JSON.stringify({ jids, serials: Object.fromEntries(this.#serials) });
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, text);
  }
}
