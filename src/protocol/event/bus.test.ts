// The event bus: which listener receives which event, in which form, and what a slow listener costs.
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { type Dict, dictGet, dictOf } from '../../base/codec/value.ts';
import { type BusEvent, EventBus } from './bus.ts';
import type { MatchType } from './filter.ts';
import { eventStamp } from './stamp.ts';
import { roughSize, trimToSize } from './trim.ts';

describe('EventBus', () => {
  it('adds the time to a copy of the data', () => {
    const bus = new EventBus();
    const seen: BusEvent[] = [];
    bus.subscribe({}, (event) => seen.push(event));
    const data = { id: 'web1', _stamp: 'old' };
    bus.fire('salt/auth', data);
    bus.fire('map', new Map<string | number, string>([[80, 'x']]));
    expect(data).toEqual({ id: 'web1', _stamp: 'old' });
    expect(dictGet(seen[0]?.data as Dict, '_stamp')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
    expect(dictGet(seen[1]?.data as Dict, 80)).toBe('x');
    expect(dictGet(seen[1]?.data as Dict, '_stamp')).toBeTypeOf('string');
  });

  it.each<[MatchType, string, string[]]>([
    ['startswith', 'salt/job/', ['salt/job/1/ret/a', 'salt/job/2/new']],
    ['endswith', '/new', ['salt/job/2/new']],
    ['find', 'job/1', ['salt/job/1/ret/a']],
    ['regex', 'job/\\d+/(ret|x)', ['salt/job/1/ret/a']],
    ['fnmatch', 'salt/*/new', ['salt/job/2/new']],
    ['fnmatch', 'salt', []],
  ])('matches tags by %s %s', (match, tag, expected) => {
    const bus = new EventBus();
    const seen: string[] = [];
    bus.subscribe({ tag, match }, (event) => seen.push(event.tag));
    for (const each of ['salt/job/1/ret/a', 'salt/job/2/new', 'other']) bus.fire(each, {});
    expect(seen).toEqual(expected);
  });

  it('makes an event for a watcher only when it wants it, once for all, and at that moment', () => {
    const bus = new EventBus();
    const seen: string[] = [];
    const made: BusEvent[] = [];
    const stop = bus.watch((tag, origin, event) => {
      seen.push(`${tag} ${origin}`);
      if (tag === 'wanted') made.push(event(), event());
    });
    let reads = 0;
    const data = {
      get n() {
        return ++reads;
      },
    };
    bus.fire('other', data);
    expect(reads).toBe(0);
    bus.fire('wanted', { n: 1 }, 'home');
    expect(seen).toEqual(['other own', 'wanted home']);
    expect(made[0]).toBe(made[1]);
    expect(made[0]).toMatchObject({ tag: 'wanted', origin: 'home', data: { n: 1 } });
    stop();
    bus.fire('wanted', {});
    expect(seen).toHaveLength(2);
    expect(bus.listeners).toBe(0);
  });

  it('does nothing while there is no listener', () => {
    const bus = new EventBus();
    const untouchable = new Proxy(Object.create(null), {
      ownKeys: () => {
        throw new Error('looked at the data');
      },
    });
    bus.fire('x', untouchable);
    const stop = bus.subscribe('other/', () => undefined);
    bus.fire('x', untouchable);
    stop();
    expect(bus.listeners).toBe(0);
  });

  it('isolates listeners: one that throws or unsubscribes does not affect the others', () => {
    const errors: unknown[] = [];
    const bus = new EventBus({ onError: (error) => errors.push(error) });
    const seen: string[] = [];
    const stop = bus.subscribe({}, () => {
      stop();
      throw new Error('bad listener');
    });
    bus.subscribe({}, (event) => seen.push(event.tag));
    bus.fire('one', {});
    bus.fire('two', {});
    expect(seen).toEqual(['one', 'two']);
    expect(errors).toHaveLength(1);
  });

  it('streams, loses the oldest when the reader is slow, and counts them', async () => {
    const bus = new EventBus();
    const stream = bus.stream('n/', { limit: 3 });
    for (let i = 0; i < 5; i++) bus.fire(`n/${i}`, {});
    expect(stream.dropped).toBe(2);
    const seen: string[] = [];
    for await (const event of stream) {
      seen.push(event.tag);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual(['n/2', 'n/3', 'n/4']);
    expect(bus.listeners).toBe(0);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('ends a stream by signal while it waits', async () => {
    const bus = new EventBus();
    const abort = new AbortController();
    const stream = bus.stream({}, { signal: abort.signal });
    const reading = stream.next();
    abort.abort();
    expect((await reading).done).toBe(true);
    expect(bus.listeners).toBe(0);
    expect((await bus.stream({}, { signal: abort.signal }).next()).done).toBe(true);
  });

  it('keeps a bounded history', () => {
    const bus = new EventBus({ history: 100, historyBytes: 5000 });
    for (let i = 0; i < 1000; i++) bus.fire(`n/${i % 2}/${i}`, {});
    expect(bus.recent().at(-1)?.tag).toBe('n/1/999');
    expect(bus.recent('n/0/').at(-1)?.tag).toBe('n/0/998');
    expect(bus.recent().length).toBeLessThanOrEqual(100);
    bus.fire('big', { text: 'x'.repeat(4000) });
    expect(bus.recent().length).toBeLessThan(30);
    expect(new EventBus().recent()).toEqual([]);
  });
});

describe('trimming', () => {
  it('does not change small events and replaces the largest values of others by a mark', () => {
    const small = { a: 'x'.repeat(100) };
    expect(trimToSize(small, 1000)).toBe(small);
    const data = { jid: '1', return: { big: 'x'.repeat(900), list: ['y'.repeat(200)], ok: true }, id: 'web1' };
    expect(trimToSize(data, 1000)).toEqual({
      jid: '1',
      return: { big: 'VALUE_TRIMMED', list: ['y'.repeat(200)], ok: true },
      id: 'web1',
    });
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, 'x'.repeat(120)]));
    expect(roughSize(trimToSize(many, 4000))).toBeLessThanOrEqual(4000);
  });

  it('truncates data of too many small values with a mark', () => {
    const many = dictOf(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    const trimmed = trimToSize({ id: 'web1', data: many }, 4000);
    expect(roughSize(trimmed)).toBeLessThanOrEqual(4000);
    const data = dictGet(trimmed, 'data') as Dict;
    expect(dictGet(data, 'k0')).toBe(0);
    expect(dictGet(data, 'VALUE_TRIMMED')).toBe('VALUE_TRIMMED');
    expect(roughSize(trimToSize(new Map(Array.from({ length: 5000 }, (_, i) => [i, i])), 4000))).toBeLessThanOrEqual(
      4000,
    );
  });

  it('delivers a long result that fits as its value, and one that does not fit as a mark', () => {
    const load = unpack(pack({ jid: '1', return: ['x'.repeat(2000)] }), {
      packed: { field: 'return', from: 1000, maxCost: 10_000 },
    }) as Dict;
    for (const [maxEventSize, seen] of [
      [0, ['x'.repeat(2000)]],
      [5000, ['x'.repeat(2000)]],
      [1500, 'VALUE_TRIMMED'],
    ] as const) {
      const bus = new EventBus({ maxEventSize });
      const events: BusEvent[] = [];
      bus.subscribe({}, (event) => events.push(event));
      bus.fire('x', load);
      expect(dictGet(events[0]?.data as Dict, 'return')).toEqual(seen);
    }
  });

  it('trims the events that the bus delivers', () => {
    const bus = new EventBus({ maxEventSize: 1000 });
    const seen: BusEvent[] = [];
    bus.subscribe({}, (event) => seen.push(event));
    bus.fire('x', { big: 'x'.repeat(5000), id: 'web1' });
    expect(dictGet(seen[0]?.data as Dict, 'big')).toBe('VALUE_TRIMMED');
    expect(dictGet(seen[0]?.data as Dict, 'id')).toBe('web1');
  });
});

describe('tags and stamps', () => {
  it('stamps grow with time', () => {
    const first = eventStamp();
    expect(eventStamp() >= first).toBe(true);
    expect(Math.abs(Date.parse(`${first}Z`) - Date.now())).toBeLessThan(1000);
  });
});
