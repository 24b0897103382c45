// Presence texts counted over all connections: the first with a text causes `joined`, the end of the last one `left`.
import { messageOf } from '../../../base/errors/index.ts';
import { readPresenceTopic } from '../presence-topic.ts';
import type { PublishListenOptions, SubscriberEvent } from '../transport.ts';

export class Presence {
  readonly #options: PublishListenOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: PublishListenOptions) {
    this.#options = options;
  }

  /**
   * Counts a text; false when it is not a presence text, or its proof is wrong. Without a proof, `left` is never
   * reported either.
   */
  joined(topic: string, peer: string): boolean {
    if (!provenPresence(topic, this.#options)) return false;
    const before = this.#counts.get(topic) ?? 0;
    this.#counts.set(topic, before + 1);
    if (before === 0) reportSubscriber(this.#options, { kind: 'joined', topic, peer });
    return true;
  }

  /** A text whose subscription ended. */
  left(topic: string, peer: string): void {
    const before = this.#counts.get(topic);
    if (before === undefined) return;
    if (before > 1) this.#counts.set(topic, before - 1);
    else {
      this.#counts.delete(topic);
      reportSubscriber(this.#options, { kind: 'left', topic, peer });
    }
  }
}

export function provenPresence(topic: string, options: PublishListenOptions): boolean {
  return readPresenceTopic(topic) !== undefined && (options.provesPresence?.(topic) ?? true);
}

export function reportSubscriber(options: PublishListenOptions, event: SubscriberEvent): void {
  try {
    options.onSubscriber?.(event);
  } catch (thrown) {
    options.onProblem?.({ kind: 'handler', peer: event.peer, detail: messageOf(thrown) });
  }
}
