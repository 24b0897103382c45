// A heartbeat to the master when nothing else was sent for a while: a broken connection is noticed before a job needs
// it.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { RequestOptions } from './request-channel.ts';

const everyMs = 30_000;
const answerMs = 15_000;
/** So seldom is a link asked that is busy anyway. */
const busyMs = 120_000;
/** What real minions send at every `ping_interval`. */
const ping = newDict([
  ['cmd', '_minion_event'],
  ['pretag', null],
  ['data', 'ping'],
  ['tag', 'minion_ping'],
]);

interface Beating {
  readonly name: string;
  request(load: PlainDict, options: RequestOptions): Promise<Value>;
  /** A small request that only needs an answer: it checks connection and keys, and fires no event. */
  beat(options: RequestOptions): Promise<void>;
}

type Question = (options: RequestOptions) => Promise<unknown>;

export class Heartbeat {
  readonly #link: Beating;
  readonly #pingMinutes: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  /** Of a clock that does not jump, and stands still while the machine sleeps. */
  #lastHeard = performance.now();
  #missed = 0;
  #lastBeat = performance.now();
  #beating = false;

  /** `pingMinutes` is Salt's `ping_interval`, for masters that are not Halite. */
  constructor(link: Beating, pingMinutes: number, log: Logger) {
    this.#link = link;
    this.#pingMinutes = pingMinutes;
    this.#log = log;
  }

  /** `ownMs`: so often every kind of master is asked; it is lost when it does not answer. */
  start(haliteMaster: boolean, ownMs?: number): void {
    if (this.#timer) return;
    if (ownMs !== undefined) {
      this.#timer = setInterval(() => void this.#beat(this.#question, ownMs * 0.75, ownMs * 2), ownMs);
      this.#timer.unref();
      return;
    }
    const every = haliteMaster ? everyMs : this.#pingMinutes * 60_000;
    if (every <= 0) return;
    // Jitter, so that many minions that started at the same time do not send at the same time.
    const delay = every * (0.9 + Math.random() * 0.2);
    this.#timer = setInterval(
      () => void this.#beat(haliteMaster ? this.#question : this.#ping, haliteMaster ? everyMs * 0.75 : 0, answerMs),
      delay,
    );
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The master answered something. */
  heard(): void {
    this.#lastHeard = performance.now();
    this.#missed = 0;
  }

  get silentMs(): number {
    return performance.now() - this.#lastHeard;
  }

  readonly #question: Question = (options) => this.#link.beat(options);
  readonly #ping: Question = (options) => this.#link.request(ping, options);

  async #beat(ask: Question, quietMs: number, timeoutMs: number): Promise<void> {
    // A busy link is asked too, now and then: the master says things only in an answer to it.
    const due = ask === this.#question && performance.now() - this.#lastBeat > busyMs;
    if (this.#beating || (this.silentMs < quietMs && !due)) return;
    this.#beating = true;
    this.#lastBeat = performance.now();
    try {
      await ask({ timeoutMs });
    } catch (error) {
      this.#missed++;
      this.#log.limited(`heartbeat ${this.#link.name}`, 'warn', 'the master did not answer a heartbeat', {
        master: this.#link.name,
        missed: this.#missed,
        error: messageOf(error),
      });
    } finally {
      this.#beating = false;
    }
  }
}
