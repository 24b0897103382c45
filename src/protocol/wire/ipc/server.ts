// The daemon's side of the local socket: many clients, many calls each, streams of items with back-pressure.
import { createServer, type Socket } from 'node:net';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { encode, type Message, MessageReader } from './frames.ts';
import { type IpcCall, Responder } from './responder.ts';
import { claimSocket } from './socket-file.ts';

/** Answers with `call.send`. The call ends when the handler is done and fails when it throws. */
export type IpcHandler = (call: IpcCall) => unknown;

export interface IpcServer {
  close(): Promise<void>;
}

const MAX_CALLS_PER_CLIENT = 4096;
// Beyond this the client does not read at all: it is dropped.
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;

/** Listens on the path, which appears only when the permissions are set. A file left by a dead daemon is replaced. */
export async function listenIpc(path: string, options: { mode: number }, handler: IpcHandler): Promise<IpcServer> {
  const clients = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    clients.add(socket);
    socket.on('close', () => clients.delete(socket));
    serveClient(socket, `ipc#${++count}`, handler);
  });
  const release = await claimSocket(server, path, options.mode);
  return {
    async close() {
      await release();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of clients) socket.destroy();
      await closed;
    },
  };
}

function serveClient(socket: Socket, peer: string, handler: IpcHandler): void {
  const reader = new MessageReader();
  const calls = new Map<number, Responder>();
  const write = (message: Message): boolean => {
    if (socket.destroyed) return false;
    const flowing = socket.write(encode(message));
    if (socket.writableLength > MAX_UNSENT_BYTES) socket.destroy();
    return flowing;
  };
  socket.on('error', () => undefined);
  socket.on('drain', () => {
    for (const call of calls.values()) call.pump();
  });
  socket.on('close', () => {
    for (const call of calls.values()) call.abandon('The client went away');
    calls.clear();
  });
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const message of reader.feed(chunk)) receive(message);
    } catch {
      socket.destroy();
    }
  });

  const receive = (message: Message): void => {
    const [id, kind, first, second] = message;
    if (kind === 'call') {
      if (typeof first !== 'string' || calls.has(id) || calls.size >= MAX_CALLS_PER_CLIENT) {
        throw new HaliteError('codec.malformed', 'A local call has the wrong form');
      }
      const call = new Responder({ id, verb: first, args: plainArgs(second), peer }, write, () => calls.delete(id));
      calls.set(id, call);
      void answer(call, handler);
    } else if (kind === 'more' && typeof first === 'number') {
      calls.get(id)?.grant(first);
    } else if (kind === 'cancel') {
      calls.get(id)?.abandon('The client cancelled the call');
      calls.delete(id);
    }
  };
}

async function answer(call: Responder, handler: IpcHandler): Promise<void> {
  try {
    await handler(call);
    call.end();
  } catch (thrown) {
    call.fail(thrown);
  }
}

/** Arguments have names; a map with other keys would be nobody's. */
function plainArgs(value: Value | undefined): PlainDict {
  const args = newDict();
  if (isDict(value)) for (const [key, item] of dictEntries(value)) if (typeof key === 'string') args[key] = item;
  return args;
}
