// The events of the master as they happen, of one kind if the reader likes.
import { z } from 'zod';
import { newDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import type { StreamEvent, StreamItem } from '../events/items.ts';
import { gapOf } from '../salt/events.ts';
import { type Route, route } from './route.ts';
import { jsonText } from './send.ts';
import { EventStream, eventStreamType, recordOf } from './sse.ts';

const eventId = z.string().regex(/^[0-9a-f]{12}-\d{1,15}$/);

/** The last event that a reader has seen; browsers send the header by themselves. */
export function sinceOf(header: string | string[] | undefined, given: string | undefined): string | undefined {
  if (typeof header === 'string' && eventId.safeParse(header).success) return header;
  return given;
}

export const eventRoutes: readonly Route[] = [
  route(
    {
      ...{ method: 'GET', path: '/events', id: 'streamEvents', tag: 'events', media: [eventStreamType] },
      query: z.strictObject({ tag: z.string().max(256).optional(), since: eventId.optional() }),
      ...{ summary: 'Events as they happen (server-sent events).', needs: 'the rules for the events' },
      ...{ headers: ['Last-Event-ID'], fails: [429] },
    },
    async ({ api, exchange, caller, query }) => {
      const leave = api.streams.enter(caller);
      try {
        if (exchange.method === 'HEAD') {
          exchange.response.writeHead(200, { 'Content-Type': eventStreamType }).end();
          return;
        }
        const since = sinceOf(exchange.request.headers['last-event-id'], query.since);
        const items = api.streams.items({ caller, signal: exchange.signal, from: exchange.peer.address, since });
        const wanted = query.tag === undefined ? () => true : globMatcher(query.tag);
        const stream = new EventStream(api, exchange);
        let begun = false;
        try {
          for await (const item of items) {
            // What is refused is answered before the stream begins.
            if (!begun) stream.begin();
            begun = true;
            const record = recordFor(item, wanted);
            if (record !== undefined && !(await stream.sendRecord(record))) return;
            if (item.type === 'start' && !(await stream.mark(item.id))) return;
          }
          stream.end('the API is stopped');
        } catch (error) {
          if (!begun) throw error;
          stream.end(messageOf(error));
        }
      } finally {
        leave();
      }
    },
  ),
];

function recordFor(item: StreamItem, wanted: (tag: string) => boolean): string | Uint8Array | undefined {
  if (item.type === 'start') return undefined;
  if (item.type === 'gap') return eventRecord({ ...gapOf(item), id: item.id });
  return wanted(item.tag) ? item.form('v1', eventRecord) : undefined;
}

function eventRecord({ id, tag, data }: Pick<StreamEvent, 'id' | 'tag' | 'data'>): string {
  const text = jsonText(
    newDict([
      ['tag', tag],
      ['data', data],
    ]),
  );
  return recordOf(text, id);
}
