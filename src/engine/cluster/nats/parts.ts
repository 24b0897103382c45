// Items that are too long for one frame travel in parts, one after the other.
import { createHash } from 'node:crypto';
import { packValue, unpack } from '../../../base/codec/msgpack/index.ts';
import { asList, asPlainDict, dictGet, newDict } from '../../../base/codec/value.ts';

export const partBytes = 256 * 1024;
/** Of one item: the largest request that a master accepts, and what is around it. */
export const mostItemBytes = 80 * 1024 * 1024;

/** The packed parts of a packed item. */
export function* partsOf(item: Uint8Array): Iterable<Uint8Array> {
  const of = Math.ceil(item.length / partBytes);
  const sha256 = createHash('sha256').update(item).digest('hex');
  for (let i = 0; i < of; i++) {
    const bytes = item.subarray(i * partBytes, (i + 1) * partBytes);
    yield packValue(
      newDict([
        ['kind', 'part'],
        ['i', i],
        ['of', of],
        ['sha256', sha256],
        ['bytes', [bytes]],
      ]),
    );
  }
}

interface Gathering {
  readonly sha256: string;
  readonly of: number;
  readonly pieces: Uint8Array[];
  /** The number of the frame with the first part. */
  readonly first: number;
}

/** Puts parts together again, one item for each sender at a time: a sender sends nothing between them. */
export class Gatherer {
  readonly #open = new Map<string, Gathering>();

  /** The first frame whose item is not complete: a reader that starts again must start there. */
  get first(): number | undefined {
    const numbers = [...this.#open.values()].map(({ first }) => first);
    return numbers.length === 0 ? undefined : Math.min(...numbers);
  }

  /** What the sender of a frame that is no part began will not be completed. */
  whole(boot: string): void {
    this.#open.delete(boot);
  }

  /** The packed item when this was its last part; 'wrong' for a part that fits nowhere. */
  add(boot: string, packed: Uint8Array, seq: number): Uint8Array | 'more' | 'wrong' {
    const fields = asPlainDict(unpack(packed, { raw: true }));
    const number = (key: string): number => Number(fields && dictGet(fields, key));
    const [i, of] = [number('i'), number('of')];
    const sha256 = String(Buffer.from((fields && dictGet(fields, 'sha256')) as Uint8Array));
    const bytes = asList(fields && dictGet(fields, 'bytes'))?.[0];
    if (!(bytes instanceof Uint8Array) || bytes.length > partBytes || !(of > 1 && of <= mostItemBytes / partBytes))
      return 'wrong';
    const before = this.#open.get(boot);
    // It was sent again because its acknowledgement was late, and the engine took it twice.
    if (before && before.sha256 === sha256 && before.of === of && i < before.pieces.length) return 'more';
    if (i === 0) this.#open.set(boot, { sha256, of, pieces: [], first: seq });
    const gathering = this.#open.get(boot);
    if (!gathering || gathering.sha256 !== sha256 || gathering.of !== of || gathering.pieces.length !== i) {
      this.#open.delete(boot);
      return 'wrong';
    }
    gathering.pieces.push(bytes);
    if (i + 1 < of) return 'more';
    this.#open.delete(boot);
    const item = Buffer.concat(gathering.pieces);
    return createHash('sha256').update(item).digest('hex') === sha256 ? item : 'wrong';
  }
}
