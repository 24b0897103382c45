// The results of a job as server-sent events, each as it comes.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { JobItem } from '../../protocol/wire/messages/local.ts';
import type { Api } from '../api.ts';
import type { Exchange } from '../http/exchange.ts';
import { jsonText } from './send.ts';
import { EventStream, eventStreamType } from './sse.ts';

export const wantsStream = ({ request }: Exchange): boolean => (request.headers.accept ?? '').includes(eventStreamType);

/** A client that leaves ends the stream, and not the job. */
export async function streamResults(api: Api, exchange: Exchange, items: AsyncIterable<JobItem>): Promise<void> {
  const output = new EventStream(api, exchange);
  let begun = false;
  try {
    for await (const item of items) {
      // What is refused is answered before the stream begins.
      if (!begun) output.begin();
      begun = true;
      if (!(await output.send(jsonText(shown(item))))) return;
    }
    output.end('that was all');
  } catch (error) {
    if (!begun) throw error;
    output.end(messageOf(error));
  }
}

function shown(item: JobItem): PlainDict {
  const entries: [string, Value][] = Object.entries(item);
  return newDict(entries.map(([name, value]) => [item.type === 'return' && name === 'ret' ? 'return' : name, value]));
}
