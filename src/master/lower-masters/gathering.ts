// One job that waits until the lower masters have said which of their minions it reaches.
import { newDict } from '../../base/codec/value.ts';
import { matches, type Target } from '../../protocol/target/index.ts';
import type { ActiveJob } from '../tracking/active-job.ts';
import { reason } from '../tracking/reasons.ts';
import type { BeginOptions, Tracker } from '../tracking/tracker.ts';

export interface GatheringParts {
  readonly tracker: Pick<Tracker, 'addBelow' | 'begin'>;
  readonly active: ActiveJob;
  readonly target: Target;
  readonly options: BeginOptions;
  /** Of a target of names, those that nobody here has: they are looked for below. */
  readonly wanted: readonly string[];
  /** Lower masters that may have some of its minions. */
  readonly asked: readonly string[];
  /** The longest wait for a list. */
  readonly waitMs: number;
  /** Whether this lower master always answers, also when it has none. */
  alwaysAnswers(id: string): boolean;
  /** Called at its end with all minions that were added. */
  ended(added: readonly string[]): void;
}

/** Below all lower masters together: what one invents must not fill the memory. */
const mostMinions = 200_000;

export class Gathering {
  readonly target: Target;
  readonly #parts: GatheringParts;
  readonly #asked: Set<string>;
  readonly #wanted: Set<string>;
  readonly #added = new Set<string>();
  readonly #release: () => void;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(parts: GatheringParts) {
    this.#parts = parts;
    this.target = parts.target;
    this.#asked = new Set(parts.asked);
    this.#wanted = new Set(parts.wanted);
    this.#release = parts.active.grow();
  }

  get over(): boolean {
    return this.#over;
  }

  /** The job was sent: the wait begins. */
  start(): void {
    this.#timer = setTimeout(() => this.#end(), this.#parts.waitMs);
    this.#timer.unref();
    if (this.#isComplete()) this.#end();
  }

  /** A list of a lower master; `complete` when it will send no other one. Also one that comes late counts. */
  listed(from: string, ids: readonly string[], complete: boolean): void {
    const { tracker, active, options } = this.#parts;
    const below = ids.filter((id) => this.mayBe(id)).slice(0, mostMinions - this.#added.size);
    for (const id of below) {
      this.#wanted.delete(id);
      this.#added.add(id);
    }
    tracker.addBelow(active, options, below);
    if (this.#over) return;
    if (complete) this.#asked.delete(from);
    if (this.#timer && this.#isComplete()) this.#end();
  }

  /** Whether the target may cover this minion, as far as its id tells. */
  mayBe(id: string): boolean {
    return matches(this.target, { id }) !== 'no-match';
  }

  /** Every name was found, or every lower master has answered. */
  #isComplete(): boolean {
    return this.#asked.size === 0 || (namesOf(this.target) !== undefined && this.#wanted.size === 0);
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    const { tracker, active, options, alwaysAnswers } = this.#parts;
    tracker.begin(active, options, [...this.#wanted]);
    const everyone = this.target.type === 'glob' && this.target.pattern === '*';
    // A lower master of Salt says nothing when the target matches none of its minions.
    if (namesOf(this.target) === undefined || this.#wanted.size > 0)
      for (const id of this.#asked) if (everyone || alwaysAnswers(id)) this.#silent(id);
    this.#parts.ended([...this.#added]);
    this.#release();
  }

  #silent(id: string): void {
    const { active } = this.#parts;
    active.add([id]);
    active.missing(id, reason('lower-silent', newDict([['lower_master', id]])));
  }
}

/** The ids of a target that consists of names: nobody else can be meant. */
export function namesOf(target: Target): readonly string[] | undefined {
  if (target.type === 'list') return target.ids;
  return target.type === 'glob' && !/[*?[\]]/.test(target.pattern) ? [target.pattern] : undefined;
}
