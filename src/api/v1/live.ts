// One stream for everything that a page shows: each topic is a call to the master in the name of the user, whose
// items become messages. Topics begin again with their whole state when the master was away.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import type { Api } from '../api.ts';
import type { StreamEvent, StreamItem } from '../events/items.ts';
import { isAway } from '../events/upstream.ts';
import type { Caller, MasterSession } from '../master.ts';
import { eventMessage, fleetMessages, jobMessages, type Message } from './messages.ts';
import { problemOf } from './problems.ts';
import { argsOf } from './route.ts';
import { jsonText } from './send.ts';
import { recordOf } from './sse.ts';

export interface TopicOptions {
  readonly q?: string | undefined;
  readonly sort?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly follow?: string | undefined;
  readonly since?: string | undefined;
}

export type Topics = Readonly<Record<string, TopicOptions>>;

/** Settles when there is room for more; false when nobody reads any more. Bytes are a whole record. */
export type Emit = (message: Message | Uint8Array | undefined, id?: string) => Promise<boolean>;

interface Source {
  readonly verb: string;
  readonly args: PlainDict;
  messages(item: PlainDict): Message[];
}

/** Of the topic before the colon, and what follows it. */
function sourceOf(topic: string, options: TopicOptions): Source {
  const at = topic.indexOf(':');
  const [kind, name] = at < 0 ? [topic, ''] : [topic.slice(0, at), topic.slice(at + 1)];
  const { q, sort, offset, limit, follow } = options;
  switch (kind) {
    case 'fleet':
      return {
        ...{ verb: 'fleet-watch', args: argsOf({ q, sort, offset, limit }) },
        messages: (item) => fleetMessages(topic, item),
      };
    case 'summary':
      return { verb: 'summary-watch', args: newDict(), messages: (item) => [['s', item]] };
    case 'jobs':
      return { verb: 'jobs-watch', args: newDict(), messages: (item) => jobMessages(item, '') };
    case 'job':
      return {
        ...{ verb: 'job-watch', args: argsOf({ jid: name, follow }) },
        messages: (item) => jobMessages(item, name),
      };
    default:
      return {
        ...{ verb: 'keys-watch', args: newDict() },
        messages: (item) => [['k', item['version'] ?? 0, item['counts'] ?? newDict()]],
      };
  }
}

const isEvents = (topic: string): boolean => topic.startsWith('events:');
const patienceMs = 120_000;
const retryMs = 500;

interface Running {
  readonly options: string;
  readonly stop: AbortController;
}

export class LiveStream {
  readonly id = randomBytes(16).toString('hex');
  readonly caller: Caller;
  readonly #api: Api;
  readonly #from: string;
  readonly #emit: Emit;
  readonly #signal: AbortSignal;
  readonly #running = new Map<string, Running>();
  /** Called when the token is not valid any more, or nobody reads. */
  readonly #end: (why: string) => void;
  #globs: readonly ((tag: string) => boolean)[] = [];
  #events: AbortController | undefined;
  #lastEvent: string | undefined;
  #current: MasterSession | undefined;

