// Output to one peer: passed to the system in chunks, so that progress can be measured and queued bytes can be counted.
import type { Socket } from 'node:net';
import { chunkBytes } from './limits.ts';

export class Outgoing {
  /** When the peer last read something, or data was first queued. */
  progressAt = 0;
  /** How often something was written. */
  written = 0;
  readonly #socket: Socket;
  readonly #drained: () => void;
  #queue: Uint8Array[] = [];
  #queued = 0;
  #waiting = false;
  #ending = false;

  /** `drained` is called when the peer read something, whether or not more is queued. */
  constructor(socket: Socket, drained: () => void) {
    this.#socket = socket;
    this.#drained = drained;
  }

  /** Bytes that the system has not accepted. */
  get unsent(): number {
    return this.#queued + this.#socket.writableLength;
  }

  write(bytes: Uint8Array): void {
    if (this.#socket.destroyed || !this.#socket.writable) return;
    this.written += 1;
    if (this.#queued > 0 || this.#socket.writableLength > 0) this.#keep(bytes);
    else this.#hand(bytes);
  }

  /** Ends the connection when the last byte has been accepted. */
  end(): void {
    this.#ending = true;
    if (this.#queued === 0) this.#socket.end();
  }

  #keep(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queued += bytes.length;
  }

  /** Most peers read fast: then everything is sent immediately and nothing is queued. */
  #hand(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const end = at + chunkBytes;
      this.#socket.write(bytes.length <= chunkBytes ? bytes : bytes.subarray(at, end), this.#taken);
      if (this.#socket.writableLength === 0) continue;
      if (!this.#waiting) this.progressAt = performance.now();
      this.#waiting = true;
      if (end < bytes.length) {
        this.#queue.unshift(bytes.subarray(end));
        this.#queued += bytes.length - end;
      }
      return;
    }
  }

  readonly #taken = (): void => {
    if (!this.#waiting || this.#socket.writableLength > 0) return;
    this.progressAt = performance.now();
    this.#waiting = false;
    while (this.#queue.length > 0 && this.#socket.writableLength === 0) this.#hand(this.#next());
    if (this.#ending && this.#queued === 0) this.#socket.end();
    else this.#drained();
  };

  /** The next bytes to send; small ones are joined. */
  #next(): Uint8Array {
    const first = this.#queue[0] as Uint8Array;
    let count = 1;
    let size = first.length;
    for (let next = this.#queue[count]; next && size + next.length <= chunkBytes; next = this.#queue[++count])
      size += next.length;
    const parts = this.#queue.splice(0, count);
    this.#queued -= size;
    return count === 1 ? first : Buffer.concat(parts, size);
  }
}
