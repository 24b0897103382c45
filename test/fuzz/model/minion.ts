// A simulated minion: runs jobs, answers find_job and kill_job, sends results until they are accepted.
import { dictGet, newDict, type PlainDict } from '../../../src/base/codec/value.ts';
import { deadlineField, durableField, endedField } from '../../../src/protocol/job/verdict.ts';
import type { SimulatedClock } from './clock.ts';

export interface Wire {
  readonly clock: SimulatedClock;
  /** Resolves when the master has taken the result; rejects when there is nobody to take it. */
  deliver(id: string, load: PlainDict): Promise<void>;
  phase(jid: string, id: string, phase: string): void;
  /** How long a job takes there, in milliseconds; fails with this code. */
  plan(jid: string, id: string): { readonly ms: number; readonly retcode: number };
  /** For the ledger: the function began here. */
  began(jid: string, id: string): void;
}

const latencyMs = 5;
/** A Halite minion speaks up about jobs that take longer. */
const momentMs = 500;
const againMs = 5_000;

interface Running {
  readonly job: PlainDict;
  readonly ends: object;
}

export class SimulatedMinion {
  readonly id: string;
  readonly halite: boolean;
  readonly #wire: Wire;
  connected = false;
  boot = 0;
  /** Processes of jobs: they outlive the daemon of a Halite minion, not the machine. */
  readonly #running = new Map<string, Running>();
  /** On the disk of a Halite minion: results nobody took yet, and durable jobs that were begun. */
  readonly #spool = new Map<string, PlainDict>();
  readonly #begun = new Set<string>();
  /** In the memory of the process. */
  #seen = new Set<string>();
  /** Results that were taken, for those who send them again. */
  readonly taken: PlainDict[] = [];

  constructor(id: string, halite: boolean, wire: Wire) {
    this.id = id;
    this.halite = halite;
    this.#wire = wire;
  }

  get idle(): boolean {
    return this.#running.size === 0 && this.#spool.size === 0;
  }

  /** The process ends, with the machine or alone. */
  stop(machine: boolean): void {
    this.connected = false;
    this.#seen = new Set();
    if (this.halite && !machine) return;
    for (const { ends } of this.#running.values()) this.#wire.clock.clear(ends);
    this.#running.clear();
  }

  start(): void {
    this.boot++;
    this.connected = true;
    this.drain();
  }

  receive(job: PlainDict): void {
    this.#wire.clock.after(latencyMs, () => {
      if (this.connected) this.#take(job);
    });
  }

  #take(job: PlainDict): void {
    const jid = String(job['jid']);
    const about = Array.isArray(job['arg']) ? String(job['arg'][0]) : '';
    if (job['fun'] === 'saltutil.find_job') {
      this.#answer(job, this.#running.has(about) ? newDict([['jid', about]]) : newDict());
    } else if (job['fun'] === 'saltutil.kill_job') {
      this.#answer(job, true);
      this.#kill(about);
    } else if (!this.#seen.has(jid)) {
      this.#seen.add(jid);
      if (this.halite && job[durableField] !== undefined && this.#begun.has(jid)) this.#again(job);
      else this.#begin(jid, job);
    }
  }

  #begin(jid: string, job: PlainDict): void {
    this.#begun.add(jid);
    this.#wire.began(jid, this.id);
    const { ms, retcode } = this.#wire.plan(jid, this.id);
    const deadline = dictGet(job, deadlineField);
    const mostMs = this.halite && typeof deadline === 'number' ? deadline * 1000 : Number.POSITIVE_INFINITY;
    const ends = this.#wire.clock.after(Math.min(ms, mostMs), () =>
      this.#end(jid, ms > mostMs ? 'deadline' : 'done', retcode),
    );
    this.#running.set(jid, { job, ends });
    if (this.halite && ms > momentMs) this.#wire.clock.after(momentMs, () => this.#speak(jid));
  }

  #speak(jid: string): void {
    if (this.connected && this.#running.has(jid)) this.#wire.phase(jid, this.id, 'started');
  }

  #end(jid: string, how: 'done' | 'deadline' | 'killed', retcode: number): void {
    const running = this.#running.get(jid);
    if (!running) return;
    this.#running.delete(jid);
    const load = this.#load(running.job, how === 'done' ? `result of ${this.id}` : how, how === 'done' ? retcode : 1);
    if (how === 'deadline') load[endedField] = 'deadline';
    this.#bring(load);
  }

  /** Salt's own minions say nothing about a job that was killed. */
  #kill(jid: string): void {
    const running = this.#running.get(jid);
    if (!running) return;
    this.#wire.clock.clear(running.ends);
    if (this.halite) this.#end(jid, 'killed', 1);
    else this.#running.delete(jid);
  }

  /** A durable job that was begun before never runs twice; when its result is lost, that is the result. */
  #again(job: PlainDict): void {
    const jid = String(job['jid']);
    const done = this.taken.some((load) => load['jid'] === jid);
    if (!done && !this.#running.has(jid) && !this.#spool.has(jid)) this.#bring(this.#load(job, 'interrupted', 1));
  }

  #load(job: PlainDict, value: PlainDict[string], retcode: number): PlainDict {
    const { jid, fun } = job;
    return {
      cmd: '_return',
      id: this.id,
      jid: jid ?? '',
      fun: fun ?? '',
      fun_args: [],
      return: value,
      retcode,
      success: retcode === 0,
    };
  }

  #answer(job: PlainDict, value: PlainDict[string]): void {
    void this.#wire.deliver(this.id, this.#load(job, value, 0)).catch(() => {});
  }

  #bring(load: PlainDict): void {
    const jid = String(load['jid']);
    if (this.halite) this.#spool.set(jid, load);
    if (this.connected) this.#send(jid, load);
  }

  /** Sends everything that waits on disk; the master handles a second delivery of the same result. */
  drain(): void {
    for (const [jid, load] of this.#spool) this.#send(jid, load);
  }

  #send(jid: string, load: PlainDict): void {
    this.#wire.deliver(this.id, { ...load }).then(
      () => {
        this.#spool.delete(jid);
        this.taken.push(load);
      },
      () => {
        if (this.halite)
          this.#wire.clock.after(againMs, () => this.connected && this.#spool.has(jid) && this.#send(jid, load));
      },
    );
  }
}
