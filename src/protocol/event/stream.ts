// Events as an async iterator with a bounded queue: for a slow reader the oldest are dropped and counted.
import { AsyncQueue } from '../../base/util/async-queue.ts';
import type { BusEvent } from './event.ts';

export class EventStream extends AsyncQueue<BusEvent> {
  constructor(limit: number, release: () => void) {
    super({ limit, onClose: release });
  }
}
