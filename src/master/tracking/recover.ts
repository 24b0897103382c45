// A Salt minion whose master went while it sent a result has given up, but may have kept it (`cache_jobs`): it is asked.
import { isDict, newDict } from '../../base/codec/value.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { jobReturnTag } from '../../protocol/event/tags.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn, returnFields } from '../../protocol/wire/messages/job-return.ts';
import type { JobStore } from '../../store/jobs.ts';
import { returnRecord } from '../../store/records.ts';
import type { Tracker } from './tracker.ts';
import type { Inquiry } from './watch.ts';

export interface RecoverParts {
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveReturn'>;
  readonly tracker: Pick<Tracker, 'returned' | 'alreadyReturned' | 'forget'>;
  /** Asks `saltutil.find_cached_job`. */
  ask(jid: string, id: string): Inquiry;
}

const askMs = 10_000;
/** A minion without `cache_jobs` is not asked again for this time. */
const forgetMs = 600_000;
const mostKnown = 10_000;

export class Recovery {
  readonly #parts: RecoverParts;
  readonly #without = new Map<string, number>();

  constructor(parts: RecoverParts) {
    this.#parts = parts;
  }

  /** True when its result is here now. */
  async result(jid: string, id: string): Promise<boolean> {
    const { tracker, store, bus } = this.#parts;
    if (Date.now() - (this.#without.get(id) ?? 0) < forgetMs) return false;
    const answer = await this.#answer(jid, id);
    if (answer === undefined) return false;
    if (!isDict(answer)) {
      this.#forget(id);
      return false;
    }
    const ret = readJobReturn(answer, { id, jid });
    if (isProblem(ret) || tracker.alreadyReturned(jid, id)) return tracker.alreadyReturned(jid, id);
    const marked = { ...ret, extra: newDict([...Object.entries(ret.extra ?? {}), ['recovered', true]]) };
    const load = returnFields(marked);
    await store.saveReturn(returnRecord(marked, load, Date.now()));
    tracker.returned(marked);
    bus.fire(jobReturnTag(jid, id), load);
    return true;
  }

  /** What it says; undefined when it says nothing. */
  #answer(jid: string, id: string): Promise<unknown> {
    const inquiry = this.#parts.ask(jid, id);
    return new Promise((resolve) => {
      const end = (value: unknown): void => {
        stop();
        clearTimeout(timer);
        this.#parts.tracker.forget(inquiry.active.jid);
        resolve(value);
      };
      const stop = inquiry.active.listen((update) => {
        if (update.type === 'return') end(update.ret.return);
        else if (update.type === 'end') end(undefined);
      });
      const timer = setTimeout(() => end(undefined), askMs);
      timer.unref();
      inquiry.send().catch(() => end(undefined));
    });
  }

  #forget(id: string): void {
    this.#without.delete(id);
    this.#without.set(id, Date.now());
    const [oldest] = this.#without.keys();
    if (this.#without.size > mostKnown && oldest !== undefined) this.#without.delete(oldest);
  }
}
