// A job whose master ends while the command waits: the command waits for the master too, and then goes on.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientOpts } from '../../base/config/opts.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { JobItem, LocalClient, LocalPublish } from '../../engine/client/api.ts';
import { connectLocal } from '../../engine/client/local.ts';
import type { Terminal } from '../io.ts';
import { goneText, unsentText } from './missing.ts';
import { Tally } from './tally.ts';

/** How long a master may take to come back, each time. */
const patienceMs = 30_000;
const pauseMs = 300;

export interface Following {
  readonly client: LocalClient;
  readonly opts: ClientOpts;
  readonly call: LocalPublish;
  /** What was shown so far; not shown again. */
  readonly tally: Tally;
  readonly io: Terminal;
  /** Call before printing anything. */
  clear(): void;
}

const isLost = (error: unknown): error is HaliteError =>
  error instanceof HaliteError && (error.code === 'wire.closed' || error.code === 'daemon.unreachable');

/** The items of a job, across restarts of the master. Throws wire.closed when it does not come back. */
export async function* followJob(following: Following): AsyncIterable<JobItem> {
  const { client, call, tally } = following;
  try {
    yield* client.publish({ ...call, announce: true });
    return;
  } catch (error) {
    if (!isLost(error)) throw error;
    if (tally.jid === '') throw unknownOutcome(error);
  }
  tell(
    following,
    tally.sent
      ? `The connection to the master was lost. The job ${tally.jid} goes on; waiting for the master…\n`
      : `The connection to the master was lost while it sent the job ${tally.jid}; waiting for the master…\n`,
  );
  for (;;) {
    const again = await reconnect(following);
    try {
      tellUnsent(following);
      for await (const item of again.attach(tally.jid)) if (!tally.knows(item)) yield item;
      return;
    } catch (error) {
      // A master that knows nothing of the job has lost its history.
      if (!isLost(error)) throw gone(following, error instanceof HaliteError ? error.message : String(error));
    } finally {
      again.close();
    }
  }
}

/** Sends a job that nobody waits for; returns its jid, '' when it is sent to nobody. */
export async function sendJob(client: LocalClient, call: LocalPublish): Promise<string> {
  const tally = new Tally();
  try {
    for await (const item of client.publish({ ...call, announce: true })) {
      tally.add(item);
      if (item.type === 'job') return item.jid;
    }
    return '';
  } catch (error) {
    if (!isLost(error)) throw error;
    if (tally.jid === '') throw unknownOutcome(error);
    throw new HaliteError(error.code, goneText(tally, 'The master ended.'));
  }
}

async function reconnect(following: Following): Promise<LocalClient> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await connectLocal(following.opts);
    } catch (error) {
      if (!isLost(error) || performance.now() > until) {
        throw gone(following, `The master did not come back within ${patienceMs / 1000} s.`);
      }
    }
    await sleep(pauseMs);
  }
}

function tell({ clear, io }: Following, text: string): void {
  clear();
  io.err(text);
}

/** The next part of a batch is sent by the process that began it. */
function tellUnsent(following: Following): void {
  const unsent = following.tally.unsent();
  if (unsent.length > 0) tell(following, unsentText(unsent));
}

function gone({ tally, clear }: Following, why: string): HaliteError {
  clear();
  return new HaliteError('wire.closed', goneText(tally, why));
}

const unknownOutcome = (error: HaliteError): HaliteError =>
  new HaliteError(error.code, 'The master ended before it said whether it took the job', {
    hint: 'When it runs again, see whether it published it: salt-run jobs.last_run',
  });
