// Maintains one connection: dials, runs the session, reports, waits and dials again.
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../base/errors/index.ts';
import { backoff } from '../../../base/util/index.ts';

export interface SessionContext {
  /** Aborted when the owner closes; the session must then end. */
  readonly signal: AbortSignal;
  /** Failed dials since the last success. */
  readonly attempt: number;
  /** To be called once when the connection is usable. */
  connected(detail: string): void;
}

export interface KeepConnectedOptions {
  readonly minMs: number;
  readonly maxMs: number;
  /** Dials and runs the session; resolves with the reason when the connection ends, or throws it. */
  readonly session: (context: SessionContext) => Promise<string>;
  /** `disconnected` is called once per lost connection and once per failed dial. Not called after close. */
  readonly onState: (state: 'connected' | 'disconnected', detail: string) => void;
}

/** Starts immediately; the returned function ends it. */
export function keepConnected(options: KeepConnectedOptions): { close(): void } {
  const abort = new AbortController();
  void run(options, abort.signal);
  return { close: () => abort.abort() };
}

async function run(options: KeepConnectedOptions, signal: AbortSignal): Promise<void> {
  const waits = backoff({ base: options.minMs, max: options.maxMs });
  let attempt = 0;
  while (!signal.aborted) {
    const context: SessionContext = {
      signal,
      attempt,
      connected(detail) {
        attempt = -1;
        waits.reset();
        if (!signal.aborted) options.onState('connected', detail);
      },
    };
    const reason = await options.session(context).catch(messageOf);
    if (signal.aborted) return;
    options.onState('disconnected', reason);
    attempt += 1;
    await delay(waits.next(), undefined, { signal }).catch(() => undefined);
  }
}
