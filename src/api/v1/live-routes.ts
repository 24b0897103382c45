// The live stream: opened by a GET, its topics set by a POST of the same user.
import { z } from 'zod';
import { ApiError } from '../http/errors.ts';
import type { Caller } from '../master.ts';
import { sinceOf } from './events.ts';
import { LiveStream, liveOnce, type Topics } from './live.ts';
import { notThere } from './problems.ts';
import { type Route, route } from './route.ts';
import { mostTopics, subscribe, topicName } from './schemas.ts';
import { jsonText, sendJson, sendNothing } from './send.ts';
import { EventStream, eventStreamType } from './sse.ts';

/** The open ones, by their id. */
const streams = new Map<string, LiveStream>();

/** Another user who learns an id gets nothing from it. */
function streamOf(id: string, { name, eauth }: Caller): LiveStream {
  const found = streams.get(id);
  if (!found || found.caller.name !== name || found.caller.eauth !== eauth) throw notThere();
  return found;
}

function topicsOf(text: string | undefined, since: string | undefined): Topics {
  const names = (text ?? '').split(',').filter((name) => name !== '');
  if (names.length > mostTopics) throw new ApiError(400, `A stream has at most ${mostTopics} topics.`);
  for (const name of names)
    if (!topicName.safeParse(name).success) throw new ApiError(400, `There is no topic '${name.slice(0, 64)}'.`);
  return Object.fromEntries(names.map((name) => [name, since === undefined ? {} : { since }]));
}

export const liveRoutes: readonly Route[] = [
  route(
    {
      ...{ method: 'GET', path: '/live', id: 'streamLive', tag: 'live', media: [eventStreamType] },
      query: z.strictObject({
        topics: z.string().max(4_000).optional(),
        once: z.enum(['1']).optional(),
        since: z.string().max(64).optional(),
      }),
      ...{ summary: 'Everything that a page shows, as it changes (server-sent events).', needs: 'as the lists' },
      ...{ headers: ['Last-Event-ID'], fails: [429] },
    },
    async ({ api, exchange, caller, query }) => {
      const from = exchange.peer.address;
      const since = sinceOf(exchange.request.headers['last-event-id'], query.since);
      const topics = topicsOf(query.topics, since);
      const leave = api.streams.enter(caller);
      try {
        if (exchange.method === 'HEAD') {
          exchange.response.writeHead(200, { 'Content-Type': eventStreamType }).end();
          return;
        }
        if (query.once !== undefined) {
          sendJson(exchange, await liveOnce(api, caller, from, topics, exchange.signal));
          return;
        }
        const output = new EventStream(api, exchange);
        const stop = new AbortController();
        const stream = new LiveStream(api, caller, {
          ...{ from, since, signal: AbortSignal.any([exchange.signal, stop.signal]) },
          emit: (message, id) => {
            if (message instanceof Uint8Array) return output.sendRecord(message);
            return message ? output.send(jsonText(message), id) : output.mark(id ?? '');
          },
          end: (why) => {
            output.end(why);
            stop.abort();
          },
        });
        streams.set(stream.id, stream);
        try {
          output.begin();
          await output.send(jsonText(['h', stream.id, since ?? null]));
          stream.set(topics);
          await left(exchange.signal);
        } finally {
          stop.abort();
          streams.delete(stream.id);
        }
      } finally {
        leave();
      }
    },
  ),
  route(
    {
      ...{ method: 'POST', path: '/live/{stream}', id: 'setTopics', tag: 'live', body: subscribe, status: 204 },
      params: z.strictObject({ stream: z.string().regex(/^[0-9a-f]{32}$/) }),
      summary: 'Replace the topics of an open stream.',
    },
    async ({ exchange, caller, params, body }) => {
      streamOf(params.stream, caller).set(body.topics);
      sendNothing(exchange);
    },
  ),
];

function left(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
