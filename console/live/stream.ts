// The live stream of a browser: one connection for all tabs. It comes back by itself, with the id of what it saw last;
// where a proxy holds answers back, it asks again and again instead.
import { fieldsOf, listOf } from '../api/read.ts';
import { EventLines, type ServerEvent } from './event-lines.ts';

/** Topics by name, with their options: the window of a list, the minion whose output is followed. */
export type Topics = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type LinkState = 'connecting' | 'open' | 'lost' | 'polling' | 'refused';

export interface StreamListener {
  message(value: unknown): void;
  state(state: LinkState): void;
}

const silence = 30_000;
const shortest = 500;
const longest = 15_000;
const pollEvery = 2_000;

export class LiveStream {
  readonly #base: string;
  readonly #listener: StreamListener;
  #topics: Topics = {};
  #sent = '';
  #id: string | undefined;
  #lastId: string | undefined;
  #abort: AbortController | undefined;
  #failures = 0;
  #polls = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(base: string, listener: StreamListener) {
    this.#base = base;
    this.#listener = listener;
  }

  /** Without topics nothing is connected. */
  setTopics(topics: Topics): void {
    const before = Object.keys(this.#topics).length;
    this.#topics = topics;
    if (Object.keys(topics).length === 0) this.#close();
    else if (before === 0) this.#connect();
    else if (this.#id !== undefined) void this.#sendTopics(this.#id);
  }

  /** After a new login: the old connection belonged to somebody else. */
  restart(): void {
    this.#close();
    this.#failures = 0;
    this.#lastId = undefined;
    if (Object.keys(this.#topics).length > 0) this.#connect();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = undefined;
    this.#id = undefined;
    this.#sent = '';
  }

  #connect(): void {
    this.#close();
    const abort = new AbortController();
    this.#abort = abort;
    this.#listener.state(this.#failures === 0 ? 'connecting' : 'lost');
    const run = this.#polls ? this.#poll(abort) : this.#read(abort);
    run.then(
      () => this.#again(abort),
      (error: unknown) => this.#again(abort, error),
    );
  }

  #again(abort: AbortController, error?: unknown): void {
    if (this.#abort !== abort) return;
    this.#id = undefined;
    if (error instanceof Refused) {
      this.#listener.state('refused');
      return;
    }
    if (error instanceof Silent) this.#polls = true;
    if (this.#polls && error === undefined) {
      this.#timer = setTimeout(() => this.#connect(), pollEvery);
      return;
    }
    this.#failures += 1;
    this.#listener.state('lost');
    const wait = Math.min(longest, shortest * 2 ** Math.min(this.#failures - 1, 6));
    this.#timer = setTimeout(() => this.#connect(), wait * (0.5 + Math.random() / 2));
  }

  #address(query: Readonly<Record<string, string | undefined>>): string {
    const address = new URL('live', this.#base);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
    return address.href;
  }

  async #ask(abort: AbortController, query: Readonly<Record<string, string | undefined>>): Promise<Response> {
    const response = await fetch(this.#address(query), {
      credentials: 'same-origin',
      cache: 'no-store',
      signal: abort.signal,
      headers: {
        Accept: query['once'] === undefined ? 'text/event-stream' : 'application/json',
        ...(this.#lastId === undefined ? {} : { 'Last-Event-ID': this.#lastId }),
      },
    });
    if (response.status === 401 || response.status === 403) throw new Refused();
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return response;
  }

  async #poll(abort: AbortController): Promise<void> {
    const topics = Object.keys(this.#topics).join(',');
    const response = await this.#ask(abort, { once: '1', since: this.#lastId, topics });
    const { messages, id } = fieldsOf(await response.json());
    this.#listener.state('polling');
    if (typeof id === 'string') this.#lastId = id;
    for (const message of listOf(messages)) this.#listener.message(message);
    this.#failures = 0;
  }

  async #read(abort: AbortController): Promise<void> {
    let late: ReturnType<typeof setTimeout> | undefined;
    let silent = false;
    const watch = (): void => {
      clearTimeout(late);
      late = setTimeout(() => {
        silent = true;
        abort.abort();
      }, silence);
    };
    try {
      watch();
      const response = await this.#ask(abort, {});
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      const lines = new EventLines();
      for (;;) {
        const next = await reader?.read();
        if (!next || next.done) return;
        watch();
        for (const event of lines.push(next.value)) this.#take(event);
      }
    } catch (error) {
      if (!silent) throw error;
      throw this.#id === undefined ? new Silent() : new Error('the stream fell silent');
    } finally {
      clearTimeout(late);
    }
  }

  #take({ id, data }: ServerEvent): void {
    if (id !== undefined) this.#lastId = id;
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      return;
    }
    if (!isHello(value)) {
      this.#listener.message(value);
      return;
    }
    this.#id = value[1];
    this.#failures = 0;
    this.#listener.state('open');
    void this.#sendTopics(value[1]);
  }

  async #sendTopics(id: string): Promise<void> {
    const body = JSON.stringify({ topics: this.#topics });
    if (body === this.#sent) return;
    this.#sent = body;
    try {
      const response = await fetch(new URL(`live/${encodeURIComponent(id)}`, this.#base).href, {
        method: 'POST',
        credentials: 'same-origin',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      // The stream is gone: the new one is told its topics.
      if (!response.ok && this.#id === id) this.#connect();
    } catch {
      if (this.#id === id) this.#connect();
    }
  }
}

class Refused extends Error {}
class Silent extends Error {}

/** The first record names the stream. */
const isHello = (value: unknown): value is readonly ['h', string, ...unknown[]] =>
  Array.isArray(value) && value[0] === 'h' && typeof value[1] === 'string';
