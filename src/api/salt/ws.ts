// `/ws`: the events that the caller may see, over a WebSocket. Nothing is sent until the client says that it is ready.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { dumpJson } from '../../base/codec/json/index.ts';
import { newDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { encodeFrame, opcodes, WsReader } from '../../protocol/wire/ws/codec.ts';
import { acceptKey } from '../../protocol/wire/ws/handshake.ts';
import type { Api } from '../api.ts';
import { addressOf } from '../dispatch.ts';
import { FormattedEvents } from '../events/formatted.ts';
import type { StreamEvent, StreamItem } from '../events/items.ts';
import { written } from '../events/writer.ts';
import { portable } from '../http/answer.ts';
import { isOwnOrigin } from '../http/cors.ts';
import { givenToken } from '../http/credentials.ts';
import { ApiError, fromMaster, noPermission } from '../http/errors.ts';
import { isListed, peerOf } from '../http/peer.ts';
import { isHex } from '../lowstate/chunk.ts';
import type { Caller } from '../master.ts';
import { gapOf } from './events.ts';

const maxMessageBytes = 64 * 1024;
const pingMs = 20_000;
const silentMs = 60_000;
const tellMs = 250;
const patienceMs = 30_000;
const ready = 'websocket client ready';
const codes = { normal: 1000, protocol: 1002, policy: 1008, large: 1009, away: 1012 } as const;

export async function upgradeToWebSocket(api: Api, request: IncomingMessage, socket: Socket, head: Buffer) {
  socket.on('error', () => undefined);
  try {
    const { key, caller, from, formatted } = await accepted(api, request);
    const leave = api.streams.enter(caller);
    socket.once('close', leave);
    if (socket.destroyed) return leave();
    socket.setTimeout(0);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptKey(key)}\r\n\r\n`,
    );
    new EventSocket(api, socket, { caller, from, formatted }).start(head);
  } catch (error) {
    const { status, message } = fromMaster(error) ?? new ApiError(500, 'An unexpected error occurred');
    const body = dumpJson(
      newDict([
        ['status', status],
        ['return', message],
      ]),
    );
    socket.end(
      `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
}

interface Accepted {
  readonly caller: Caller;
  readonly from: string;
  /** Jobs and minions as they are, instead of each event. */
  readonly formatted: boolean;
}

async function accepted({ settings, master }: Api, request: IncomingMessage): Promise<Accepted & { key: string }> {
  const peer = peerOf(request, settings.trustedProxies);
  if (settings.authorizedIps && !isListed(peer.address, settings.authorizedIps)) throw new ApiError(403, 'Bad IP');
  const { path = '', query } = addressOf(request.url ?? '', settings.rootPrefix) ?? {};
  const found = /^\/(ws|all_events|formatted_events)(?:\/([^/]*))?$/.exec(path);
  if (!found) throw new ApiError(404, 'Nothing matches the given URI');
  const { headers } = request;
  const key = headers['sec-websocket-key'];
  const isWebSocket = headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET';
  if (!isWebSocket || !key || key.length > 64 || headers['sec-websocket-version'] !== '13')
    throw new ApiError(400, 'This is no WebSocket handshake');
  const formatted = found[1] === 'formatted_events' || query?.has('format_events') === true;
  const given = found[2] ? { token: found[2], byCookie: false } : givenToken(headers, settings.enableSessions);
  if (!given || !isHex(given.token)) throw noPermission();
  const who = await master.whoIs(given.token, peer.address);
  if (!who) throw noPermission();
  // Browsers open WebSockets to any server, with its cookies.
  if (given.byCookie && !isOwnOrigin({ headers, secure: peer.secure, allowed: settings.corsOrigin }))
    throw new ApiError(403, 'This page may not use the cookie of another one');
  return { key, formatted, caller: { ...who, token: given.token }, from: peer.address };
}

class EventSocket {
  readonly #api: Api;
  readonly #socket: Socket;
  readonly #caller: Caller;
  readonly #from: string;
  readonly #formatted: FormattedEvents | undefined;
  readonly #reader = new WsReader(maxMessageBytes, true);
  readonly #left = new AbortController();
  /** Waits until something may be told again. */
  #telling: NodeJS.Timeout | undefined;
  /** For how long the reader has not read, in milliseconds. */
  #unread = 0;
  #ready = false;
  #heard = Date.now();

  constructor(api: Api, socket: Socket, { caller, from, formatted }: Accepted) {
    this.#api = api;
    this.#socket = socket;
    this.#caller = caller;
    this.#from = from;
    this.#formatted = formatted ? new FormattedEvents() : undefined;
  }

  start(head: Buffer): void {
    const socket = this.#socket;
    const ping = setInterval(() => this.#ping(), pingMs);
    socket.once('close', () => {
      clearInterval(ping);
      this.#left.abort();
    });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    if (head.length > 0) this.#read(head);
  }

  #ping(): void {
    if (Date.now() - this.#heard > silentMs) this.#socket.destroy();
    else this.#send(opcodes.ping, '');
  }

  #send(opcode: number, text: string | Uint8Array): boolean {
    const data = typeof text === 'string' ? Buffer.from(text) : text;
    return !this.#socket.destroyed && this.#socket.write(encodeFrame(opcode, data, false));
  }

  #read(chunk: Buffer): void {
    this.#heard = Date.now();
    try {
      for (const { opcode, data } of this.#reader.feed(chunk)) this.#take(opcode, data);
    } catch (error) {
      this.#close(messageOf(error).includes('larger') ? codes.large : codes.protocol, 'not a valid message');
    }
  }

  #take(opcode: number, data: Buffer): void {
    // Whoever does not read the answers sends no more.
    if (this.#socket.writableLength > maxMessageBytes) return void this.#socket.destroy();
    if (opcode === opcodes.ping) this.#send(opcodes.pong, data);
    if (opcode === opcodes.close) this.#close(codes.normal, '');
    if (opcode !== opcodes.text) return;
    this.#send(opcodes.text, 'server received message');
    if (data.toString('utf8') !== ready || this.#ready) return;
    this.#ready = true;
    void this.#follow();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#left;
    try {
      const items = this.#api.streams.items({ caller: this.#caller, from: this.#from, signal, since: undefined });
      for await (const item of items) {
        if (item.type === 'start') continue;
        if (this.#formatted) {
          if (item.type === 'event') this.#formatted.take(item.tag, item.data);
          this.#tell();
          continue;
        }
        if (await written(this.#socket, frameOf(item))) continue;
        this.#api.log.info('a WebSocket is closed: its reader does not read', { from: this.#from });
        this.#socket.destroy();
        return;
      }
    } catch (error) {
      this.#close(codes.policy, messageOf(error));
    }
  }

  /** Jobs and minions as they are: at most every `tellMs`, and not to a reader that does not read. */
  #tell(): void {
    if (this.#telling || this.#socket.destroyed) return;
    if (this.#socket.writableNeedDrain) {
      this.#unread += tellMs;
      if (this.#unread > patienceMs) return void this.#socket.destroy();
    } else {
      this.#unread = 0;
      const changes = this.#formatted?.changes() ?? [];
      for (const each of changes) this.#send(opcodes.text, dumpJson(portable(each), { ensureAscii: false }));
      if (changes.length === 0) return;
    }
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      this.#tell();
    }, tellMs).unref();
  }

  #close(code: number, why: string): void {
    const reason = Buffer.alloc(2);
    reason.writeUInt16BE(code);
    this.#send(opcodes.close, Buffer.concat([reason, Buffer.from(why).subarray(0, 100)]));
    this.#socket.end();
  }
}

function frameOf(item: Exclude<StreamItem, { type: 'start' }>): Uint8Array {
  return item.type === 'event' ? item.form('ws', frame) : frame(gapOf(item));
}

/** With the prefix and the empty line of server-sent events, as Salt sends it. */
function frame({ tag, data }: Pick<StreamEvent, 'tag' | 'data'>): Uint8Array {
  const body = newDict([
    ['tag', tag],
    ['data', data],
  ]);
  const text = `data: ${dumpJson(portable(body), { ensureAscii: false })}\n\n`;
  return encodeFrame(opcodes.text, Buffer.from(text), false);
}
