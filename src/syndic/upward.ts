// What goes to one higher master: lists of minions at once, results and events gathered for a moment, as Salt does.
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import type { MissingReason } from '../engine/client/api.ts';
import { roughSize } from '../protocol/event/trim.ts';

/** The link to a higher master, as far as it is needed here. */
export interface UpperLink {
  readonly name: string;
  readonly ready: boolean;
  readonly credentials?: { readonly halite: boolean } | undefined;
  request(load: PlainDict, options: { timeoutMs: number }): Promise<unknown>;
}

export interface UpwardParts {
  readonly link: UpperLink;
  /** The id under which this syndic signed in. */
  readonly id: string;
  readonly log: Pick<Logger, 'limited' | 'info'>;
  /** Gathering results for so long. */
  readonly tickMs: number;
}

/** A result of one minion. */
export interface Result {
  readonly jid: string;
  readonly id: string;
  readonly fun: string;
  readonly masterId?: string | undefined;
  readonly fields: PlainDict;
  /** The job, when the higher master may not know it. */
  readonly load?: PlainDict | undefined;
}

/** Results of one request. */
const mostBytes = 8 * 1024 * 1024;
/** Above this size whoever brings more has to wait. */
const fullBytes = 4 * mostBytes;
const requestMs = 20_000;
const mostEvents = 2_000;

interface Queued {
  readonly result: Result;
  readonly size: number;
  readonly told: (delivered: boolean) => void;
}

export class Upward {
  readonly #parts: UpwardParts;
  #queue: Queued[] = [];
  #events: PlainDict[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(parts: UpwardParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.link.name;
  }
  get ready(): boolean {
    return this.#parts.link.ready;
  }
  /** Whether it understands what Salt does not have. */
  get isHalite(): boolean {
    return this.#parts.link.credentials?.halite === true;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** The minions of this master that have the job; `growing` when another list follows. */
  list(jid: string, minions: readonly string[], growing = false): Promise<boolean> {
    const data = newDict([['minions', [...minions]], ...(growing ? [['halite_growing', true] as const] : [])]);
    return this.#send(this.#eventLoad([newDict(Object.entries({ tag: jid, data }))]));
  }

  /** Why minions return nothing: only a Halite master understands it. */
  async reason(jid: string, id: string, { code, text, evidence }: MissingReason): Promise<void> {
    if (!this.isHalite) return;
    const missing = newDict([[id, newDict(Object.entries({ code, text, evidence }))]]);
    const load = { id: this.#parts.id, cmd: '_minion_event', pretag: null, tag: `halite/below/${jid}` };
    await this.#send(newDict(Object.entries({ ...load, data: newDict([['missing', missing]]) })));
  }

  /** An event of this master: the oldest are dropped when there are too many. */
  event(tag: string, data: Value): void {
    this.#events.push(newDict(Object.entries({ tag, data })));
    if (this.#events.length > mostEvents) this.#events.shift();
    this.#later();
  }

  /** Resolves when the higher master has the result: true, or when it cannot have it now: false. */
  result(result: Result): Promise<boolean> {
    if (!this.ready) return Promise.resolve(false);
    const size = roughSize(result.fields, mostBytes) + 200;
    return new Promise((told) => {
      this.#queue.push({ result, size, told });
      this.#bytes += size;
      if (this.#bytes >= mostBytes) void this.#flush();
      else this.#later();
    });
  }

  /** Resolves when there is room for more results. */
  async room(): Promise<void> {
    while (this.#bytes > fullBytes) await this.#flush();
  }

  #later(): void {
    this.#timer ??= setTimeout(() => void this.#flush(), this.#parts.tickMs).unref();
  }

  #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length > 0 || this.#events.length > 0) this.#later();
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    const events = this.#events.splice(0);
    if (events.length > 0 && this.ready) await this.#send(this.#eventLoad(events));
    while (this.#queue.length > 0) {
      const batch = this.#takeBatch();
      const delivered = await this.#send(returnLoad(this.#parts.id, batch));
      for (const { told } of batch) told(delivered);
    }
  }

  #takeBatch(): Queued[] {
    let bytes = 0;
    let count = 0;
    for (const { size } of this.#queue) {
      if (count > 0 && bytes + size > mostBytes) break;
      bytes += size;
      count++;
    }
    this.#bytes -= bytes;
    return this.#queue.splice(0, count);
  }

  #eventLoad(events: readonly PlainDict[]): PlainDict {
    const { id } = this.#parts;
    return newDict(Object.entries({ id, cmd: '_minion_event', pretag: `syndic/${id}`, events: [...events] }));
  }

  async #send(load: PlainDict): Promise<boolean> {
    const { link, log } = this.#parts;
    if (!link.ready) return false;
    try {
      await link.request(load, { timeoutMs: requestMs });
      return true;
    } catch (error) {
      log.limited(`upward:${link.name}`, 'warn', 'the higher master does not take results now: they follow later', {
        ...{ master: link.name, error: messageOf(error) },
      });
      return false;
    }
  }
}

/** The results of each job together. */
function returnLoad(id: string, batch: readonly Queued[]): PlainDict {
  const jobs = new Map<string, { first: Result; load: PlainDict; returns: [string, PlainDict][] }>();
  for (const { result } of batch) {
    const known = jobs.get(result.jid) ?? { first: result, load: newDict(), returns: [] };
    if (result.load) known.load = result.load;
    known.returns.push([result.id, result.fields]);
    jobs.set(result.jid, known);
  }
  const load = [...jobs.values()].map(({ first, load: job, returns }) =>
    newDict([
      ...Object.entries({ id, jid: first.jid, fun: first.fun, arg: null, tgt: null, tgt_type: null, load: job }),
      ...(first.masterId === undefined ? [] : [['master_id', first.masterId] as const]),
      ['return', newDict(returns)],
    ]),
  );
  return newDict(Object.entries({ id, cmd: '_syndic_return', load }));
}
