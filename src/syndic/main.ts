// Entry point of the syndic.
import type { MasterOpts, MinionOpts } from '../base/config/index.ts';
import type { Logger } from '../base/log/index.ts';
import { loadIdentity } from '../minion/link/identity.ts';
import { getTransport } from '../protocol/wire/transports.ts';
import { SyndicDaemon } from './daemon.ts';

export interface RunningSyndic {
  stop(): Promise<void>;
  /** Settles only when no higher master will ever accept this syndic, with the reason. */
  readonly ended: Promise<Error>;
}

export async function runSyndic(opts: MinionOpts, master: MasterOpts, log: Logger): Promise<RunningSyndic> {
  const [identity, transport] = await Promise.all([loadIdentity(opts), getTransport(opts.transport)]);
  const daemon = new SyndicDaemon({ opts, master, log, identity, transport });
  let fatal: (error: Error) => void = () => undefined;
  const ended = new Promise<Error>((resolve) => {
    fatal = resolve;
  });
  await daemon.start(fatal);
  log.info('syndic started', { syndic: opts.id, fingerprint: identity.fingerprint });
  return { stop: () => daemon.stop(), ended };
}
