// Orders to a running fleet, one word per line on standard input.
import { createInterface } from 'node:readline';

export const orderNames = ['stats', 'hold', 'release', 'reset', 'storm', 'quit'] as const;
export type Order = (typeof orderNames)[number];

const isOrder = (word: string): word is Order => (orderNames as readonly string[]).includes(word);

/** The end of the input is no order: a fleet runs on without anybody who tells it something. */
export function readOrders(obey: (order: Order) => void, unknown: (word: string) => void): { close(): void } {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const word = line.trim();
    if (word === '') return;
    if (isOrder(word)) obey(word);
    else unknown(word.slice(0, 40));
  });
  return {
    close() {
      lines.close();
      process.stdin.destroy();
    },
  };
}
