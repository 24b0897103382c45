// The engines of a daemon.

import type { EngineSettings } from './settings.ts';
import { type EngineHost, EngineWorker } from './worker.ts';

export class Engines {
  readonly #workers: readonly EngineWorker[];
  #started = false;

  constructor({ engines, problems }: EngineSettings, host: EngineHost) {
    for (const problem of problems) host.log.error(problem);
    this.#workers = engines.map((setting) => new EngineWorker(setting, host));
  }

  /** Starts them once. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    for (const worker of this.#workers) worker.start();
  }

  /** Extensions changed. */
  recycle(): void {
    if (this.#started) for (const worker of this.#workers) void worker.recycle();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}
