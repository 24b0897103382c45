// The life of jobs: random publishes, results, losses and restarts; the balance always closes.
import type { FuzzTarget } from '../engine/target.ts';
import { type Event, play } from '../model/life-cycle.ts';
import { MemoryStore } from '../model/memory-store.ts';

const target: FuzzTarget = {
  maxLength: 90,
  mostSteps: (length) => 5_000_000 + 100_000 * length,
  run: (bytes) => {
    const events: Event[] = [];
    for (let at = 0; at + 3 <= bytes.length; at += 3) events.push([bytes[at]!, bytes[at + 1]!, bytes[at + 2]!]);
    return play(new MemoryStore(), events);
  },
};
export default target;
