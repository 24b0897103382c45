// Frames of the event sockets: what is written is read again, in pieces of any size; garbage ends the connection.
import { describe, expect, it } from 'vitest';
import { unpack } from '../../../base/codec/msgpack/index.ts';
import { EventReader, encodeEvent, type SocketEvent } from './frames.ts';

function readAll(bytes: Buffer, step: number, most = 1 << 20): SocketEvent[] {
  const found: SocketEvent[] = [];
  const reader = new EventReader(most);
  for (let at = 0; at < bytes.length; at += step)
    reader.feed(bytes.subarray(at, at + step), (event) => found.push(event));
  expect(reader.partial).toBe(false);
  return found;
}

describe('event frames', () => {
  const events: SocketEvent[] = [
    { tag: 'salt/job/1/new', data: { a: 1, list: ['x', null] } },
    { tag: 'ü', data: {} },
    { tag: 'large', data: { text: 'x'.repeat(70_000) } },
  ];

  it.each(['length', 'stream'] as const)('%s: any cut gives the same events', (framing) => {
    const bytes = Buffer.concat(events.map(({ tag, data }) => encodeEvent(tag, data, framing)));
    for (const step of [1, 7, 4096, bytes.length]) expect(readAll(bytes, step)).toEqual(events);
  });

  it('is the map that Salt reads, with a length of exactly that map', () => {
    const bytes = encodeEvent('tag', { n: 1 }, 'length');
    expect(bytes.readUInt32BE()).toBe(bytes.length - 4);
    const map = unpack(bytes.subarray(4), { raw: true }) as { body: Uint8Array };
    expect(Buffer.from(map.body).toString('latin1')).toBe('tag\n\n\x81\xa1n\x01');
  });

  it.each([
    ['too large', Buffer.from([0x7f, 0xff, 0xff, 0xff])],
    ['empty', Buffer.from([0, 0, 0, 0])],
    ['no map', Buffer.from([0, 0, 0, 1, 0x01])],
    ['another stream', Buffer.from([0xa5, 1, 2, 3, 4, 5])],
    ['no body', Buffer.from([0x81, 0xa4, 0x68, 0x65, 0x61, 0x64, 0x80])],
    ['body cut short', encodeEvent('', {}, 'stream')],
  ])('refuses a frame that is %s', (_name, bytes) => {
    expect(() => new EventReader(1 << 20).feed(bytes, () => undefined)).toThrowError();
  });
});
