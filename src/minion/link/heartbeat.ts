// A heartbeat to the master when nothing else was sent for a while: a broken connection is noticed before a job needs
// it.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { RequestOptions } from './request-channel.ts';

const everyMs = 30_000;
const answerMs = 15_000;
/** A small request that only needs an answer: it checks connection and keys, and fires no event. */
const question = newDict([['cmd', '_file_envs']]);
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
}

export class Heartbeat {
  readonly #link: Beating;
  readonly #pingMinutes: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #lastHeard = Date.now();
  #missed = 0;

  /** `pingMinutes` is Salt's `ping_interval`, for masters that are not Halite. */
  constructor(link: Beating, pingMinutes: number, log: Logger) {
    this.#link = link;
    this.#pingMinutes = pingMinutes;
    this.#log = log;
  }

  start(haliteMaster: boolean): void {
    const every = haliteMaster ? everyMs : this.#pingMinutes * 60_000;
    if (every <= 0) return;
    // Jitter, so that many minions that started at the same time do not send at the same time.
    const delay = every * (0.9 + Math.random() * 0.2);
    this.#timer = setInterval(
      () => void this.#beat(haliteMaster ? question : ping, haliteMaster ? everyMs * 0.75 : 0),
      delay,
    );
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The master answered something. */
  heard(): void {
    this.#lastHeard = Date.now();
    this.#missed = 0;
  }

  async #beat(load: PlainDict, quietMs: number): Promise<void> {
    if (Date.now() - this.#lastHeard < quietMs) return;
    try {
      await this.#link.request(load, { timeoutMs: answerMs });
    } catch (error) {
      this.#missed++;
      this.#log.limited(`heartbeat ${this.#link.name}`, 'warn', 'the master did not answer a heartbeat', {
        master: this.#link.name,
        missed: this.#missed,
        error: messageOf(error),
      });
    }
  }
}
