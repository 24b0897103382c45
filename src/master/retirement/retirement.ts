// A master whose minions have moved to another one: it still answers and stores results, publishes no jobs, starts nothing by
// schedule and reacts to no event, because the new master does. It ends when no minion has come for a while.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { intField, textField } from '../../base/codec/fields.ts';
import { isDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import type { RetirementServices, RetirementStatus } from '../../extend/sdk/index.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Tracker } from '../tracking/tracker.ts';

/** What is stored: it goes on after a restart. */
interface RetirementRecord {
  /** In milliseconds since the epoch. */
  readonly since: number;
  /** The address of the new master. */
  readonly to: string;
  readonly quietSeconds: number;
}

export interface RetirementParts {
  readonly opts: { readonly cachedir: string };
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** The name of its cluster: a member leaves by cluster.drain. */
  readonly cluster: string | undefined;
  /** Called when it begins and when it is taken back. */
  changed(active: boolean): void;
}

export interface WatchedParts {
  readonly fleet: Pick<Fleet, 'status'>;
  readonly tracker: Pick<Tracker, 'active'>;
  acceptedIds(): readonly string[];
  /** Asks all minions for a sign of life: real Salt minions may be connected without a word for days. */
  askAll(): Promise<void>;
}

const lookMs = 1_000;
const fileOf = (cachedir: string): string => join(cachedir, 'retirement.json');

function loadRecord(cachedir: string): RetirementRecord | undefined {
  const file = fileOf(cachedir);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const value = JSON.parse(text) as Value;
    const [since, quietSeconds] = isDict(value) ? [intField(value, 'since'), intField(value, 'quietSeconds')] : [];
    const to = isDict(value) ? textField(value, 'to') : undefined;
    if (since !== undefined && quietSeconds !== undefined && quietSeconds > 0 && to !== undefined)
      return { since, to, quietSeconds };
  } catch {
    // Said below.
  }
  throw new HaliteError('config.value', `${file} cannot be read: it says that this master is being retired`, {
    hint: 'Remove it to let this master work as before, or run `salt-run master.retire` again after that.',
  });
}

export class Retirement implements RetirementServices {
  readonly #parts: RetirementParts;
  readonly #ended: Promise<undefined>;
  #end: () => void = () => undefined;
  readonly #started = Date.now();
  #record: RetirementRecord | undefined;
  #watched: WatchedParts | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(parts: RetirementParts) {
    this.#parts = parts;
    this.#record = loadRecord(parts.opts.cachedir);
    this.#ended = new Promise((resolve) => {
      this.#end = () => resolve(undefined);
    });
  }

  get active(): boolean {
    return this.#record !== undefined;
  }

  /** Settles when no minion has come for long enough. */
  get ended(): Promise<undefined> {
    return this.#ended;
  }

  start(watched: WatchedParts): void {
    this.#watched = watched;
    const record = this.#record;
    if (record) this.#parts.log.warn('this master is being retired: it publishes no jobs', { to: record.to });
    this.#parts.changed(this.active);
    this.#timer = setInterval(() => void this.#look(), lookMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Jobs that move minions are still published. */
  refuseNew(asked: Pick<AskedJob, 'moves'>): void {
    const record = this.#record;
    if (!record || asked.moves) return;
    throw new HaliteError('call.failed', 'This master is being retired: it publishes no jobs', {
      hint: `Run it on ${record.to}; or let this master work again: salt-run master.retire undo=True`,
    });
  }

  async begin(to: string, quietSeconds: number): Promise<void> {
    const { opts, log, cluster } = this.#parts;
    if (cluster !== undefined)
      throw new HaliteError('call.failed', `This master is a member of the cluster ${cluster}`, {
        hint: 'A member leaves with: salt-run cluster.drain, then cluster.forget.',
      });
    const record = { since: this.#record?.since ?? Date.now(), to, quietSeconds };
    replaceFileNow(fileOf(opts.cachedir), `${JSON.stringify(record)}\n`);
    this.#record = record;
    this.#parts.changed(true);
    log.warn('this master is being retired: it publishes no jobs', { to, quiet: `${quietSeconds} s` });
  }

  async undo(): Promise<void> {
    if (!this.#record) return;
    rmSync(fileOf(this.#parts.opts.cachedir), { force: true });
    this.#record = undefined;
    this.#parts.changed(false);
    this.#parts.log.warn('this master works again: it is not retired any more');
  }

  async status(): Promise<RetirementStatus> {
    const { to = '', since = 0, quietSeconds = 0 } = this.#record ?? {};
    const quietSince = this.#quietSince();
    return { active: this.active, to, since, quietSeconds, quietSince, jobs: this.#openJobs() };
  }

  /** When the last minion was here; undefined while one is. A restarted master does not know who came before. */
  #quietSince(): number | undefined {
    const { fleet, acceptedIds } = this.#watched ?? { fleet: undefined, acceptedIds: () => [] };
    let last = Math.max(this.#started, this.#record?.since ?? 0);
    for (const id of acceptedIds()) {
      const status = fleet?.status(id);
      if (status?.connected === 'yes') return undefined;
      last = Math.max(last, status?.lastContact?.getTime() ?? 0);
    }
    return last;
  }

  #openJobs(): string[] {
    return (this.#watched?.tracker.active() ?? []).map(({ jid }) => jid);
  }

  #isQuiet({ quietSeconds }: RetirementRecord): boolean {
    const quietSince = this.#quietSince();
    const quiet = quietSince !== undefined && Date.now() - quietSince >= quietSeconds * 1000;
    return quiet && this.#openJobs().length === 0;
  }

  async #look(): Promise<void> {
    const record = this.#record;
    if (!record || this.#looking || !this.#isQuiet(record)) return;
    this.#looking = true;
    const { log } = this.#parts;
    try {
      await this.#watched?.askAll();
      if (this.#record !== record || !this.#isQuiet(record)) return;
      log.warn('no minion has come for long enough: this retired master ends', {
        quiet: `${record.quietSeconds} s`,
        to: record.to,
      });
      this.stop();
      this.#end();
    } catch (error) {
      log.warn('the minions of this retired master cannot be asked', { error: messageOf(error) });
    } finally {
      this.#looking = false;
    }
  }
}
