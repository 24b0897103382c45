// The readers of byte streams (TCP, WebSocket, local socket): pieces of any size give the same, nothing is held for nothing.
import { newDict } from '../../../src/base/codec/value.ts';
import { encode, MessageReader } from '../../../src/protocol/wire/ipc/frames.ts';
import * as stdio from '../../../src/protocol/wire/stdio/frames.ts';
import { headText, joinFrame, publishBody, splitFrame } from '../../../src/protocol/wire/tcp/frame.ts';
import { FrameReader } from '../../../src/protocol/wire/tcp/frame-reader.ts';
import { encodeFrame, WsReader } from '../../../src/protocol/wire/ws/codec.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';

const most = 4096;
type Feed = (chunk: Buffer) => readonly unknown[];

/** All that came out, and whether the stream was refused. */
function drain(feed: Feed, bytes: Uint8Array, size: number): { out: unknown[]; refused: boolean } {
  const out: unknown[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const got = read(() => feed(Buffer.from(bytes.slice(at, at + size))));
    if (got === undefined) return { out, refused: true };
    out.push(...got);
  }
  return { out, refused: false };
}

function compareSizes(make: () => Feed, bytes: Uint8Array): unknown[] {
  const single = drain(make(), bytes, 1);
  const seven = drain(make(), bytes, 7);
  const whole = drain(make(), bytes, bytes.length || 1);
  // In small pieces a bound may be noticed earlier, never later.
  hold(single.refused || (!whole.refused && !seven.refused), 'a stream refused whole is refused in pieces');
  if (!single.refused) {
    hold(JSON.stringify(single.out) === JSON.stringify(whole.out), 'pieces give what the whole gives');
    hold(JSON.stringify(seven.out) === JSON.stringify(whole.out), 'pieces give what the whole gives');
  }
  return single.out;
}

const streams: readonly ((bytes: Uint8Array) => void)[] = [
  (bytes) => {
    const frames = compareSizes(() => {
      const reader = new FrameReader(most);
      return (chunk) => {
        const got = reader.feed(chunk);
        hold(reader.pending <= most, 'a bounded part of a frame is held');
        return got;
      };
    }, bytes) as Buffer[];
    for (const frame of frames) {
      const parts = read(() => splitFrame(frame));
      if (!parts) continue;
      const again = splitFrame(joinFrame(parts.head, parts.body));
      hold(
        again?.body.equals(parts.body) === true && again.head.equals(parts.head),
        'a frame joined again splits again',
      );
      headText(parts.head, 'mid');
      hold(publishBody(parts.body).length <= parts.body.length, 'a body is a part');
    }
  },
  ...[true, false].map((masked) => (bytes: Uint8Array): void => {
    compareSizes(() => {
      const reader = new WsReader(most, masked);
      return (chunk) => {
        const got = reader.feed(chunk);
        hold(reader.pending <= most + 1024, 'a bounded part of a message is held');
        return got.map(({ opcode, data }) => [opcode, data.toString('latin1')]);
      };
    }, bytes);
    const written = encodeFrame(2, bytes, masked);
    const [message] = new WsReader(most, masked).feed(written);
    hold(message?.data.equals(bytes) === true, 'a message written is read');
  }),
  (bytes) => {
    compareSizes(() => {
      const reader = new MessageReader();
      return (chunk) => {
        const got: unknown[] = [];
        reader.feed(chunk, ([id, kind]) => got.push([id, kind]));
        return got;
      };
    }, bytes);
  },
  (bytes) => {
    compareSizes(() => {
      const got: unknown[] = [];
      const line = (text: string): number => got.push(text);
      const message = (read: Parameters<typeof stdio.encodeFrame>[0]): number =>
        got.push(stdio.encodeFrame(read).toString('latin1'));
      const reader = new stdio.FrameReader({ line, message }, { bytes: most, items: 1000 });
      return (chunk) => {
        reader.feed(chunk);
        return got.splice(0);
      };
    }, bytes);
  },
];

const target: FuzzTarget = {
  tokens: ['\u0082\u00a4head\u0080\u00a4body', '\u00a3mid\u0001'],
  seeds: [
    Buffer.concat([
      Buffer.from([0]),
      joinFrame(Buffer.from([0x81, 0xa3, 0x6d, 0x69, 0x64, 1]), Buffer.from([0xa1, 0x61])),
    ]),
    Buffer.concat([
      Buffer.from([2]),
      encodeFrame(2, Buffer.from('hello'), false),
      encodeFrame(9, Buffer.from('p'), false),
    ]),
    Buffer.from([1, 0x82, 0x81, 1, 2, 3, 4, 0x60]),
    Buffer.concat([Buffer.from([3]), encode([1, 'call', 'publish', {}])]),
    Buffer.concat([
      Buffer.from([4]),
      Buffer.from(`banner\n${stdio.framesLine}\n`),
      stdio.encodeFrame(newDict(Object.entries({ t: 'call', n: 1, load: newDict([['cmd', '_file_list']]) }))),
    ]),
  ],
  run: (bytes) => streams[(bytes[0] ?? 0) % streams.length]!(bytes.slice(1)),
};
export default target;
