// Entry point of the minion daemon.
import { setTimeout as sleep } from 'node:timers/promises';
import type { MinionOpts } from '../base/config/index.ts';
import type { Logger } from '../base/log/index.ts';
import { getTransport } from '../protocol/wire/transports.ts';
import { MinionDaemon } from './daemon.ts';
import { loadIdentity } from './link/identity.ts';
import { lockMinion } from './lock.ts';

export interface RunningMinion {
  stop(): Promise<void>;
  /** Settles only when the minion cannot continue (every master refused its key permanently), with the reason. */
  readonly ended: Promise<Error>;
  status(): string;
}

export interface RunMinionOptions {
  /** Path of the built job process, for tests. */
  readonly jobProcess?: string;
}

/** Starts the minion and returns once it is running; masters are connected in the background. */
export async function runMinion(opts: MinionOpts, log: Logger, options: RunMinionOptions = {}): Promise<RunningMinion> {
  if (opts.random_startup_delay > 0) await sleep(Math.random() * opts.random_startup_delay * 1000);
  const release = await lockMinion(opts.cachedir, opts.id, log);
  const [identity, transport] = await Promise.all([loadIdentity(opts), getTransport(opts.transport)]);
  const daemon = new MinionDaemon({ opts, log, identity, transport, ...options });
  let fatal: (error: Error) => void = () => undefined;
  const ended = new Promise<Error>((resolve) => {
    fatal = resolve;
  });
  await daemon.start(fatal);
  log.info('minion started', { minion: opts.id, fingerprint: identity.fingerprint });
  return { stop: () => daemon.stop().finally(release), ended, status: () => daemon.status() };
}
