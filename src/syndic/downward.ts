// The master of this machine, as the syndic uses it: one connection, made again when it was lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { MasterOpts } from '../base/config/index.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { backoff } from '../base/util/index.ts';
import type { LocalClient } from '../engine/client/api.ts';
import { connectLocal } from '../engine/client/local.ts';

export interface DownwardParts {
  readonly opts: Pick<MasterOpts, 'sock_dir' | 'cachedir' | 'user'>;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly signal: AbortSignal;
}

/** Whether the connection to the master was lost, so that asking again makes sense. */
export const isLost = (error: unknown): boolean =>
  error instanceof HaliteError && ['wire.closed', 'wire.timeout', 'daemon.unreachable'].includes(error.code);

export class Downward {
  readonly #parts: DownwardParts;
  #client: LocalClient | undefined;
  #connecting: Promise<LocalClient> | undefined;

  constructor(parts: DownwardParts) {
    this.#parts = parts;
  }

  stop(): void {
    this.#client?.close();
  }

  /** The connection; waits until the master runs. Rejects only when this daemon stops. */
  async client(): Promise<LocalClient> {
    if (this.#client) return this.#client;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** It turned out to be lost. */
  lost(client: LocalClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.close();
  }

  async #connect(): Promise<LocalClient> {
    const { opts, log, signal } = this.#parts;
    const wait = backoff({ base: 100, max: 5_000 });
    for (let attempt = 1; ; attempt++) {
      try {
        const client = await connectLocal(opts);
        if (attempt > 1) log.info('the master of this machine answers again');
        this.#client = client;
        return client;
      } catch (error) {
        signal.throwIfAborted();
        if (attempt === 1) log.warn('the master of this machine does not answer', { error: messageOf(error) });
        await sleep(wait.next(), undefined, { signal, ref: false });
      }
    }
  }
}
