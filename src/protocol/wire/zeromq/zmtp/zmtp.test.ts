// The parts of ZMTP: any split of the stream gives the same frames, and no input of a peer does more than close its
// connection.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCommand, readPing, readReady, readyCommand } from './commands.ts';
import { FrameReader } from './frame-reader.ts';
import { encodeMessage } from './frames.ts';
import { type Generation, GreetingAnswer, readGreeting, routerType, xpubType } from './greeting.ts';

const generations: readonly Generation[] = [1, 2, 3];
const signature = 'ff00000000000000017f';
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

interface Seen {
  readonly more: boolean;
  readonly body: string;
}

function readAll(reader: FrameReader): Seen[] {
  const seen: Seen[] = [];
  for (let head = reader.head(); head; head = reader.head()) {
    const body = reader.body();
    if (!body) break;
    seen.push({ more: head.more, body: body.toString('hex') });
  }
  return seen;
}

const messages = fc.array(fc.array(fc.uint8Array({ maxLength: 600 }), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 4,
});
const expected = (all: readonly (readonly Uint8Array[])[]): Seen[] =>
  all.flatMap((frames) =>
    frames.map((frame, i) => ({ more: i < frames.length - 1, body: Buffer.from(frame).toString('hex') })),
  );

describe.each(generations)('frames of generation %i', (generation) => {
  it('are read as they were written, however the stream is split', () => {
    fc.assert(
      fc.property(messages, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (all, cuts) => {
        const stream = Buffer.concat(all.flatMap((frames) => encodeMessage(generation, frames)));
        const reader = new FrameReader(generation);
        const seen: Seen[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = cuts[i % cuts.length] as number;
          reader.push(stream.subarray(at, at + size));
          seen.push(...readAll(reader));
          at += size;
        }
        expect(seen).toEqual(expected(all));
        expect(reader.pending).toBe(0);
      }),
    );
  });

  it('are read when they come byte by byte, at every width of their length', () => {
    const all = [0, 1, 253, 254, 255, 256, 70_000].map((size) => [Buffer.alloc(size, size & 255)]);
    const stream = Buffer.concat(all.flatMap((frames) => encodeMessage(generation, frames)));
    const reader = new FrameReader(generation);
    const seen: Seen[] = [];
    for (const byte of stream) {
      reader.push(Buffer.from([byte]));
      seen.push(...readAll(reader));
    }
    expect(seen).toEqual(expected(all));
  });

  it('can be skipped', () => {
    const [bytes] = encodeMessage(generation, [Buffer.alloc(1000, 1)]);
    const [next] = encodeMessage(generation, [Buffer.from('next')]);
    const reader = new FrameReader(generation);
    reader.push((bytes as Buffer).subarray(0, 500));
    expect(reader.head()?.length).toBe(1000);
    expect(reader.skip()).toBe(false);
    expect(reader.pending).toBeGreaterThan(0);
    reader.push(Buffer.concat([(bytes as Buffer).subarray(500), next as Buffer]));
    expect(reader.skip()).toBe(true);
    expect(readAll(reader)).toEqual([{ more: false, body: Buffer.from('next').toString('hex') }]);
  });

  it('never hang or fail otherwise on random bytes: the reader waits or throws', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 10 }), (chunks) => {
        const reader = new FrameReader(generation);
        try {
          for (const chunk of chunks) {
            reader.push(Buffer.from(chunk));
            readAll(reader);
          }
        } catch (thrown) {
          expect((thrown as { code: string }).code).toBe('codec.malformed');
        }
        expect(reader.pending).toBeLessThanOrEqual(1100);
      }),
    );
  });
});

