// `/events`: the events that the caller may see, as server-sent events.
import { dumpJson } from '../../base/codec/json/index.ts';
import { newDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Api } from '../api.ts';
import type { StreamEvent, StreamGap, StreamItem } from '../events/items.ts';
import { written } from '../events/writer.ts';
import { portable } from '../http/answer.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Caller } from '../master.ts';

const pingMs = 15_000;
/** Older versions of SaltGUI send the token there as well. */
const droppedParameters = new Set(['token', 'salt_token']);

export async function events(api: Api, exchange: Exchange, caller: Caller): Promise<void> {
  for (const name of exchange.query.keys())
    if (!droppedParameters.has(name))
      throw new ApiError(
        400,
        'Query parameters are not accepted here: send the token in the header X-Auth-Token or in the cookie.',
      );
  const { response, request, signal } = exchange;
  const leave = api.streams.enter(caller);
  try {
    const headers = {
      'Content-Type': 'text/event-stream;charset=utf-8',
      'Cache-Control': 'no-cache',
      Connection: 'keep-alive',
      'X-Accel-Buffering': 'no',
    };
    if (request.method === 'HEAD') {
      response.writeHead(200, headers).end();
      return;
    }
    const since = request.headers['last-event-id'];
    const items = api.streams.items({
      ...{ caller, signal, from: exchange.peer.address },
      since: typeof since === 'string' && since !== '' ? since : undefined,
    });
    // What is refused is answered before the stream begins.
    const begun = items[Symbol.asyncIterator]();
    const first = await begun.next();
    response.writeHead(200, headers);
    request.socket.setTimeout(0);
    // One line break: it belongs to the first record.
    response.write('retry: 400\n');
    response.flushHeaders();
    await follow(api, exchange, first, begun);
  } finally {
    leave();
  }
}

async function follow(
  { log }: Api,
  { response, peer }: Exchange,
  first: IteratorResult<StreamItem>,
  items: AsyncIterator<StreamItem>,
): Promise<void> {
  const ping = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': ping\n\n');
  }, pingMs);
  let why = 'the API is stopped';
  try {
    for (let next = first; !next.done; next = await items.next()) {
      if (await written(response, recordOf(next.value))) continue;
      log.info('an event stream is closed: its reader does not read', { from: peer.address });
      response.destroy();
      return;
    }
  } catch (error) {
    why = messageOf(error);
  } finally {
    clearInterval(ping);
    await items.return?.();
  }
  if (!response.destroyed) response.end(`: closed: ${why.replace(/[\r\n]+/g, ' ')}\n\n`);
}

/** Scripts look for the line `tag:` first; a line `event:` would hide the record from browsers. */
function recordOf(item: StreamItem): string | Uint8Array {
  if (item.type === 'start') return '';
  return item.type === 'event' ? item.form('salt', recordText) : recordText({ ...gapOf(item), id: item.id });
}

function recordText({ id, tag, data }: Pick<StreamEvent, 'id' | 'tag' | 'data'>): string {
  const body = newDict([
    ['tag', tag],
    ['data', data],
  ]);
  const text = dumpJson(portable(body), { ensureAscii: false });
  return `tag: ${oneLine(tag)}\ndata: ${oneLine(text)}\nid: ${id}\n\n`;
}

/** Server-sent events end their lines at any of these. */
const oneLine = (text: string): string => text.replace(/[\r\n]/g, ' ');

export const gapOf = ({ missed }: StreamGap) => ({
  tag: 'halite/events/gap',
  data: newDict([['missed', missed ?? null]]),
});
