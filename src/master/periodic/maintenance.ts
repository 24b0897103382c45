// What the master does by the clock: AES rotation, the drop file, old jobs, presence events.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors/index.ts';
import type { Master } from '../core.ts';

export class Maintenance {
  readonly #master: Master;
  #timer: NodeJS.Timeout | undefined;
  #present = new Set<string>();
  #cleaned = 0;
  #cleaning = false;

  constructor(master: Master) {
    this.#master = master;
  }

  start(): void {
    const seconds = Math.max(1, this.#master.opts.loop_interval);
    this.#timer = setInterval(() => this.run(), seconds * 1000);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  run(): void {
    this.#rotation();
    this.#master.durable.expire();
    this.#presence();
    this.#history();
  }

  #rotation(): void {
    const { opts, secrets, log } = this.#master;
    const due = opts.publish_session > 0 && Date.now() - secrets.rotatedAt >= opts.publish_session * 1000;
    if (this.#dropFile() || due) {
      log.info('AES key rotated', { why: due ? 'publish_session' : 'drop file' });
      rotateKey(this.#master);
    }
  }

  /** `.dfn` with mode exactly 0400 asks for a rotation; with any other mode it is only removed, and said. */
  #dropFile(): boolean {
    const file = join(this.#master.opts.cachedir, '.dfn');
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return false;
    rmSync(file, { force: true });
    if ((stat.mode & 0o777) === 0o400) return true;
    this.#master.log.error('drop file has the wrong mode and is ignored', {
      file,
      mode: (stat.mode & 0o777).toString(8),
    });
    return false;
  }

  #presence(): void {
    const { opts, fleet, bus } = this.#master;
    if (!opts.presence_events) return;
    const now = new Set(fleet.ids().filter((id) => fleet.connected(id) === 'yes'));
    const fresh = [...now].filter((id) => !this.#present.has(id));
    const lost = [...this.#present].filter((id) => !now.has(id));
    if (fresh.length > 0 || lost.length > 0) bus.fire('salt/presence/change', { new: fresh, lost });
    bus.fire('salt/presence/present', { present: [...now] });
    this.#present = now;
  }

  /** The database of master_job_cache forgets what is too old, when that was asked for. While it is away it waits. */
  #otherHistory(): void {
    const { returnerSettings, sinks, log } = this.#master;
    if (!returnerSettings.jobCache || !returnerSettings.cleanOutside || returnerSettings.keepSeconds <= 0) return;
    if (Date.now() - this.#cleaned < otherHistoryMs) return;
    this.#cleaned = Date.now();
    sinks.ask(returnerSettings.jobCache, 'clean', returnerSettings.keepSeconds).catch((error: unknown) => {
      log.debug('old jobs could not be removed from the job cache', { error: messageOf(error) });
    });
  }

  #history(): void {
    const { opts, store, log, returnerSettings } = this.#master;
    this.#otherHistory();
    // Very many jobs may take longer than the time between two looks.
    if (this.#cleaning) return;
    this.#cleaning = true;
    const maxBytes = Math.max(0, opts.keep_jobs_mb) * 1024 * 1024;
    store
      .clean({ keepSeconds: returnerSettings.keepSeconds, maxBytes, keepEvents: returnerSettings.keepEvents })
      .then(
        ({ jobs }) => {
          if (jobs > 0) log.debug('old jobs removed', { jobs });
        },
        (error: unknown) => log.limited('store', 'error', 'old jobs could not be removed', { error: messageOf(error) }),
      )
      .finally(() => {
        this.#cleaning = false;
      });
  }
}

/** How often old jobs are removed from other databases. */
const otherHistoryMs = 600_000;

/** A new AES key, told to everybody who listens; minions follow at their next message. */
export function rotateKey(master: Master): void {
  master.secrets.rotate();
  master.bus.fire('key', { rotate_aes_key: true });
}
