// Frames behind text, however the bytes are cut.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict } from '../../../base/codec/value.ts';
import { encodeFrame, FrameReader, framesLine } from './frames.ts';

function read(bytes: Buffer, step: number, limits?: { bytes: number; items: number }) {
  const lines: string[] = [];
  const messages: PlainDict[] = [];
  const reader = new FrameReader(
    { line: (text) => lines.push(text), message: (message) => messages.push(message) },
    limits,
  );
  for (let at = 0; at < bytes.length; at += step) reader.feed(bytes.subarray(at, at + step));
  return { lines, messages };
}

const message = (n: number): PlainDict => newDict(Object.entries({ t: 'call', n, text: 'ä'.repeat(n) }));

describe('frames over standard input and output', () => {
  it.each([1, 2, 7, 64, 10_000])('come out as they were put in, in pieces of %i bytes', (step) => {
    const bytes = Buffer.concat([
      Buffer.from(`Welcome!\r\n\n@halite-1 run\nprompt$ ${framesLine}\n`),
      ...[1, 0, 300].map((n) => encodeFrame(message(n))),
    ]);
    expect(read(bytes, step, { bytes: 10_000, items: 100 })).toEqual({
      lines: ['Welcome!', '', '@halite-1 run'],
      messages: [message(1), message(0), message(300)],
    });
  });

  it('are refused when they are too large, or no maps', () => {
    const start = Buffer.from(`${framesLine}\n`);
    const limits = { bytes: 100, items: 10 };
    expect(() => read(Buffer.concat([start, encodeFrame(message(200))]), 50, limits)).toThrow('more than 100 bytes');
    expect(() => read(Buffer.concat([start, Buffer.from([0, 0, 0, 1, 7])]), 50, limits)).toThrow('wrong form');
    expect(() => read(Buffer.alloc(300_000, 'x'), 1000, limits)).toThrow('text before its first message');
  });
});
