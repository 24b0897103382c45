// The readers of the event socket: each gets every event of the bus; one that does not read is cut off.
import type { Socket } from 'node:net';
import type { Logger } from '../../base/log/index.ts';
import type { BusEvent, EventBus } from '../../protocol/event/bus.ts';
import { type EventFraming, encodeEvent } from '../../protocol/wire/event-socket/frames.ts';

/** Bytes that wait for one reader. */
const mostWaiting = 16 * 1024 * 1024;
const mostReaders = 1024;

export interface EventReaderParts {
  readonly bus: Pick<EventBus, 'subscribe'>;
  readonly log: Pick<Logger, 'limited'>;
  /** How the library of a reader that connects now expects its events. */
  framing(): EventFraming;
}

export class EventReaders {
  readonly #parts: EventReaderParts;
  readonly #readers = new Map<Socket, EventFraming>();
  #stop: (() => void) | undefined;

  constructor(parts: EventReaderParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#readers.size;
  }

  add(socket: Socket): void {
    if (this.#readers.size >= mostReaders) {
      this.#parts.log.limited('event-readers', 'warn', 'too many programs read events', { most: mostReaders });
      socket.destroy();
      return;
    }
    this.#readers.set(socket, this.#parts.framing());
    socket.on('error', () => undefined);
    socket.on('close', () => this.#left(socket));
    // Readers say nothing; what they send all the same is dropped.
    socket.resume();
    this.#stop ??= this.#parts.bus.subscribe('', (event) => this.#take(event));
  }

  close(): void {
    for (const socket of this.#readers.keys()) socket.destroy();
  }

  #left(socket: Socket): void {
    this.#readers.delete(socket);
    if (this.#readers.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Encoded once for all readers of one framing. */
  #take({ tag, data }: BusEvent): void {
    const frames = new Map<EventFraming, Buffer>();
    for (const [socket, framing] of this.#readers) {
      let frame = frames.get(framing);
      if (!frame) {
        frame = encodeEvent(tag, data, framing);
        frames.set(framing, frame);
      }
      socket.write(frame);
      if (socket.writableLength <= mostWaiting) continue;
      this.#parts.log.limited('event-reader-slow', 'warn', 'a program that does not read its events is cut off', {
        waiting: socket.writableLength,
      });
      socket.destroy();
    }
  }
}
