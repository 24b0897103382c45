// The commands of ZMTP 3: parsed from untrusted bytes, and those that a server sends.
import { HaliteError } from '../../../../base/errors/index.ts';
import { flags } from './frames.ts';

export interface Command {
  readonly name: string;
  readonly body: Buffer;
}

/** Longest context of a PING, which its PONG repeats. */
const maxContext = 16;

export function readCommand(frame: Buffer): Command {
  const size = frame[0];
  if (size === undefined || size === 0 || 1 + size > frame.length) throw malformed('a command has no name');
  return { name: frame.toString('latin1', 1, 1 + size), body: frame.subarray(1 + size) };
}

/** A whole frame with a command; ours are short. */
function commandFrame(name: string, body: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([flags.command, 1 + name.length + body.length, name.length]),
    Buffer.from(name),
    body,
  ]);
}

function property(name: string, value: string): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(value.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), size, Buffer.from(value)]);
}

export function readyCommand(own: { readonly name: string }): Buffer {
  return commandFrame('READY', Buffer.concat([property('Socket-Type', own.name), property('Identity', '')]));
}

export function errorCommand(reason: string): Buffer {
  return commandFrame('ERROR', Buffer.concat([Buffer.from([reason.length]), Buffer.from(reason)]));
}

/** A peer that hears nothing more for this long disconnects by itself: the host of the master may have vanished. */
export const timeToLiveMs = 30_000;
const timeToLive = Buffer.alloc(2);
timeToLive.writeUInt16BE(timeToLiveMs / 100);
export const pingCommand: Buffer = commandFrame('PING', timeToLive);
/** Asks for a PONG and promises nothing. */
export const probeCommand: Buffer = commandFrame('PING', Buffer.alloc(2));

/** The time within which the peer expects a message (0: none), and the answer to its PING. */
export function readPing(body: Buffer): { ttlMs: number; pong: Buffer } {
  if (body.length < 2) throw malformed('a PING has no time to live');
  if (body.length > 2 + maxContext) throw malformed('a PING has too long a context');
  return { ttlMs: body.readUInt16BE(0) * 100, pong: commandFrame('PONG', body.subarray(2)) };
}

/** What a READY says about the peer; property names are compared without case. */
export function readReady(body: Buffer): { socketType: string; identity: Buffer } {
  let socketType = '';
  let identity: Buffer = Buffer.alloc(0);
  let at = 0;
  while (at < body.length) {
    const nameEnd = at + 1 + (body[at] as number);
    if (nameEnd === at + 1 || nameEnd + 4 > body.length) throw malformed('a property of READY is truncated');
    const name = body.toString('latin1', at + 1, nameEnd).toLowerCase();
    const end = nameEnd + 4 + body.readUInt32BE(nameEnd);
    if (end > body.length) throw malformed('a property of READY is truncated');
    const value = body.subarray(nameEnd + 4, end);
    if (name === 'socket-type') socketType = value.toString('latin1');
    else if (name === 'identity') identity = value;
    at = end;
  }
  if (identity.length > 255) throw malformed('an identity is too long');
  return { socketType, identity };
}

export function malformed(what: string): HaliteError {
  return new HaliteError('codec.malformed', `Not valid ZMTP: ${what}`);
}
