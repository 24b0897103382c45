// The request pool with a scripted connection: behaviour when links fail, become silent or are overloaded.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Link, type LinkEvents, RequestPool } from './request-pool.ts';

interface FakeLink {
  readonly sent: { ticket: number; payload: number }[];
  readonly events: LinkEvents;
  closed: boolean;
  refuses: boolean;
}

let links: FakeLink[];
let dialError: Error | undefined;
let dials: number;

function pool(capacity: number, maxLinks: number): RequestPool {
  return new RequestPool({
    target: 'fake',
    maxLinks,
    idleMs: 1000,
    async open(events): Promise<Link> {
      dials += 1;
      if (dialError) throw dialError;
      const fake: FakeLink = { sent: [], events, closed: false, refuses: false };
      links.push(fake);
      return {
        capacity,
        send(ticket, payload) {
          if (fake.refuses) throw new Error('gone');
          fake.sent.push({ ticket, payload: payload[0] as number });
        },
        forget: () => capacity > 1,
        close() {
          fake.closed = true;
        },
      };
    },
  });
}

const answer = (link: FakeLink | undefined, index = 0): void => {
  const sent = link?.sent[index];
  if (!link || !sent) throw new Error('nothing was sent');
  link.events.onReply(sent.ticket, Uint8Array.of(sent.payload + 100));
};
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  links = [];
  dialError = undefined;
  dials = 0;
});
afterEach(() => vi.useRealTimers());

describe('RequestPool', () => {
  it('opens links as needed up to the limit and reuses them', async () => {
    const client = pool(1, 2);
    const results = [1, 2, 3].map((n) => client.request(Uint8Array.of(n), { timeoutMs: 5000 }));
    await settle();
    expect(links).toHaveLength(2);
    answer(links[1]);
    await settle();
    expect(links[1]?.sent.map(({ payload }) => payload)).toEqual([2, 3]);
    answer(links[1], 1);
    answer(links[0]);
    expect(await Promise.all(results)).toEqual([101, 102, 103].map((n) => Uint8Array.of(n)));
    client.close();
    expect(links.every((link) => link.closed)).toBe(true);
  });

  it('closes idle links and dials again when needed', async () => {
    const client = pool(1, 2);
    const first = client.request(Uint8Array.of(1), { timeoutMs: 5000 });
    await settle();
    answer(links[0]);
    await first;
    await vi.advanceTimersByTimeAsync(1001);
    expect(links[0]?.closed).toBe(true);
    const second = client.request(Uint8Array.of(2), { timeoutMs: 5000 });
    await settle();
    answer(links[1]);
    expect(await second).toEqual(Uint8Array.of(102));
    client.close();
  });

  it('never reuses a link with an abandoned request when replies have no id', async () => {
    const client = pool(1, 1);
    const lost = expect(client.request(Uint8Array.of(1), { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'wire.timeout',
    });
    await vi.advanceTimersByTimeAsync(51);
    await lost;
    expect(links[0]?.closed).toBe(true);
    const next = client.request(Uint8Array.of(2), { timeoutMs: 5000 });
    await settle();
    answer(links[0]);
    answer(links[1]);
    expect(await next).toEqual(Uint8Array.of(102));
    client.close();
  });

  it('sends nothing more on a silent link, but lets the long requests on it finish', async () => {
    const client = pool(100, 1);
    const long = client.request(Uint8Array.of(1), { timeoutMs: 60_000 });
    const short = expect(client.request(Uint8Array.of(2), { timeoutMs: 50 })).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(51);
    await short;
    const next = client.request(Uint8Array.of(3), { timeoutMs: 5000 });
    await settle();
    expect(links).toHaveLength(2);
    expect(links[0]?.closed).toBe(false);
    answer(links[1]);
    expect(await next).toEqual(Uint8Array.of(103));
    answer(links[0], 0);
    expect(await long).toEqual(Uint8Array.of(101));
    expect(links[0]?.closed).toBe(true);
    client.close();
  });

  it('keeps a link that answers others while one request is slow', async () => {
    const client = pool(100, 1);
    const slow = expect(client.request(Uint8Array.of(1), { timeoutMs: 50 })).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(10);
    const quick = client.request(Uint8Array.of(2), { timeoutMs: 5000 });
    await vi.advanceTimersByTimeAsync(10);
    answer(links[0], 1);
    await quick;
    await vi.advanceTimersByTimeAsync(50);
    await slow;
    expect(links).toHaveLength(1);
    expect(links[0]?.closed).toBe(false);
    client.close();
  });

  it('resends on another link what could not be sent, and rejects what was sent on a lost link', async () => {
    const client = pool(1, 1);
    const first = client.request(Uint8Array.of(1), { timeoutMs: 5000 });
    await settle();
    answer(links[0]);
    await first;
    const [dead] = links;
    if (dead) dead.refuses = true;
    const second = client.request(Uint8Array.of(2), { timeoutMs: 5000 });
    await settle();
    answer(links[1]);
    expect(await second).toEqual(Uint8Array.of(102));
    const third = expect(client.request(Uint8Array.of(3), { timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'wire.closed',
    });
    links[1]?.events.onClosed('reset');
    await third;
    client.close();
  });

  it('dials one at a time, with growing pauses, while nothing answers', async () => {
    dialError = new Error('refused');
    const client = pool(1, 8);
    const outcomes = [1, 2, 3, 4].map((n) =>
      expect(client.request(Uint8Array.of(n), { timeoutMs: 3000 })).rejects.toThrow('refused'),
    );
    await vi.advanceTimersByTimeAsync(3001);
    await Promise.all(outcomes);
    expect(dials).toBeGreaterThan(4);
    expect(dials).toBeLessThan(16);
    client.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(dials).toBeLessThan(16);
  });

  it('closes a link that becomes ready after the end', async () => {
    const client = pool(1, 1);
    const lost = expect(client.request(Uint8Array.of(1), { timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'wire.closed',
    });
    client.close();
    await lost;
    await settle();
    expect(links.every((link) => link.closed)).toBe(true);
  });
});
