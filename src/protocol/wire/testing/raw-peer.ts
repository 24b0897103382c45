// Peers that write ZMTP bytes directly, to send what no library would send.
import { connect, type Socket } from 'node:net';

const loopback = '127.0.0.1';
const signature = Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f]);

export interface RawPeer {
  readonly socket: Socket;
  /** All received bytes. */
  received(): Buffer;
}

/** A connection that reads its input, unless it is paused. */
export function rawPeer(port: number): Promise<RawPeer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, loopback, () => resolve({ socket, received: () => Buffer.concat(chunks) }));
    socket.setNoDelay(true);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('error', reject);
    socket.on('error', () => undefined);
  });
}

export function greeting3(minor = 1, mechanism = 'NULL'): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.set([...signature, 3, minor, ...Buffer.from(mechanism)]);
  return bytes;
}

export const greeting2 = (type: number): Buffer => Buffer.concat([signature, Buffer.from([1, type, 0, 0])]);

/** `flags`: 0 last, 1 more, 4 command. */
export function frame(body: Buffer | string, flags = 0): Buffer {
  const bytes = Buffer.from(body);
  if (bytes.length < 256) return Buffer.concat([Buffer.from([flags, bytes.length]), bytes]);
  return Buffer.concat([announced(bytes.length, flags), bytes]);
}

/** The head of a frame with an announced size. */
export function announced(length: number, flags = 0): Buffer {
  const head = Buffer.alloc(9);
  head[0] = flags | 2;
  head.writeBigUInt64BE(BigInt(length), 1);
  return head;
}

const property = (name: string, value: string): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(value.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), size, Buffer.from(value)]);
};

export const command = (name: string, body: Buffer | string = ''): Buffer =>
  frame(Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from(body)]), 4);

export const ready = (type: string, identity = ''): Buffer =>
  command('READY', Buffer.concat([property('Socket-Type', type), property('Identity', identity)]));

export const request = (payload: Buffer | string): Buffer => Buffer.concat([frame('', 1), frame(payload)]);

/** The bytes that a server sends before the first reply. */
export function handshakeBytes(type: 'ROUTER' | 'XPUB'): number {
  return 64 + ready(type).length;
}

/** A peer of ZMTP 3 after its handshake. */
export async function zmtpPeer(port: number, type: string, identity = '', minor = 1): Promise<RawPeer> {
  const peer = await rawPeer(port);
  peer.socket.write(Buffer.concat([greeting3(minor), ready(type, identity)]));
  return peer;
}
