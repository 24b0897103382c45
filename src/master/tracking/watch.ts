// Watches minions whose result is missing: asks those that do not report by themselves, and ends with a reason.
import { dictSize, isDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Reason } from '../../protocol/job/verdict.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ActiveJob, Waiting } from './active-job.ts';
import type { DurableJobs } from './durable.ts';
import { clock, jobEvidence, type Reasons, reason } from './reasons.ts';

/** A find_job question, ready to be sent: the caller subscribes to the answers first. */
export interface Inquiry {
  readonly active: ActiveJob;
  send(): Promise<void>;
}
export type AskFindJob = (jid: string, ids: readonly string[], waiting: Waiting) => Inquiry;

export interface WatchParts {
  readonly opts: Pick<MasterOpts, 'timeout' | 'syndic_wait'>;
  readonly log: Pick<Logger, 'error'>;
  readonly keys: { ids(state: 'accepted'): readonly string[] };
  readonly fleet: Pick<Fleet, 'connected' | 'isHalite' | 'known' | 'record'>;
  readonly reasons: Pick<Reasons, 'isSuspect' | 'silence' | 'evidenceOf' | 'via'>;
  readonly durable: Pick<DurableJobs, 'arrived'>;
  readonly ask: AskFindJob;
  /** Whether a result that its minion could not send was fetched from it; only for jobs of a master that is gone. */
  recover?(jid: string, id: string): Promise<boolean>;
}

/** What happens to minions that are given up; implemented by the tracker. */
export interface Settling {
  absent(job: ActiveJob, id: string, why: Reason): void;
  isDurable(jid: string): boolean;
  /** A question whose answers are no longer needed. */
  forget(jid: string): void;
}

/** A Halite minion reports within a fraction of this time that it accepted a job. */
const haliteQuietMs = 2_000;
/** A minion that was silent the last time has this long to answer. */
const suspectMs = 2_000;
/** A result may still be in transit when the minion already reports that it no longer runs the job. */
const inFlightGraceMs = 1_500;
/** Unanswered questions in a row after which a minion is given up before its `timeout` is over. */
const strikesToGiveUp = 3;
/** Even with a huge `timeout`, a running job is checked this often. */
const longestQuietMs = 30_000;

/** Pause between two rounds, also when a question could not be sent. */
const betweenMs = 50;

type Answer = 'running' | 'idle' | 'none';

interface Group {
  readonly turn: symbol;
  readonly ids: readonly string[];
  readonly suspect: boolean;
  readonly gatherMs: number;
  readonly began: number;
  /** Number of unanswered questions, and of "not running" answers, each in a row. */
  readonly strikes: Map<string, number>;
  readonly idle: Map<string, number>;
}

export class JobWatch {
  readonly #parts: WatchParts;
  readonly #tracker: Settling;
  readonly #job: ActiveJob;
  /** The round in which a minion is asked; when it is watched again, the older round skips it. */
  readonly #turns = new Map<string, symbol>();

  constructor(parts: WatchParts, tracker: Settling, job: ActiveJob) {
    this.#parts = parts;
    this.#tracker = tracker;
    this.#job = job;
  }

