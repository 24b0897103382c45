// Events that programs of the master's user fire with Salt's Python library.
import type { Socket } from 'node:net';
import { textField } from '../../base/codec/fields.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { EventReader, type SocketEvent } from '../../protocol/wire/event-socket/frames.ts';
import type { KeyChanges } from '../sign-in/key-changes.ts';

/** Salt's limit for an event is 1 MiB; what is larger is trimmed by the bus, up to this size. */
const mostBytes = 16 * 1024 * 1024;
const mostPrograms = 256;
/** For the rest of a frame that has begun. */
const patienceMs = 20_000;

export interface FiredEventParts {
  readonly bus: Pick<EventBus, 'fire'>;
  readonly log: Pick<Logger, 'limited'>;
  readonly keyChanges: Pick<KeyChanges, 'changed'>;
}

export class FiredEvents {
  readonly #parts: FiredEventParts;
  readonly #programs = new Set<Socket>();

  constructor(parts: FiredEventParts) {
    this.#parts = parts;
  }

  add(socket: Socket): void {
    if (this.#programs.size >= mostPrograms) {
      socket.destroy();
      return;
    }
    this.#programs.add(socket);
    const reader = new EventReader(mostBytes);
    let late: NodeJS.Timeout | undefined;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      this.#programs.delete(socket);
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.feed(chunk, (event) => this.#fire(event));
      } catch (error) {
        this.#parts.log.limited('fired-events', 'warn', 'a program sent what is no event', { why: messageOf(error) });
        socket.destroy();
        return;
      }
      clearTimeout(late);
      if (reader.partial) late = setTimeout(() => socket.destroy(), patienceMs).unref();
      // One program that sends without end must not keep the others waiting.
      socket.pause();
      setImmediate(() => socket.resume());
    });
  }

  close(): void {
    for (const socket of this.#programs) socket.destroy();
  }

  /** Key changes of a program have the effects of those of salt-key, which fire the event too. */
  #fire({ tag, data }: SocketEvent): void {
    const { bus, keyChanges } = this.#parts;
    const act = tag === 'salt/key' ? textField(data, 'act') : undefined;
    const id = textField(data, 'id');
    if ((act === 'accept' || act === 'reject' || act === 'delete') && isValidMinionId(id)) {
      keyChanges.changed(act, id);
      return;
    }
    bus.fire(tag, data);
  }
}
