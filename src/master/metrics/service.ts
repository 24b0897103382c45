// Metrics and health of a master, for its own port and for calls over the local socket.
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { metricsText } from '../../base/metrics/index.ts';
import { type MetricSources, masterFamilies, storeSize } from './collect.ts';
import { gauge } from './families.ts';
import { FreeSpace, type Health, healthOf } from './health.ts';
import { MetricsListener } from './listener.ts';
import { ProcessMetrics } from './process.ts';
import { readMetricsSettings } from './settings.ts';

export interface MetricsParts {
  readonly opts: Pick<MasterOpts, 'metrics' | 'cachedir'>;
  readonly log: Logger;
}

/** However many ask: the metrics are collected once in this time. */
const freshMs = 1_000;

export class MetricsService {
  readonly #parts: MetricsParts;
  readonly #process = new ProcessMetrics();
  readonly #space: FreeSpace;
  readonly #listener: MetricsListener | undefined;
  #sources: MetricSources | undefined;
  #text: Promise<string> | undefined;
  #collectedAt = 0;

  private constructor(parts: MetricsParts) {
    this.#parts = parts;
    this.#space = new FreeSpace(parts.opts.cachedir);
    const settings = readMetricsSettings(parts.opts.metrics);
    const answers = { text: () => this.text(), health: () => this.health() };
    this.#listener = settings && new MetricsListener(settings, answers, parts.log);
  }

  /** Answers from now on; until the sources are there: that the master is not ready. */
  static async start(parts: MetricsParts): Promise<MetricsService> {
    const service = new MetricsService(parts);
    await service.#listener?.start();
    return service;
  }

  /** The master is ready; without sources it stops. */
  attach(sources: MetricSources | undefined): void {
    this.#sources = sources;
    this.#text = undefined;
  }

  /** In the format of Prometheus. */
  text(): Promise<string> {
    if (this.#text && Date.now() - this.#collectedAt < freshMs) return this.#text;
    this.#collectedAt = Date.now();
    const text = this.#collect();
    this.#text = text;
    text.catch(() => {
      if (this.#text === text) this.#text = undefined;
    });
    return text;
  }

  async health(): Promise<Health> {
    return healthOf(this.#sources, await this.#space.bytes());
  }

  async close(): Promise<void> {
    this.#process.close();
    await this.#listener?.close();
  }

  async #collect(): Promise<string> {
    const [own, free, { ready }, size] = await Promise.all([
      this.#process.families(),
      this.#space.bytes(),
      this.health(),
      storeSize(join(this.#parts.opts.cachedir, 'halite.db')),
    ]);
    const sources = this.#sources;
    return metricsText([
      ...own,
      gauge('halite_ready', 'Whether /health/ready says yes.', ready ? 1 : 0),
      gauge('halite_disk_free_bytes', 'Free space where the master keeps its data.', free),
      gauge('halite_store_bytes', 'Size of the job store.', size),
      ...(sources ? masterFamilies(sources) : []),
    ]);
  }
}
