// Messages on the pipe to Python: a length of four bytes, then JSON.
import { HaliteError } from '../../base/errors/index.ts';

export const defaultLargest = 256 * 1024 * 1024;

export function frameOf(message: readonly unknown[], largest: number): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > largest) {
    const size = Math.ceil(body.length / 1048576);
    throw new HaliteError('codec.limit', `the value takes ${size} MiB on its way to Python`, {
      hint: `python_max_message allows ${largest / 1048576} MiB`,
    });
  }
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Cuts a stream into messages. Pieces of a long message are joined once, when it is complete. */
export class FrameReader {
  readonly #largest: number;
  #pieces: Buffer[] = [];
  #held = 0;

  constructor(largest: number) {
    this.#largest = largest;
  }

  /** The messages that are complete now. Throws for what is none. */
  *push(piece: Buffer): Generator<unknown[]> {
    this.#pieces.push(piece);
    this.#held += piece.length;
    for (let size = this.#size(); size !== undefined && this.#held >= size + 4; size = this.#size()) {
      const whole = this.#joined();
      const message: unknown = JSON.parse(whole.toString('utf8', 4, size + 4));
      const rest = whole.subarray(size + 4);
      this.#pieces = rest.length > 0 ? [rest] : [];
      this.#held = rest.length;
      if (!Array.isArray(message) || typeof message[0] !== 'string')
        throw new HaliteError('codec.malformed', 'not a message of the worker');
      yield message as unknown[];
    }
  }

  #size(): number | undefined {
    if (this.#held < 4) return undefined;
    if (this.#pieces[0]!.length < 4) this.#joined();
    const size = this.#pieces[0]!.readUInt32BE(0);
    if (size > this.#largest) throw new HaliteError('codec.limit', `a message of ${size} bytes is longer than allowed`);
    return size;
  }

  #joined(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }
}
