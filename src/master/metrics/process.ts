// Metrics of the process: memory, processor, descriptors, and how late its event loop is.
import { readdir } from 'node:fs/promises';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Family } from '../../base/metrics/index.ts';
import { haliteVersion } from '../../base/util/version.ts';
import { by, counter, gauge } from './families.ts';

const resolutionMs = 20;
const nano = 1e9;

/** Measures from the first question on: a master that nobody asks does not wake up for it. */
export class ProcessMetrics {
  #delay: IntervalHistogram | undefined;

  async families(): Promise<Family[]> {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return [
      gauge('halite_build_info', 'The version that runs; the value is always 1.', [
        { labels: { version: haliteVersion, node: process.version }, value: 1 },
      ]),
      gauge('process_start_time_seconds', 'When the process was started, since the epoch.', startedAt),
      gauge('process_resident_memory_bytes', 'Resident memory of the process.', rss),
      gauge('halite_heap_used_bytes', 'Memory that JavaScript objects of the main thread use.', heapUsed),
      counter('process_cpu_seconds_total', 'Processor time of the process, all threads.', (user + system) / 1e6),
      gauge('process_open_fds', 'Open files and connections of the process.', await openFiles()),
      gauge(
        'halite_event_loop_lag_seconds',
        'How late the event loop of the main thread was since the last scrape.',
        this.#lag(),
      ),
    ];
  }

  close(): void {
    this.#delay?.disable();
  }

  #lag(): ReturnType<typeof by> {
    const delay = this.#delay;
    if (!delay) {
      this.#delay = monitorEventLoopDelay({ resolution: resolutionMs });
      this.#delay.enable();
      return by('statistic', { p50: 0, p99: 0, max: 0 });
    }
    // It measures the time between two ticks of its timer.
    const seconds = (nanoseconds: number): number =>
      delay.count === 0 ? 0 : Math.max(0, nanoseconds / nano - resolutionMs / 1000);
    const found = { p50: seconds(delay.percentile(50)), p99: seconds(delay.percentile(99)), max: seconds(delay.max) };
    delay.reset();
    return by('statistic', found);
  }
}

const startedAt = Date.now() / 1000 - process.uptime();

/** Undefined where there is no /proc. */
const openFiles = (): Promise<number | undefined> =>
  readdir('/proc/self/fd').then(
    (names) => names.length,
    () => undefined,
  );
