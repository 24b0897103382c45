// Loaded into the master with --import: once a second it writes down its memory and how long its event loop stood still.
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const file = process.env.HALITE_SOAK_PROBE;
if (file && isMainThread && process.argv[1]?.endsWith('salt-master')) {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  setInterval(() => {
    const { rss, heapUsed, external } = process.memoryUsage();
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), rss, heapUsed, external, delayMs: delay.max / 1e6 })}\n`);
    delay.reset();
  }, 1000).unref();
}