  /** Salt's `timeout` for minions that cannot report; those that can, or were silent before, are asked sooner. */
  over(ids: readonly string[]): void {
    const { fleet, opts } = this.#parts;
    const { timeoutMs, gatherMs } = this.#job.waiting;
    const [suspects, halite, others, below]: [string[], string[], string[], string[]] = [[], [], [], []];
    for (const id of ids) {
      if (!this.#job.isOpen(id)) continue;
      if (this.#parts.reasons.via(id) !== undefined) below.push(id);
      else if (this.#parts.reasons.isSuspect(id)) suspects.push(id);
      else if (fleet.connected(id) === 'yes' && fleet.isHalite(id)) halite.push(id);
      else others.push(id);
    }
    this.#start(suspects, 0, Math.min(gatherMs, suspectMs), true);
    this.#start(halite, Math.min(timeoutMs, haliteQuietMs), gatherMs, false);
    this.#start(others, Math.min(timeoutMs, opts.timeout * 1000), gatherMs, false);
    // As in Salt: questions and answers pass through one more master.
    this.#start(below, Math.min(timeoutMs, opts.timeout * 1000), gatherMs + opts.syndic_wait * 1000, false);
  }

  #start(ids: readonly string[], delayMs: number, gatherMs: number, suspect: boolean): void {
    if (ids.length === 0) return;
    const turn = Symbol();
    for (const id of ids) this.#turns.set(id, turn);
    const group = { turn, ids, suspect, gatherMs, began: Date.now(), strikes: new Map(), idle: new Map() };
    this.#later(delayMs, () => this.#round(group));
  }

  #later(ms: number, action: () => Promise<void>): void {
    setTimeout(() => {
      action().catch((error: unknown) =>
        this.#parts.log.error('minions could not be asked about a job', {
          jid: this.#job.jid,
          error: messageOf(error),
        }),
      );
    }, ms).unref();
  }

  async #round(group: Group): Promise<void> {
    const job = this.#job;
    const accepted = new Set(this.#parts.keys.ids('accepted'));
    const asked = this.#open(group).filter((id) => !(accepted.has(id) && this.#reportsItself(id)));
    const answers = asked.length > 0 ? await this.#question(asked, group.gatherMs) : new Map<string, Answer>();
    const { timeoutMs } = job.waiting;
    let next = Math.min(timeoutMs, longestQuietMs);
    for (const id of asked) {
      if (this.#turns.get(id) === group.turn) next = Math.min(next, this.#judge(group, id, answers.get(id) ?? 'none'));
    }
    const left = this.#open(group);
    if (left.length === 0) return;
    this.#later(Math.max(next, betweenMs), () => this.#round({ ...group, ids: left }));
  }

  #open({ ids, turn }: Group): string[] {
    return ids.filter((id) => this.#job.isOpen(id) && this.#turns.get(id) === turn);
  }

  /** It reports about its jobs over an open connection: no question is needed. */
  #reportsItself(id: string): boolean {
    const { fleet } = this.#parts;
    if (this.#job.verdict(id)?.kind !== 'running' || this.#job.milestones(id)?.doubted) return false;
    return fleet.connected(id) === 'yes' && fleet.isHalite(id);
  }

  /** Decides about one minion; returns the milliseconds after which it must be asked again. */
  #judge(group: Group, id: string, answer: Answer): number {
    const job = this.#job;
    if (!job.isOpen(id) || answer === 'running') {
      group.strikes.delete(id);
      group.idle.delete(id);
      return longestQuietMs;
    }
    const late = Date.now() - group.began >= job.waiting.timeoutMs;
    if (answer === 'idle') {
      const times = (group.idle.get(id) ?? 0) + 1;
      group.idle.set(id, times);
      if (late || times > 1) this.#later(inFlightGraceMs, () => this.#noResult(id));
      return inFlightGraceMs * 2;
    }
    const strikes = (group.strikes.get(id) ?? 0) + 1;
    group.strikes.set(id, strikes);
    const unheard = (this.#parts.fleet.known(id)?.lastContact ?? 0) < group.began;
    // The time to answer is already over: the next question follows immediately.
    if (!late && !group.suspect && !(strikes >= strikesToGiveUp && unheard)) return 0;
    if (this.#parts.reasons.via(id) === undefined) this.#parts.fleet.record(id).silentSince = Date.now();
    this.#tracker.absent(job, id, this.#parts.reasons.silence(id, job));
    return longestQuietMs;
  }

  async #noResult(id: string): Promise<void> {
    const { fleet, recover } = this.#parts;
    const lost = this.#job.isOpen(id) && this.#job.adopted !== undefined && !fleet.isHalite(id);
    if (lost && (await recover?.(this.#job.jid, id))) return;
    this.#noRecord(id);
  }

  /** Alive, but without the job: usually it connected only after the job had been sent. */
  #noRecord(id: string): void {
    const job = this.#job;
    if (!job.isOpen(id)) return;
    const since = this.#cameAfter(id);
    const evidence = { ...this.#parts.reasons.evidenceOf(id), ...jobEvidence(job, id) };
    const why = reason('no-record', evidence, since ? `it connected at ${clock(since)}, after the job was sent` : '');
    // A Halite minion runs it once, however often it is sent; another one must have connected after the job.
    if (this.#tracker.isDurable(job.jid) && (since || this.#parts.fleet.isHalite(id))) {
      this.#tracker.absent(job, id, why);
      this.#parts.durable.arrived(id, 'joined');
    } else if (job.isUnevaluated(id)) this.#tracker.absent(job, id, why);
    else job.missing(id, why);
  }

  /** When the minion connected or signed in, if that was after the job was sent. */
  #cameAfter(id: string): number {
    const record = this.#parts.fleet.known(id);
    const sent = this.#job.milestones(id)?.sent ?? this.#job.started;
    const times = [...(record?.connections.values() ?? [])].map((connection) => connection.since);
    if (!record?.tracked && record?.lastAuth?.result === 'accept') times.push(record.lastAuth.at);
    return times.length > 0 && times.every((time) => time > sent) ? Math.min(...times) : 0;
  }

  async #question(ids: readonly string[], gatherMs: number): Promise<Map<string, Answer>> {
    const answers = new Map<string, Answer>();
    const inquiry = this.#inquiry(ids, { ...this.#job.waiting, gatherMs });
    if (!inquiry) return answers;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stop();
        clearTimeout(timer);
        this.#tracker.forget(inquiry.active.jid);
        resolve();
      };
      const stop = inquiry.active.listen((update) => {
        if (update.type === 'return') {
          const running = isRunning(update.ret.return);
          answers.set(update.id, running ? 'running' : 'idle');
          if (running) this.#job.running(update.id, 'confirmed');
        } else if (update.type === 'end') done();
      });
      const timer = setTimeout(done, gatherMs);
      timer.unref();
      // A question that could not be sent counts as unanswered: the next round tries again.
      inquiry.send().catch((error: unknown) => {
        this.#unsent(error);
        done();
      });
    });
    return answers;
  }

  #inquiry(ids: readonly string[], waiting: Waiting): Inquiry | undefined {
    try {
      return this.#parts.ask(this.#job.jid, ids, waiting);
    } catch (error) {
      this.#unsent(error);
      return undefined;
    }
  }

  #unsent(error: unknown): void {
    this.#parts.log.error('find_job could not be published', { jid: this.#job.jid, error: messageOf(error) });
  }
}

/** find_job returns the job's data while it runs, and an empty map afterwards. */
function isRunning(answer: Value | undefined): boolean {
  return isDict(answer) && dictSize(answer) > 0;
}
