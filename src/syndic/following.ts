// One job of a higher master on its way down and back: published by the master of this machine, its list and its results
// sent up. What cannot be sent now is fetched from that master again later.
import { setTimeout as sleep } from 'node:timers/promises';
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import type { JobItem, LocalPublish } from '../engine/client/api.ts';
import { type Downward, isLost } from './downward.ts';
import type { JobNote } from './job-notes.ts';
import type { Upward } from './upward.ts';

export interface FollowParts {
  readonly down: Downward;
  readonly log: Pick<Logger, 'info' | 'warn' | 'limited'>;
  readonly signal: AbortSignal;
}

/** Before it is fetched again after a failure. */
const pauseMs = 200;

type ReturnItem = Extract<JobItem, { type: 'return' }>;

export class Following {
  readonly note: JobNote;
  readonly #parts: FollowParts;
  readonly #up: Upward;
  /** Minions whose result the higher master has. */
  readonly #delivered = new Set<string>();
  readonly #sending = new Set<Promise<void>>();
  #listed = false;
  #failed = false;

  constructor(parts: FollowParts, note: JobNote, up: Upward) {
    this.#parts = parts;
    this.note = note;
    this.#up = up;
  }

  /** True when everything was delivered; false when the higher master is away. `call` only for a new job. */
  async run(call: LocalPublish | undefined): Promise<boolean> {
    const { down, signal } = this.#parts;
    let first = call;
    /** The connection was lost before the master said whether it has published the job. */
    let unsure = false;
    while (!signal.aborted) {
      const client = await down.client();
      try {
        for await (const item of first && !unsure ? client.publish(first) : client.attach(this.note.jid)) {
          first = undefined;
          this.#take(item);
          await this.#up.room();
          if (this.#failed) break;
        }
        await Promise.all(this.#sending);
        return !this.#failed;
      } catch (error) {
        if (isLost(error)) {
          down.lost(client);
          unsure = first !== undefined;
        } else if (unsure && first) unsure = false;
        else return this.#refused(error);
        await sleep(pauseMs, undefined, { signal, ref: false });
      }
    }
    return false;
  }

  /** The master has no such job, or does not publish it: the higher master learns that nobody has it. */
  async #refused(error: unknown): Promise<boolean> {
    const { log } = this.#parts;
    const empty = error instanceof HaliteError && error.code === 'target.empty';
    if (!empty)
      log.limited(`refused:${this.note.fun}`, 'warn', 'a job of a higher master was not published here', {
        ...{ jid: this.note.jid, fun: this.note.fun, why: messageOf(error) },
      });
    return this.#listed || this.#up.list(this.note.jid, []);
  }

  #take(item: JobItem): void {
    const { jid } = this.note;
    switch (item.type) {
      case 'job':
        this.#listed = true;
        this.#track(this.#up.list(jid, item.minions, item.growing === true));
        break;
      case 'more':
        this.#track(this.#up.list(jid, item.minions, item.minions.length > 0));
        break;
      case 'return':
        if (!this.#delivered.has(item.id)) this.#track(this.#deliver(item));
        break;
      case 'missing':
      case 'queued':
        this.#track(this.#up.reason(jid, item.id, item.reason).then(() => true));
        break;
      default:
        break;
    }
  }

  async #deliver(item: ReturnItem): Promise<boolean> {
    const { jid, fun, masterId } = this.note;
    const delivered = await this.#up.result({ jid, id: item.id, fun, masterId, fields: resultFields(item) });
    if (delivered) this.#delivered.add(item.id);
    return delivered;
  }

  #track(sent: Promise<boolean>): void {
    const done: Promise<void> = sent.then((delivered) => {
      this.#failed ||= !delivered;
      this.#sending.delete(done);
    });
    this.#sending.add(done);
  }
}

/** What Salt's syndic passes on, and the outputter, which a Halite master reads. */
function resultFields({
  ret,
  retcode,
  success,
  out,
}: Pick<ReturnItem, 'ret' | 'retcode' | 'success' | 'out'>): PlainDict {
  const fields: [string, Value][] = [
    ['return', ret],
    ['retcode', retcode],
    ['success', success],
    ['fun_args', []],
  ];
  return newDict(out === undefined ? fields : [...fields, ['out', out]]);
}
