// The other side of newcomers.ts: a machine that is no member asks, and hears whoever answers.
import { createInbox } from '@nats-io/transport-node';
import { nullLogger } from '../../../base/log/null-logger.ts';
import { AsyncQueue } from '../../../base/util/async-queue.ts';
import { joinSubject, mostAnswerBytes } from '../joining/messages.ts';
import type { ClusterOptions } from '../options.ts';
import { Connection } from './connection.ts';

/** A stranger could answer without end. */
const mostAnswers = 64;
const connectMs = 10_000;
const againMs = 3000;

/** What comes back within the time, in order; the question is asked again every three seconds. */
export async function* askToJoin(
  options: ClusterOptions,
  bytes: Uint8Array,
  timeoutMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const connection = await Connection.open(options, `halite ${options.name} joining`, nullLogger(), connectMs);
  const { nc } = connection;
  const answers = new AsyncQueue<Uint8Array>();
  const inbox = createInbox();
  let count = 0;
  nc.subscribe(inbox, {
    callback: (error, { data, headers }) => {
      // 503: nobody listens; members may be starting.
      if (error || headers?.code === 503 || data.length > mostAnswerBytes * 2) return;
      count += 1;
      if (count <= mostAnswers) answers.push(data);
    },
  });
  const ask = (): void => {
    if (connection.connected) nc.publish(joinSubject(options.name), bytes, { reply: inbox });
  };
  ask();
  const again = setInterval(ask, againMs);
  const end = setTimeout(() => answers.close(), timeoutMs);
  try {
    yield* answers;
  } finally {
    clearInterval(again);
    clearTimeout(end);
    await connection.close();
  }
}
