// The master's scheduler: runs runners (and wheel functions, named `wheel.…`) of the option `schedule`.
import { asDict, isDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { Logger } from '../../base/log/index.ts';
import { Schedule, type ScheduledRun } from '../../engine/schedule/index.ts';
import type { MasterFunctions, MasterKind } from '../local/functions.ts';
import type { ScheduleClaims } from '../shared/schedule.ts';

const tickMs = 1000;
const graceMs = 60_000;

export interface SchedulerParts {
  readonly opts: { readonly raw: PlainDict };
  readonly log: Logger;
  readonly functions: Pick<MasterFunctions, 'start'>;
  /** Absent for a master without others. */
  readonly claims?: Pick<ScheduleClaims, 'due'> | undefined;
  /** Another master does it. */
  paused?(): boolean;
}

export class MasterScheduler {
  readonly #parts: SchedulerParts;
  readonly #schedule: Schedule;
  readonly #running: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    const found = parts.opts.raw['schedule'];
    this.#schedule = new Schedule(asDict(found) ?? newDict(), {
      ...{ log: parts.log.child('schedule'), graceMs, now: () => new Date(), random: Math.random },
      aligned: parts.claims !== undefined,
      pillar: newDict,
      grains: newDict,
      running: async () => this.#running,
      run: (run) => this.#due(run),
      persist: async () => undefined,
    });
  }

  start(): void {
    if (this.#schedule.merged().size === 0) return;
    this.#timer = setInterval(() => void this.#schedule.tick(), tickMs);
    this.#timer.unref();
    void this.#schedule.tick();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** `cluster: any` runs a job on every member; the others run on one of them, whichever leads. */
  #due(run: ScheduledRun): void {
    const { claims, paused } = this.#parts;
    if (paused?.()) return;
    if (claims && run.data['cluster'] !== 'any') claims.due(run.name, run.meant, () => this.#run(run));
    else this.#run(run);
  }

  #run({ name, fun, args, kwargs, data }: ScheduledRun): void {
    const wheel = fun.startsWith('wheel.');
    const kind: MasterKind = wheel ? 'wheel' : 'runners';
    const plain = wheel ? fun.slice('wheel.'.length) : fun.startsWith('runner.') ? fun.slice('runner.'.length) : fun;
    const { metadata } = data;
    this.#running.push(name);
    const { jid, result } = this.#parts.functions.start(kind, plain, args, kwargs ?? newDict(), 'root', {
      schedule: name,
      ...(isDict(metadata) ? { metadata } : {}),
    });
    void result.then(({ success }) => {
      this.#running.splice(this.#running.indexOf(name), 1);
      if (!success) this.#parts.log.warn('a scheduled function failed', { job: name, fun, jid });
    });
  }
}
