// Exact pieces of a stream of chunks; what follows stays in the stream.
import { HaliteError } from '../../../base/errors/index.ts';

export class ByteReader {
  readonly #input: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#input = input[Symbol.asyncIterator]();
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#input.next();
    if (done) return false;
    this.#held = this.#held.length === 0 ? Buffer.from(value) : Buffer.concat([this.#held, value]);
    return true;
  }

  /** `size` bytes; undefined when the stream has ended before the first of them. */
  async take(size: number): Promise<Buffer | undefined> {
    while (this.#held.length < size) {
      if (await this.#more()) continue;
      if (this.#held.length === 0) return undefined;
      throw new HaliteError('codec.malformed', 'The archive ends in the middle of an entry: it is not complete');
    }
    const taken = this.#held.subarray(0, size);
    this.#held = this.#held.subarray(size);
    return taken;
  }

  async need(size: number): Promise<Buffer> {
    const taken = await this.take(size);
    if (taken) return taken;
    throw new HaliteError('codec.malformed', 'The archive ends in the middle of an entry: it is not complete');
  }

  /** The next `size` bytes in the chunks in which they come. */
  async *content(size: number): AsyncGenerator<Buffer> {
    let left = size;
    while (left > 0) {
      if (this.#held.length === 0 && !(await this.#more())) await this.need(1);
      const part = this.#held.subarray(0, Math.min(left, this.#held.length));
      this.#held = this.#held.subarray(part.length);
      left -= part.length;
      if (part.length > 0) yield part;
    }
  }
}
