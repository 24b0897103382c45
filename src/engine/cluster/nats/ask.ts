// Asks one member: the answer comes in items, as fast as they are read.
import { createInbox } from '@nats-io/transport-node';
import { asList, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { AsyncQueue } from '../../../base/util/async-queue.ts';
import type { Question } from '../api.ts';
import type { Core } from './core.ts';
import { mostSealedBytes } from './envelope.ts';

/** So many items may be on their way; each half of them is told to be read. */
export const mostUnread = 32;

export interface Asked {
  readonly to: string;
  readonly what: Question;
  readonly body: Value;
  /** Longest time until the next item. */
  readonly timeoutMs: number;
}

type Answer =
  | { readonly kind: 'item'; readonly value: Value }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly text: string };

export async function* askMember(core: Core, slotOf: () => number, asked: Asked): AsyncIterable<Value> {
  const subject = `halite.${core.options.name}.ask.${slotOf()}`;
  const { nc } = core.js().connection;
  const inbox = createInbox();
  const answers = new AsyncQueue<Answer>();
  let [control, expected] = ['', 1];
  const subscription = nc.subscribe(inbox, {
    callback: (error, message) => {
      if (error) {
        answers.fail(lost(asked, error.message));
        return;
      }
      if (message.headers?.code === 503) {
        answers.fail(lost(asked, 'it does not listen'));
        return;
      }
      const opened = core.envelope.open(inbox, message.data);
      if (typeof opened === 'string') {
        core.refused('answer', opened);
        return;
      }
      const [count, kind, value = null] = asList(opened.body) ?? [];
      if (count !== expected) {
        answers.fail(lost(asked, 'a part of the answer is missing'));
        return;
      }
      expected += 1;
      control = message.reply ?? control;
      if (kind === 'item') answers.push({ kind, value });
      else answers.push(kind === 'end' ? { kind } : { kind: 'error', text: String(value) });
    },
  });
  const tell = (read: number): void => {
    if (control !== '' && core.js().connection.connected)
      nc.publish(control, core.envelope.seal(control, [read]).bytes);
  };
  const { bytes } = core.envelope.seal(subject, [inbox, asked.what, asked.body]);
  if (bytes.length > mostSealedBytes) throw new HaliteError('codec.limit', 'A question to another member is too large');
  nc.publish(subject, bytes, { reply: inbox });
  let read = 0;
  try {
    for (;;) {
      const answer = await nextWithin(answers, asked);
      if (answer.kind === 'end') return;
      if (answer.kind === 'error')
        throw new HaliteError('cluster.refused', `The master ${asked.to} cannot answer: ${answer.text}`);
      yield answer.value;
      read += 1;
      if (read % (mostUnread / 2) === 0) tell(read);
    }
  } finally {
    subscription.unsubscribe();
    // Whoever answers stops; after the end nobody listens any more.
    tell(-1);
  }
}

async function nextWithin(answers: AsyncQueue<Answer>, asked: Asked): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(lost(asked, `nothing came within ${asked.timeoutMs} ms`)), asked.timeoutMs);
  });
  try {
    const next = await Promise.race([answers.next(), late]);
    if (next.done) throw lost(asked, 'the connection ended');
    return next.value;
  } finally {
    clearTimeout(timer);
  }
}

const lost = ({ to, what }: Asked, why: string): HaliteError =>
  new HaliteError('cluster.cut-off', `The master ${to} did not answer the question ${what}: ${why}`);
