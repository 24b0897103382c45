// The reactor: for events that match a rule, its files are rendered and their calls are made. Bounded, in order,
// counted.
import { type Dict, dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { globFiles } from '../../base/config/glob.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { FileServer } from '../../engine/files/server.ts';
import type { Chunk, High } from '../../engine/state/data.ts';
import type { BusEvent, EventBus } from '../../protocol/event/bus.ts';
import type { EventOrigin } from '../../protocol/event/event.ts';
import { carryOut, isSent, type ReactionParts, reactorUser } from './call.ts';
import { compileReactions, declarations } from './compile.ts';
import { Rules } from './rules.ts';

/** Events whose files are rendered at the same time; their calls are still made in the order of the events. */
const mostRendering = 4;

interface Waiting {
  readonly event: BusEvent;
  readonly files: readonly string[];
}

interface Call {
  readonly chunk: Chunk;
  readonly event: BusEvent;
}

/** The dependencies of reactions, and the source of events. */
export interface ReactorParts extends Omit<ReactionParts, 'signal'> {
  readonly opts: { readonly raw: PlainDict };
  readonly log: Pick<Logger, 'error' | 'limited'>;
  readonly bus: Pick<EventBus, 'watch' | 'fire'>;
  readonly files: Pick<FileServer, 'find'>;
}

export class Reactor {
  readonly #parts: ReactorParts;
  readonly #rules: Rules;
  readonly #end = new AbortController();
  /** Events that wait to be rendered, and calls that wait to be made. */
  #events: Waiting[] = [];
  #calls: Call[] = [];
  #rendering = 0;
  #calling = 0;
  /** Resolves when all calls of earlier events have been started. */
  #earlier: Promise<void> = Promise.resolve();
  #unsubscribe: (() => void) | undefined;
  #leader = true;
  readonly #counts = { events: 0, reactions: 0, failed: 0, dropped: 0 };
  #lastError: PlainDict | undefined;

  constructor(parts: ReactorParts) {
    this.#parts = parts;
    this.#rules = new Rules(parts.opts.raw['reactor'] ?? null, (text) => parts.log.error(text));
  }

  start(): void {
    if (!this.#rules.empty) this.#listen();
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#events = [];
    this.#calls = [];
    this.#end.abort();
  }

  list(): Value[] {
    return this.#rules.list();
  }

  add(tag: string, files: readonly string[]): boolean {
    const added = this.#rules.add(tag, files);
    this.#listen();
    return added;
  }

  delete(tag: string): boolean {
    return this.#rules.delete(tag);
  }

  get leader(): boolean {
    return this.#leader;
  }

  /** Only a leader reacts: of two masters with the same rules one may be disabled. */
  set leader(value: boolean) {
    this.#leader = value;
  }

  status(): PlainDict {
    return newDict([
      ...Object.entries(this.#counts),
      ['waiting', this.#events.length + this.#calls.length],
      ['running', this.#rendering + this.#calling],
      ['leader', this.#leader],
      ['last_error', this.#lastError ?? null],
    ]);
  }

  #listen(): void {
    this.#unsubscribe ??= this.#parts.bus.watch((tag, origin, event) => this.#take(tag, origin, event));
  }

  /** Called for every event of the master: does nothing but check the tag. */
  #take(tag: string, origin: EventOrigin, made: () => BusEvent): void {
    // Another member of the cluster reacts to its own events and to those of its minions.
    if (!this.#leader || origin === 'foreign') return;
    const files = this.#rules.filesFor(tag);
    if (files.length === 0) return;
    const event = made();
    if (dictGet(event.data, 'user') === reactorUser) return;
    this.#counts.events++;
    if (this.#events.length >= this.#most) {
      this.#drop(`an event (${tag})`);
      return;
    }
    this.#events.push({ event, files });
    this.#renderNext();
  }

  get #most(): number {
    return Number(this.#parts.opts.raw['reactor_worker_hwm'] ?? 10_000);
  }

  #drop(what: string): void {
    this.#counts.dropped++;
    const text = `The reactor is full: ${what} is dropped. reactor_worker_threads says how many run at once, reactor_worker_hwm how many may wait`;
    this.#parts.log.limited('reactor full', 'error', text, { waiting: this.#events.length + this.#calls.length });
  }

  #renderNext(): void {
    while (this.#rendering < mostRendering && this.#calls.length < this.#most) {
      const next = this.#events.shift();
      if (!next) return;
      this.#rendering++;
      const rendered = this.#render(next);
      this.#earlier = Promise.all([rendered, this.#earlier])
        .then(([chunks]) => this.#begin(chunks, next.event))
        .finally(() => {
          this.#rendering--;
          this.#renderNext();
        });
    }
  }

  /** The calls for an event. One invalid file does not stop the others; it is logged and counted. */
  async #render({ event, files }: Waiting): Promise<Chunk[]> {
    const high: High = new Map();
    for (const file of files) {
      try {
        for (const path of await this.#pathsOf(file)) {
          for (const [id, body] of await this.#declared(path, event)) high.set(id, body);
        }
      } catch (error) {
        this.#failed(`The reaction file ${file} cannot be used for ${event.tag}: ${messageOf(error)}`, event);
      }
    }
    try {
      return compileReactions(high);
    } catch (error) {
      this.#failed(`The reactions to ${event.tag} in ${files.join(', ')} are wrong: ${messageOf(error)}`, event);
      return [];
    }
  }

  async #declared(path: string, { tag, data }: BusEvent): Promise<High> {
    const options = { signal: this.#end.signal, user: reactorUser, progress: () => undefined };
    const renderer = String(this.#parts.opts.raw['renderer'] ?? 'jinja|yaml');
    const asked = newDict(Object.entries({ path, default_renderer: renderer, tag, data: data as Value }));
    const outcome = await this.#parts.own.call('slsutil.renderer', [], asked, options);
    if (!outcome.success)
      throw new HaliteError(
        'render.failed',
        String(outcome.return)
          .replace(/^ERROR executing '[^']*': /, '')
          .trim(),
      );
    return declarations(outcome.return, path);
  }

  /** Jobs for minions are sent in order; calls on the master are queued for the workers. */
  async #begin(chunks: readonly Chunk[], event: BusEvent): Promise<void> {
    for (const chunk of chunks) {
      if (this.#end.signal.aborted) return;
      if (isSent(chunk)) await this.#carryOut({ chunk, event });
      else if (this.#calls.length >= this.#most) this.#drop(`a reaction ('${String(chunk['__id__'])}')`);
      else {
        this.#calls.push({ chunk, event });
        this.#callNext();
      }
    }
  }

  #callNext(): void {
    const workers = Math.max(1, Number(this.#parts.opts.raw['reactor_worker_threads'] ?? 10));
    while (this.#calling < workers) {
      const call = this.#calls.shift();
      if (!call) return;
      this.#calling++;
      void this.#carryOut(call).finally(() => {
        this.#calling--;
        this.#callNext();
        this.#renderNext();
      });
    }
  }

  async #carryOut({ chunk, event }: Call): Promise<void> {
    this.#counts.reactions++;
    const { signal } = this.#end;
    try {
      const { functions, own } = this.#parts;
      await carryOut(chunk, { functions, own, signal, publish: (request) => this.#parts.publish(request) });
    } catch (error) {
      if (!signal.aborted) this.#failed(messageOf(error), event);
    }
  }

  /** In the log, in the status, and as an event for observers. */
  #failed(text: string, { tag }: BusEvent): void {
    this.#counts.failed++;
    this.#lastError = newDict(Object.entries({ tag, error: text, at: new Date().toISOString() }));
    this.#parts.log.limited(`reactor ${text}`, 'error', text, { tag });
    const data: Dict = newDict(Object.entries({ tag, error: text, user: reactorUser }));
    this.#parts.bus.fire('salt/reactor/failed', data);
  }

  /** Files of this machine that match a pattern, or the one of the file server. */
  async #pathsOf(file: string): Promise<string[]> {
    const served = file.startsWith('salt://')
      ? await this.#parts.files.find(file.slice('salt://'.length), 'base')
      : null;
    const found = served === null ? globFiles(file) : served ? [served.path] : [];
    if (found.length === 0) throw new HaliteError('config.missing', 'there is no such file');
    return found;
  }
}
