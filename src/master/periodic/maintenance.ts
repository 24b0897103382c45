// Periodic tasks of the master: AES rotation, the drop file, old jobs, presence events.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { TokenStore } from '../../store/tokens/tokens.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ReturnerSettings } from '../returners/settings.ts';
import type { ReturnerSinks } from '../returners/sinks.ts';
import type { AesKeys } from '../sign-in/aes-keys.ts';
import type { KeyChanges } from '../sign-in/key-changes.ts';

import type { DurableJobs } from '../tracking/durable.ts';

/** Expired tokens are refused anyway: their files may wait. */
const sweepMs = 10 * 60_000;

export interface MaintenanceParts {
  readonly opts: Pick<
    MasterOpts,
    'cachedir' | 'loop_interval' | 'publish_session' | 'presence_events' | 'keep_jobs_mb'
  >;
  readonly log: Logger;
  readonly secrets: { readonly aes: Pick<AesKeys, 'current'> };
  readonly keyChanges: Pick<KeyChanges, 'rotate'>;
  readonly durable: Pick<DurableJobs, 'expire'>;
  readonly fleet: Pick<Fleet, 'present'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'clean'>;
  readonly tokens: Pick<TokenStore, 'sweep'>;
  readonly returnerSettings: Pick<ReturnerSettings, 'jobCache' | 'cleanOutside' | 'keepSeconds' | 'keepEvents'>;
  readonly sinks: Pick<ReturnerSinks, 'ask'>;
  /** Whether this master does what only one member of a cluster does; a master without others leads. */
  leads(): boolean;
}

export class Maintenance {
  readonly #parts: MaintenanceParts;
  #timer: NodeJS.Timeout | undefined;
  #present = new Set<string>();
  #cleaned = 0;
  #swept = 0;
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
    this.#tokens();
    this.#history();
  }

  #rotation(): void {
    const { opts, secrets, log } = this.#parts;
    const due = opts.publish_session > 0 && Date.now() - secrets.aes.current.since >= opts.publish_session * 1000;
    if (this.#dropFile() || due) {
      log.info('AES key rotated', { why: due ? 'publish_session' : 'drop file' });
      this.#parts.keyChanges.rotate().catch((error: unknown) => {
        log.limited('aes-due', 'warn', 'the AES key is due for a change, which waits', { error: messageOf(error) });
      });
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

  #tokens(): void {
    if (Date.now() - this.#swept < sweepMs) return;
    this.#swept = Date.now();
    const { tokens, log } = this.#parts;
    tokens
      .sweep()
      .catch((error: unknown) =>
        log.limited('tokens', 'error', 'expired tokens could not be removed', { error: messageOf(error) }),
      );
  }

  #presence(): void {
    const { opts, fleet, bus } = this.#parts;
    if (!opts.presence_events) return;
    const now = new Set(fleet.present());
    const fresh = [...now].filter((id) => !this.#present.has(id));
    const lost = [...this.#present].filter((id) => !now.has(id));
    this.#present = now;
    // The others are told the events of the leader.
    if (!this.#parts.leads()) return;
    if (fresh.length > 0 || lost.length > 0) bus.fire('salt/presence/change', { new: fresh, lost });
    bus.fire('salt/presence/present', { present: [...now] });
  }

  /**
   * Removes old jobs from the database of master_job_cache, when that is configured. Waits while the database is
   * unavailable.
   */
  #otherHistory(): void {
    const { returnerSettings, sinks, log } = this.#parts;
    if (!returnerSettings.jobCache || !returnerSettings.cleanOutside || returnerSettings.keepSeconds <= 0) return;
    if (Date.now() - this.#cleaned < otherHistoryMs || !this.#parts.leads()) return;
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
