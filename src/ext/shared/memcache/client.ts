// memcached's text protocol: set, get, append and add over one connection, commands in order.
import type { Socket } from 'node:net';
import { HaliteError, messageOf } from 'halite/sdk';
import { hostPort } from '../http/request.ts';

export interface Memcached {
  get(keys: readonly string[]): Promise<Map<string, string>>;
  /** False when the server did not store it (append to a missing key). */
  store(command: 'set' | 'add' | 'append', key: string, value: string, seconds?: number): Promise<boolean>;
  close(): void;
}

/** The flag with which Python clients mark text values; Salt needs it to read them back as text. */
const textFlag = 16;
const timeoutMs = 20_000;
const maxKey = 250;

interface Waiting {
  /** The length of a complete reply at the start of the received bytes, or 0 while it is incomplete. */
  take(data: Buffer): number;
  reject(error: Error): void;
}

/** The connection is opened on first use, and again after it was lost. */
export function memcached(host: string, port: number): Memcached {
  const place = hostPort(host, port);
  let current: Promise<Connection> | undefined;
  const link = (): Promise<Connection> => {
    if (current) return current;
    const forget = (): void => {
      current = undefined;
    };
    current = connectOnce(host, port, forget);
    current.catch(forget);
    return current;
  };
  const send: Send = async (command, read) => (await link()).send(command, read);
  return {
    get: (keys) => getMany(keys, place, send),
    async store(command, key, value, seconds = 0) {
      checkKey(key);
      const size = Buffer.byteLength(value);
      const answer = await send(`${command} ${key} ${textFlag} ${seconds} ${size}\r\n${value}\r\n`, readLine);
      if (answer === 'STORED') return true;
      if (answer === 'NOT_STORED') return false;
      throw refused(place, answer);
    },
    close: () => void current?.then((connection) => connection.close()).catch(() => undefined),
  };
}

interface Connection {
  send: Send;
  close(): void;
}

async function connectOnce(host: string, port: number, ended: () => void): Promise<Connection> {
  const lost = (why: string): HaliteError =>
    new HaliteError('store.unavailable', `memcached at ${hostPort(host, port)} cannot be reached: ${why}`);
  const socket = await open(host, port).catch((error: unknown) => {
    throw lost(messageOf(error));
  });
  const waiting: Waiting[] = [];
  let received = Buffer.alloc(0);
  const fail = (error: HaliteError): void => {
    ended();
    socket.destroy();
    for (const item of waiting.splice(0)) item.reject(error);
  };
  socket.on('data', (piece) => {
    received = Buffer.concat([received, piece as Buffer]);
    while (waiting[0]) {
      const used = waiting[0].take(received);
      if (used === 0) return;
      waiting.shift();
      received = received.subarray(used);
    }
  });
  socket.setTimeout(timeoutMs, () => {
    if (waiting.length > 0) fail(lost(`no answer within ${timeoutMs / 1000} seconds`));
  });
  socket.on('error', (error) => fail(lost(error.message)));
  socket.on('close', () => fail(lost('the connection was closed')));
  const send: Send = (command, read) =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) return reject(lost('the connection was closed'));
      waiting.push({ take: (data) => taken(read(data), resolve), reject });
      socket.write(command);
    });
  return { send, close: () => socket.destroy() };
}

/** Delivers a complete reply; returns its number of bytes. */
function taken<T>(reply: readonly [number, T] | undefined, resolve: (value: T) => void): number {
  if (!reply) return 0;
  resolve(reply[1]);
  return reply[0];
}

type Send = <T>(command: string, read: (data: Buffer) => readonly [number, T] | undefined) => Promise<T>;

async function getMany(keys: readonly string[], place: string, send: Send): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  // The server limits the length of a command line.
  for (let i = 0; i < keys.length; i += 100) {
    const some = keys.slice(i, i + 100).filter((key) => isKey(key));
    if (some.length === 0) continue;
    const answer = await send(`get ${some.join(' ')}\r\n`, readValues);
    if (typeof answer === 'string') throw refused(place, answer);
    for (const [key, value] of answer) found.set(key, value);
  }
  return found;
}

async function open(host: string, port: number): Promise<Socket> {
  const { connect } = await import('node:net');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const late = setTimeout(() => socket.destroy(new Error('no connection in time')), timeoutMs);
    socket.once('error', reject);
    socket.once('connect', () => {
      clearTimeout(late);
      socket.removeListener('error', reject);
      resolve(socket);
    });
    socket.once('close', () => clearTimeout(late));
  });
}

/** Spaces and control characters would end the key and start another command. */
const isKey = (key: string): boolean =>
  Buffer.byteLength(key) <= maxKey && !/[\s\x00-\x1f\x7f]/.test(key) && key !== '';

function checkKey(key: string): void {
  if (!isKey(key)) throw new HaliteError('call.arguments', `memcached takes no key like '${key.slice(0, 60)}'`);
}

const refused = (place: string, answer: string): HaliteError =>
  new HaliteError('call.failed', `memcached at ${place} answered: ${answer.slice(0, 200)}`);

function readLine(data: Buffer): readonly [number, string] | undefined {
  const end = data.indexOf('\r\n');
  return end < 0 ? undefined : [end + 2, data.toString('utf8', 0, end)];
}

/** `VALUE <key> <flags> <bytes>` and the bytes, again and again, until `END`; any other line is an error, as text. */
function readValues(data: Buffer): readonly [number, [string, string][] | string] | undefined {
  const found: [string, string][] = [];
  let at = 0;
  for (;;) {
    const line = readLine(data.subarray(at));
    if (!line) return undefined;
    const [word, key = '', , size] = line[1].split(' ');
    at += line[0];
    if (word === 'END') return [at, found];
    const bytes = Number(size);
    if (word !== 'VALUE' || !Number.isInteger(bytes)) return [at, line[1]];
    if (data.length < at + bytes + 2) return undefined;
    found.push([key, data.toString('utf8', at, at + bytes)]);
    at += bytes + 2;
  }
}