describe('memory of a frame', () => {
  it('follows the received size, not the announced one', () => {
    const reader = new FrameReader(3);
    const before = process.memoryUsage().arrayBuffers;
    reader.push(Buffer.concat([hex('02'), hex('0000000010000000'), Buffer.alloc(1000)]));
    expect(reader.head()?.length).toBe(0x10000000);
    expect(reader.body()).toBeUndefined();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  it('handles sizes above the safe integers', () => {
    const reader = new FrameReader(3);
    reader.push(hex('02ffffffffffffffff'));
    expect(reader.head()?.length).toBeGreaterThan(Number.MAX_SAFE_INTEGER);
  });
});

describe('greeting', () => {
  const full = Buffer.alloc(64);
  full.set([...hex(signature), 3, 1, ...Buffer.from('NULL')]);

  it.each([
    ['ZMTP 3.1', full, { generation: 3, minor: 1, unversioned: false, length: 64 }],
    ['ZMTP 2.0', hex(`${signature}0105`), { generation: 2, minor: 0, unversioned: false, length: 12 }],
    ['ZMTP 1.0 with a version', hex(`${signature}0003`), { generation: 1, minor: 0, unversioned: false, length: 12 }],
    ['an empty identity of ZMTP 1.0', hex('0100'), { generation: 1, minor: 0, unversioned: true, length: 0 }],
    [
      'a long identity of ZMTP 1.0',
      hex('ff000000000000000600'),
      { generation: 1, minor: 0, unversioned: true, length: 0 },
    ],
  ])('recognizes %s, and decides nothing before it can', (_name, bytes, greeting) => {
    expect(readGreeting(bytes)).toEqual(greeting);
    const needed = greeting.unversioned ? (bytes[0] === 0xff ? 10 : 1) : bytes.length;
    for (let size = 0; size < needed; size++) expect(readGreeting(bytes.subarray(0, size))).toBeUndefined();
  });

  it('refuses other mechanisms', () => {
    const curve = Buffer.from(full);
    curve.write('CURVE', 12);
    expect(() => readGreeting(curve)).toThrow(/mechanism/);
  });

  it('answers in steps: nothing for the oldest, the type to ZMTP 2.0, the rest to ZMTP 3', () => {
    expect(new GreetingAnswer(routerType).next(hex('0100'))).toHaveLength(0);
    const two = new GreetingAnswer(xpubType);
    expect(two.next(hex(signature)).toString('hex')).toBe('03');
    expect(two.next(hex(`${signature}01`)).toString('hex')).toBe('09');
    expect(two.next(hex(`${signature}0102`))).toHaveLength(0);
    const three = new GreetingAnswer(routerType);
    const sent = Buffer.concat([hex(signature), three.next(full.subarray(0, 11))]);
    expect(sent.equals(full)).toBe(true);
    expect(three.next(full)).toHaveLength(0);
  });
});

describe('commands', () => {
  it('reads its own READY, and names in any case', () => {
    const { name, body } = readCommand(readyCommand(routerType).subarray(2));
    expect(name).toBe('READY');
    expect(readReady(body)).toEqual({ socketType: 'ROUTER', identity: Buffer.alloc(0) });
    const text = body.toString('latin1').replace('Socket-Type', 'SOCKET-TYPE');
    expect(readReady(Buffer.from(text, 'latin1')).socketType).toBe('ROUTER');
  });

  it('repeats the context of a PING and reads its time', () => {
    const { ttlMs, pong } = readPing(Buffer.concat([hex('012c'), Buffer.from('context')]));
    expect(ttlMs).toBe(30_000);
    expect(pong.toString('latin1')).toBe('\x04\x0c\x04PONGcontext');
    expect(() => readPing(hex('01'))).toThrow(/time to live/);
    expect(() => readPing(Buffer.alloc(19))).toThrow(/context/);
  });

  it('never fails otherwise on random bytes: it reads or throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        for (const read of [readCommand, readPing, readReady]) {
          try {
            read(Buffer.from(bytes));
          } catch (thrown) {
            expect((thrown as { code: string }).code).toBe('codec.malformed');
          }
        }
      }),
    );
  });
});
