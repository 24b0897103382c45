// Events as an async iterator with a bounded queue: a slow reader loses the oldest and is told how many.
import { AsyncQueue } from '../../base/util/async-queue.ts';
import type { BusEvent } from './event.ts';

export class EventStream extends AsyncQueue<BusEvent> {
  constructor(limit: number, release: () => void) {
    super({ limit, onClose: release });
  }
}