  constructor(
    api: Api,
    caller: Caller,
    given: {
      readonly from: string;
      readonly signal: AbortSignal;
      readonly since: string | undefined;
      readonly emit: Emit;
      end(why: string): void;
    },
  ) {
    this.#api = api;
    this.caller = caller;
    this.#from = given.from;
    this.#signal = given.signal;
    this.#lastEvent = given.since;
    this.#emit = given.emit;
    this.#end = given.end;
    given.signal.addEventListener('abort', () => this.#current?.close(), { once: true });
  }

  /** Replaces all topics: those that stay the same go on. */
  set(topics: Topics): void {
    const wanted = new Map(Object.entries(topics).map(([topic, options]) => [topic, JSON.stringify(options)]));
    for (const [topic, { options, stop }] of this.#running) {
      if (wanted.get(topic) === options) continue;
      stop.abort();
      this.#running.delete(topic);
    }
    for (const [topic, options] of Object.entries(topics)) {
      if (isEvents(topic) || this.#running.has(topic)) continue;
      const stop = new AbortController();
      this.#running.set(topic, { options: JSON.stringify(options), stop });
      void this.#follow(topic, sourceOf(topic, options), AbortSignal.any([stop.signal, this.#signal]));
    }
    this.#setEvents(Object.entries(topics).filter(([topic]) => isEvents(topic)));
  }

  #setEvents(topics: readonly (readonly [string, TopicOptions])[]): void {
    this.#globs = topics.map(([topic]) => globMatcher(topic.slice('events:'.length)));
    if (topics.length === 0) {
      // What a reader that came back has seen counts until it asks for events again.
      if (this.#events) this.#lastEvent = undefined;
      this.#events?.abort();
      this.#events = undefined;
      return;
    }
    if (this.#events) return;
    this.#lastEvent ??= topics.find(([, { since }]) => since !== undefined)?.[1].since;
    this.#events = new AbortController();
    void this.#followEvents(AbortSignal.any([this.#events.signal, this.#signal]));
  }

  async #follow(topic: string, source: Source, signal: AbortSignal): Promise<void> {
    let awayUntil = 0;
    try {
      while (!signal.aborted) {
        const session = this.#session();
        try {
          for await (const item of session.call(
            source.verb,
            source.args,
            (each) => asPlainDict(each) ?? newDict(),
            signal,
          )) {
            if (awayUntil > 0) await this.#emit(['g', topic, null], this.#lastEvent);
            awayUntil = 0;
            for (const message of source.messages(item)) if (!(await this.#emit(message, this.#lastEvent))) return;
          }
          // It has told everything: a job that has ended.
          if (!signal.aborted) return;
        } catch (error) {
          if (!isAway(error) || signal.aborted) throw error;
          this.#lose(session);
        }
        awayUntil ||= Date.now() + patienceMs;
        if (Date.now() >= awayUntil)
          throw new HaliteError('daemon.unreachable', 'The master has been away for too long.');
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    } catch (error) {
      if (!signal.aborted) await this.#refused(topic, error);
    }
  }

  #messageOf(item: StreamItem): Message | Uint8Array | undefined {
    if (item.type === 'gap') return ['g', 'events', item.missed ?? null];
    if (item.type === 'start' || !this.#globs.some((fits) => fits(item.tag))) return undefined;
    return item.form('live', eventRecord);
  }

  /** All topics share one connection. */
  #session(): MasterSession {
    this.#current ??= this.#api.master.session({ token: this.caller.token }, this.#from);
    return this.#current;
  }

  #lose(session: MasterSession): void {
    session.close();
    if (this.#current === session) this.#current = undefined;
  }

  async #refused(topic: string, error: unknown): Promise<void> {
    const known = problemOf(error);
    if (!known) this.#api.log.error('a topic has failed', { topic: topic.slice(0, 64), error: messageOf(error) });
    const status = known?.status ?? 500;
    this.#running.delete(topic);
    await this.#emit(['x', topic, status, known?.message ?? 'An unexpected error occurred']);
    if (status === 401 || status === 503) this.#end(known?.message ?? '');
  }

  async #followEvents(signal: AbortSignal): Promise<void> {
    try {
      const items = this.#api.streams.items({
        ...{ caller: this.caller, from: this.#from, signal },
        since: this.#lastEvent,
      });
      for await (const item of items) {
        // A reader that comes back must be able to say where it was, also when nothing happened.
        const message = this.#messageOf(item);
        if ((message || item.type === 'start') && !(await this.#emit(message, item.id))) return;
        this.#lastEvent = item.id;
      }
    } catch (error) {
      if (!signal.aborted) await this.#refused('events', error);
    }
  }
}

const eventRecord = ({ tag, data, id }: StreamEvent): string => recordOf(jsonText(eventMessage(tag, data, id)), id);

/** The first state of each topic, for programs that ask again and again. */
export async function liveOnce(
  api: Api,
  caller: Caller,
  from: string,
  topics: Topics,
  signal: AbortSignal,
): Promise<Value> {
  const messages: Value[] = [];
  let last: string | undefined;
  await Promise.all(
    Object.entries(topics)
      .filter(([topic]) => !isEvents(topic))
      .map(async ([topic, options]) => {
        const source = sourceOf(topic, options);
        const session = api.master.session({ token: caller.token }, from);
        try {
          const [item] = await firstItems(
            session.call(source.verb, source.args, (each) => asPlainDict(each) ?? newDict(), signal),
          );
          if (item) messages.push(...source.messages(item));
        } finally {
          session.close();
        }
      }),
  );
  const events = Object.entries(topics).filter(([topic]) => isEvents(topic));
  if (events.length > 0) {
    const globs = events.map(([topic]) => globMatcher(topic.slice('events:'.length)));
    const since = events.find(([, options]) => options.since !== undefined)?.[1].since;
    const stop = AbortSignal.any([signal, AbortSignal.timeout(gatherMs)]);
    for await (const item of api.streams.items({ caller, from, signal: stop, since })) {
      last = item.id;
      if (item.type === 'gap') messages.push(['g', 'events', item.missed ?? null]);
      else if (item.type === 'event' && globs.some((fits) => fits(item.tag)))
        messages.push(eventMessage(item.tag, item.data, item.id));
      if (messages.length >= mostGathered) break;
    }
  }
  return newDict([
    ['messages', messages],
    ['id', last ?? null],
  ]);
}

/** How long events are gathered for one answer, and how many. */
const gatherMs = 500;
const mostGathered = 2_000;

async function firstItems<T>(items: AsyncIterable<T>): Promise<T[]> {
  for await (const item of items) return [item];
  return [];
}
