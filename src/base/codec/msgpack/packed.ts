// A value left as the msgpack bytes in which it arrived: large results pass through a daemon without being decoded.
import { Budget, cost, malformed, tooMuch } from './budget.ts';
import { head, readHead } from './head.ts';

/** The bytes of one valid value; `pack` writes them as they are, `unpacked` decodes it. */
export class PackedValue extends Uint8Array<ArrayBufferLike> {
  /** Subarrays and copies are plain bytes. */
  static get [Symbol.species](): Uint8ArrayConstructor {
    return Uint8Array;
  }
}

export interface MeasureLimits {
  readonly maxDepth: number;
  readonly maxItems: number;
  readonly maxCost: number;
}

/** Extension 79 contains another packed value; valid ones are small, so the highest cost is assumed. */
const nestedCost = cost.map;

/** The offset at which the value at `at` ends. Refuses everything that decoding would refuse, and allocates nothing. */
export function endOf(buf: Buffer, at: number, limits: MeasureLimits): number {
  const budget = new Budget(limits.maxItems, limits.maxCost);
  /** Number of values that are still missing in each of the enclosing containers. */
  const around: number[] = [];
  let missing = 1;
  let next = at;
  for (;;) {
    while (missing === 0) {
      if (around.length === 0) return next;
      missing = around.pop() as number;
    }
    const code = buf[next] as number;
    if (code === 0xc1) throw malformed('no such type 0xc1', next);
    const start = next;
    if (!readHead(buf, next, buf.length)) throw malformed('the data ends early', next);
    const { inside, end } = head;
    next = end;
    missing--;
    if (isContainer(code)) {
      if (inside > buf.length - end) throw malformed('the data ends early', end);
      if (around.length >= limits.maxDepth) throw tooMuch(`is nested deeper than ${limits.maxDepth}`);
      const entries = isMap(code);
      budget.container(
        entries ? inside / 2 : inside,
        entries ? cost.map + (inside / 2) * cost.entry : cost.array + inside * cost.item,
      );
      around.push(missing);
      missing = inside;
    } else budget.charge(scalarCost(buf, code, start, end));
  }
}

const isMap = (code: number): boolean => (code >= 0x80 && code < 0x90) || code === 0xde || code === 0xdf;
export const isContainer = (code: number): boolean =>
  isMap(code) || (code >= 0x90 && code < 0xa0) || code === 0xdc || code === 0xdd;

function scalarCost(buf: Buffer, code: number, start: number, end: number): number {
  if (code < 0x80 || code >= 0xe0 || (code >= 0xc0 && code <= 0xc3)) return 0;
  if ((code >= 0xca && code <= 0xcf) || (code >= 0xd0 && code <= 0xd3)) return cost.boxed;
  const extension = (code >= 0xc7 && code <= 0xc9) || (code >= 0xd4 && code <= 0xd8);
  // A text that is not all ASCII may be invalid UTF-8 and become bytes, which cost more.
  if (!extension) return ((buf[end - 1] as number) < 0x80 ? cost.text : cost.bytes) + end - start;
  const width = code >= 0xd4 ? 0 : 1 << (code - 0xc7);
  return buf[start + 1 + width] === 79 ? (end - start) * nestedCost : cost.bytes + end - start;
}
