// The process that leads a fleet: starts the processes that play the minions, and adds up what they did.
import { type ChildProcess, fork } from 'node:child_process';
import { addSnapshots } from './add-up.ts';
import type { Snapshot } from './counters.ts';
import type { FleetNews } from './fleet.ts';
import type { FleetOptions } from './options.ts';
import type { PartNews, PartOrder } from './part-messages.ts';

/** News of the whole fleet: those of all its processes together. */
export type LeadNews = FleetNews | { readonly say: 'part-ended'; readonly why: string };

const snapshotMs = 10_000;
const stopMs = 5000;
/** A process to which nothing of a job was sent never hears of it; the others are waited for no longer than this. */
const unheardMs = 1000;

interface JobProgress {
  readonly heard: Set<Part>;
  readonly answered: Set<Part>;
  count: number;
  told: boolean;
  at: number;
}

interface Part {
  readonly child: ChildProcess;
  alive: boolean;
}

export class FleetLead {
  readonly #parts: Part[] = [];
  readonly #tell: (news: LeadNews) => void;
  readonly #phases = new Map<string, number>();
  readonly #jobs = new Map<string, JobProgress>();
  readonly #asked = new Map<number, (snapshot: Snapshot) => void>();
  #ticket = 0;
  #stopping = false;

  constructor(tell: (news: LeadNews) => void) {
    this.#tell = tell;
  }

  /** One process for each of these. `program` is the built file of part.ts. */
  start(program: string, each: readonly FleetOptions[]): void {
    for (const options of each) {
      const child = fork(program, [], {
        serialization: 'advanced',
        execArgv: [],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const part: Part = { child, alive: true };
      this.#parts.push(part);
      child.on('message', (news: PartNews) => this.#heard(part, news));
      child.once('error', (error) => this.#ended(part, error.message));
      child.once('exit', (code, signal) => this.#ended(part, `ended with ${signal ?? code}`));
      this.#order(part, { do: 'start', options });
    }
  }

  order(order: Exclude<PartOrder, { do: 'start' | 'snapshot' }>): void {
    for (const part of this.#parts) this.#order(part, order);
  }

  /** What all of them did until now. A process that has ended is missing in it. */
  async snapshot(): Promise<Snapshot> {
    const parts = this.#parts.filter(({ alive }) => alive);
    const found = await Promise.all(parts.map((part) => this.#ask(part)));
    return addSnapshots(found.filter((snapshot) => snapshot !== undefined));
  }

  #ask(part: Part): Promise<Snapshot | undefined> {
    const ticket = this.#ticket++;
    return new Promise((resolve) => {
      const give = (snapshot?: Snapshot): void => {
        clearTimeout(timer);
        this.#asked.delete(ticket);
        part.child.off('exit', gone);
        resolve(snapshot);
      };
      const gone = (): void => give();
      const timer = setTimeout(gone, snapshotMs);
      part.child.once('exit', gone);
      this.#asked.set(ticket, give);
      this.#order(part, { do: 'snapshot', ticket });
    });
  }

  /** Ends them; one that does not end by itself is killed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.order({ do: 'stop' });
    await Promise.all(
      this.#parts
        .filter(({ alive }) => alive)
        .map(
          ({ child }) =>
            new Promise<void>((resolve) => {
              const hard = setTimeout(() => child.kill('SIGKILL'), stopMs);
              child.once('exit', () => {
                clearTimeout(hard);
                resolve();
              });
            }),
        ),
    );
  }

  #order(part: Part, order: PartOrder): void {
    if (part.alive && part.child.connected) part.child.send(order, () => undefined);
  }

  #heard(part: Part, news: PartNews): void {
    if (news.say === 'snapshot') this.#asked.get(news.ticket)?.(news.snapshot);
    else if (news.say === 'failed') this.#tell({ say: 'part-ended', why: news.why });
    else if (news.say === 'job' || news.say === 'answered') this.#job(part, news);
    else this.#phase(news);
  }

  /** The fleet is as far as the slowest of its processes. */
  #phase(news: FleetNews): void {
    const count = (this.#phases.get(news.say) ?? 0) + 1;
    this.#phases.set(news.say, count);
    if (count === this.#parts.length) this.#tell(news);
  }

  #job(part: Part, news: Extract<FleetNews, { jid: string }>): void {
    const known = this.#jobs.get(news.jid);
    const progress = known ?? { heard: new Set(), answered: new Set(), count: 0, told: false, at: 0 };
    if (!known) {
      this.#jobs.set(news.jid, progress);
      this.#bound();
    }
    progress.heard.add(part);
    if (news.say === 'job') {
      if (!known) this.#tell(news);
      return;
    }
    if (progress.answered.has(part)) return;
    progress.answered.add(part);
    progress.count += news.count;
    progress.at = Math.max(progress.at, news.at);
    const done = (): void => {
      if (progress.told || progress.answered.size < progress.heard.size) return;
      progress.told = true;
      this.#tell({ ...news, count: progress.count, at: progress.at });
    };
    if (progress.answered.size === this.#parts.length) done();
    else if (progress.answered.size === progress.heard.size) setTimeout(done, unheardMs).unref();
  }

  #bound(): void {
    const oldest = this.#jobs.keys().next().value;
    if (this.#jobs.size > 2000 && oldest !== undefined) this.#jobs.delete(oldest);
  }

  #ended(part: Part, why: string): void {
    if (!part.alive) return;
    part.alive = false;
    if (!this.#stopping) this.#tell({ say: 'part-ended', why: `a process of the fleet ${why}` });
  }
}
