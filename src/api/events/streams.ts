// Streams of events from the master: how many there may be, and what they deliver. Streams of the same token share one
// call to the master; one that begins with older events has its own until it has caught up.
import { ApiError, tooMany } from '../http/errors.ts';
import type { Caller, Master } from '../master.ts';
import { Feed, type FeedReader } from './feed.ts';
import { isAtLeast, type StreamItem } from './items.ts';
import { upstream } from './upstream.ts';

const mostByUser = 16;

export interface StreamRequest {
  readonly caller: Caller;
  readonly from: string;
  readonly signal: AbortSignal;
  /** The last event that the reader has seen (`Last-Event-ID`). */
  readonly since: string | undefined;
}

export class Streams {
  readonly #master: Pick<Master, 'session'>;
  readonly #most: number;
  readonly #users = new Map<string, number>();
  /** By token. */
  readonly #feeds = new Map<string, Feed>();
  count = 0;

  constructor(master: Pick<Master, 'session'>, most: number) {
    this.#master = master;
    this.#most = most;
  }

  /** Takes a place, or refuses. The returned function gives it back. */
  enter({ eauth, name }: Caller): () => void {
    if (this.count >= this.#most)
      throw new ApiError(503, `The API has ${this.count} event streams already`, { headers: { 'Retry-After': '10' } });
    const user = `${eauth}:${name}`;
    const own = this.#users.get(user) ?? 0;
    if (own >= mostByUser) throw tooMany(`This user has ${own} event streams already`);
    this.#users.set(user, own + 1);
    this.count += 1;
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.count -= 1;
      const left = (this.#users.get(user) ?? 1) - 1;
      if (left > 0) this.#users.set(user, left);
      else this.#users.delete(user);
    };
  }

  #feedOf(token: string, from: string): Feed {
    const known = this.#feeds.get(token);
    if (known && !known.stopped) return known;
    const feed: Feed = new Feed(
      (signal) => upstream(this.#master, { token, from, signal, since: undefined }),
      () => {
        if (this.#feeds.get(token) === feed) this.#feeds.delete(token);
      },
    );
    this.#feeds.set(token, feed);
    return feed;
  }

  /** Ends by throwing: when the token is not valid any more, or the master stays away. */
  async *items({ caller: { token }, from, signal, since }: StreamRequest): AsyncIterable<StreamItem> {
    if (signal.aborted) return;
    const feed = this.#feedOf(token, from);
    const leave = feed.use();
    let reader: FeedReader | undefined;
    const stop = (): void => {
      reader?.leave();
      leave();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      let last = since;
      while (!signal.aborted) {
        await feed.begun();
        if (last === undefined || feed.isPassed(last)) {
          last ??= feed.last;
          reader = feed.join();
          yield { type: 'start', id: last };
        } else {
          for await (const item of upstream(this.#master, { token, from, signal, since: last })) {
            last = item.id;
            yield item;
            // What follows a start may be a gap with the same id.
            if (item.type === 'start' || !feed.isPassed(last)) continue;
            reader = feed.join();
            break;
          }
        }
        // The feed may be behind: what it still has to tell up to here is known.
        let known: string | undefined = last;
        for (let item = await reader?.next(); item; item = await reader?.next()) {
          if (known !== undefined && item.type !== 'start' && isAtLeast(known, item.id)) continue;
          known = undefined;
          last = item.id;
          yield item;
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stop();
      signal.removeEventListener('abort', stop);
    }
  }
}
