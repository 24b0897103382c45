// What the handlers of results remember between results.
import { HaliteError } from '../../../base/errors/index.ts';
import { generateJid } from '../../../base/util/jid.ts';

const most = 10_000;
/** Jobs of other masters for which one minion may bring results within an hour. */
const mostKept = 10_000;
const hourMs = 3_600_000;

/** Forgets the oldest one when there are too many. */
function bound(entries: Map<string, unknown> | Set<string>): void {
  const [oldest] = entries.keys();
  if (entries.size > most && oldest !== undefined) entries.delete(oldest);
}

export class ReturnMemory {
  /** Results that are passed on but not stored yet, by job and minion. */
  readonly unsafe = new Map<string, Promise<null>>();
  readonly #assigned = new Map<string, string>();
  readonly #seen = new Set<string>();
  readonly #kept = new Map<string, { since: number; jobs: number }>();

  /** A jid assigned by the master to a run whose own is not usable: the same one when the result is sent again. */
  jidFor(jid: string, id: string): string {
    const key = `${jid} ${id}`;
    const known = this.#assigned.get(key);
    if (known) return known;
    const fresh = generateJid();
    this.#assigned.set(key, fresh);
    bound(this.#assigned);
    return fresh;
  }

  hasSeen(key: string): boolean {
    return this.#seen.has(key);
  }

  saw(key: string): void {
    this.#seen.add(key);
    bound(this.#seen);
  }

  /** Counts a job of another master; an error is not an acknowledgement, so that the minion keeps its result. */
  countKept(id: string): void {
    const now = Date.now();
    const known = this.#kept.get(id);
    const count = known && now - known.since < hourMs ? known : { since: now, jobs: 0 };
    if (count.jobs >= mostKept)
      throw new HaliteError('codec.limit', `${id} brings results of too many jobs of another master`);
    count.jobs += 1;
    this.#kept.set(id, count);
    bound(this.#kept);
  }
}
