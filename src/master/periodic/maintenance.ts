// Periodic tasks of the master: AES rotation, the drop file, old jobs, presence events.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ReturnerSettings } from '../returners/settings.ts';
import type { ReturnerSinks } from '../returners/sinks.ts';
import type { KeyChanges } from '../sign-in/key-changes.ts';
import type { Secrets } from '../sign-in/secrets.ts';
import type { DurableJobs } from '../tracking/durable.ts';

export interface MaintenanceParts {
  readonly opts: Pick<
    MasterOpts,
    'cachedir' | 'loop_interval' | 'publish_session' | 'presence_events' | 'keep_jobs_mb'
  >;
  readonly log: Logger;
  readonly secrets: Pick<Secrets, 'rotatedAt'>;
  readonly keyChanges: Pick<KeyChanges, 'rotate'>;
  readonly durable: Pick<DurableJobs, 'expire'>;
  readonly fleet: Pick<Fleet, 'ids' | 'connected'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'clean'>;
  readonly returnerSettings: Pick<ReturnerSettings, 'jobCache' | 'cleanOutside' | 'keepSeconds' | 'keepEvents'>;
  readonly sinks: Pick<ReturnerSinks, 'ask'>;
}

export class Maintenance {
  readonly #parts: MaintenanceParts;
  #timer: NodeJS.Timeout | undefined;
  #present = new Set<string>();
  #cleaned = 0;
  #cleaning = false;

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
  }

  start(): void {
    const seconds = Math.max(1, this.#parts.opts.loop_interval);
    this.#timer = setInterval(() => this.run(), seconds * 1000);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  run(): void {
    this.#rotation();
    this.#parts.durable.expire();
    this.#presence();
    this.#history();
  }

  #rotation(): void {
    const { opts, secrets, log } = this.#parts;
    const due = opts.publish_session > 0 && Date.now() - secrets.rotatedAt >= opts.publish_session * 1000;
    if (this.#dropFile() || due) {
      log.info('AES key rotated', { why: due ? 'publish_session' : 'drop file' });
      this.#parts.keyChanges.rotate();
    }
  }

  /** `.dfn` with mode exactly 0400 requests a rotation; with any other mode it is only removed, and logged. */
  #dropFile(): boolean {
    const file = join(this.#parts.opts.cachedir, '.dfn');
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return false;
    rmSync(file, { force: true });
    if ((stat.mode & 0o777) === 0o400) return true;
    this.#parts.log.error('drop file has the wrong mode and is ignored', {
      file,
      mode: (stat.mode & 0o777).toString(8),
    });
    return false;
  }

  #presence(): void {
    const { opts, fleet, bus } = this.#parts;
    if (!opts.presence_events) return;
    const now = new Set(fleet.ids().filter((id) => fleet.connected(id) === 'yes'));
    const fresh = [...now].filter((id) => !this.#present.has(id));
    const lost = [...this.#present].filter((id) => !now.has(id));
    if (fresh.length > 0 || lost.length > 0) bus.fire('salt/presence/change', { new: fresh, lost });
    bus.fire('salt/presence/present', { present: [...now] });
    this.#present = now;
  }

  /**
   * Removes old jobs from the database of master_job_cache, when that is configured. Waits while the database is
   * unavailable.
   */
  #otherHistory(): void {
    const { returnerSettings, sinks, log } = this.#parts;
    if (!returnerSettings.jobCache || !returnerSettings.cleanOutside || returnerSettings.keepSeconds <= 0) return;
    if (Date.now() - this.#cleaned < otherHistoryMs) return;
    this.#cleaned = Date.now();
    sinks.ask(returnerSettings.jobCache, 'clean', returnerSettings.keepSeconds).catch((error: unknown) => {
      log.debug('old jobs could not be removed from the job cache', { error: messageOf(error) });
    });
  }

  #history(): void {
    const { opts, store, log, returnerSettings } = this.#parts;
    this.#otherHistory();
    // With very many jobs one run may take longer than the interval.
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
