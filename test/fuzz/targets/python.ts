// What a worker of users' Python sends: frames cut anywhere, and values that mean the same on their way back.
import { HaliteError } from '../../../src/base/errors/index.ts';
import { FrameReader, frameOf } from '../../../src/engine/python/frames.ts';
import { fromWire, toWire } from '../../../src/engine/python/marks.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';

const most = 4096;
const frame = (...message: unknown[]): Uint8Array => frameOf(message, most);
const mark = '\u0001';

/** The messages of a stream; one that is not JSON ends it, as it ends the worker. */
function messagesOf(bytes: Uint8Array, size: number): unknown[] {
  const reader = new FrameReader(most);
  const found: unknown[] = [];
  try {
    for (let at = 0; at < bytes.length; at += size)
      for (const message of reader.push(Buffer.from(bytes.slice(at, at + size)))) found.push(message);
  } catch (error) {
    hold(
      error instanceof SyntaxError || error instanceof HaliteError,
      `an error that ends the worker: ${String(error)}`,
    );
  }
  return found;
}

const target: FuzzTarget = {
  tokens: [
    '["done",1,',
    '["call",2,1,"function",',
    ...['i', 'f', 'b', 'm', 'd', 'o'].map((kind) => `{"\\u0001${kind}":`),
    'nan',
    '-0.0',
  ],
  seeds: [
    frame('done', 1, { a: [1, 1.5, null, { [`${mark}f`]: '1.0' }] }, {}),
    frame('call', 1, 1, 'function', ['modules', 'test.ping', [], {}]),
    frame('done', 1, { [`${mark}m`]: [[1, { [`${mark}i`]: '18446744073709551616' }]] }, {}),
    frame('done', 1, { [`${mark}o`]: ['1:2', 'text', 'Kind', { a: { [`${mark}b`]: 'AP8=' } }] }, {}),
    frame('failed', 1, { type: 'KeyError', message: 'x', [`${mark}d`]: '2026-01-02T03:04:05' }),
  ],
  run: (bytes) => {
    const messages = messagesOf(bytes, bytes.length || 1);
    hold(JSON.stringify(messagesOf(bytes, 3)) === JSON.stringify(messages), 'pieces give what the whole gives');
    for (const message of messages) {
      const value = read(() => fromWire(message));
      if (value === undefined) continue;
      const again = JSON.stringify(toWire(value));
      hold(JSON.stringify(toWire(fromWire(JSON.parse(again)))) === again, 'a value is the same after a second way');
    }
  },
};
export default target;
