import { expect, it } from 'vitest';
import { unpackValue } from '../../base/codec/msgpack/index.ts';
import { newDict, type Value } from '../../base/codec/value.ts';
import { EventFeed } from './feed.ts';
import { EngineInbox } from './inbox.ts';
import { Pace } from './pace.ts';
import { readEngines, takeReactor } from './settings.ts';

const dict = (fields: Record<string, Value>): Value => newDict(Object.entries(fields));

it('reads all forms of the option', () => {
  const webhook = { name: 'hook', module: 'webhook', config: { port: 1 } };
  expect(readEngines(undefined)).toEqual({ engines: [], problems: [] });
  expect(readEngines(['test', dict({ hook: dict({ engine_module: 'webhook', port: 1 }) })]).engines).toEqual([
    { name: 'test', module: 'test', config: {} },
    webhook,
  ]);
  const map = dict({ hook: dict({ engine_module: 'webhook', port: 1 }), test: null });
  expect(readEngines(map).engines.map(({ name }) => name)).toEqual(['hook', 'test']);
  expect(readEngines(['a', 'a']).engines).toHaveLength(2);
});

it('names what it cannot read, and takes the rest', () => {
  const { engines, problems } = readEngines([5, '', dict({ a: 'text' }), 'b']);
  expect(engines.map(({ name }) => name)).toEqual(['b']);
  expect(problems).toHaveLength(3);
  expect(readEngines('text').problems).toHaveLength(1);
  expect(readEngines(Array.from({ length: 101 }, () => 'x'))).toMatchObject({
    engines: { length: 100 },
    problems: ['101 engines are configured; only the first 100 are started'],
  });
});

it('takes the engine reactor as options', () => {
  const taken = takeReactor(readEngines([dict({ reactor: dict({ worker_threads: 3, other: 1 }) }), 'test']));
  expect(taken.changes).toEqual({ reactor_worker_threads: 3 });
  expect(taken.engines.map(({ name }) => name)).toEqual(['test']);
  expect(taken.problems).toEqual(['The engine reactor has no option other']);
});

it('lets some through at once, and the others at a pace', () => {
  let now = 0;
  const pace = new Pace(10, 2, () => now);
  expect([pace.place(), pace.place(), pace.place(), pace.place()]).toEqual([0, 0, 100, 200]);
  now = 10_000;
  expect([pace.take(), pace.take(), pace.take()]).toEqual([true, true, false]);
});

const event = (tag: string, data: Record<string, Value> = {}) => ({
  tag,
  data: newDict(Object.entries(data)),
  origin: 'own' as const,
});

function feedOf(options: { tags?: string[]; mostEvents?: number; mostBytes?: number } = {}) {
  const sent: [string[], number][] = [];
  const feed = new EventFeed({
    tags: [],
    ...options,
    send: (body, dropped) => sent.push([(unpackValue(body) as [string][]).map(([tag]) => tag), dropped]),
  });
  return { feed, sent };
}

it('sends events when the reader asks, and drops the oldest when it does not', () => {
  const { feed, sent } = feedOf({ mostEvents: 3 });
  for (const tag of ['a', 'b', 'c', 'd', 'e']) feed.push(event(tag));
  expect(sent).toEqual([]);
  feed.more();
  feed.more();
  feed.push(event('f'));
  feed.push(event('g'));
  expect(sent).toEqual([
    [['c', 'd', 'e'], 2],
    [['f'], 0],
  ]);
});

it('bounds what waits by its size too', () => {
  const { feed, sent } = feedOf({ mostBytes: 2500 });
  for (const tag of ['a', 'b', 'c']) feed.push(event(tag, { text: 'x'.repeat(1000) }));
  feed.more();
  expect(sent).toEqual([[['b', 'c'], 1]]);
});

it('wants only the tags of its globs', () => {
  const { feed } = feedOf({ tags: ['salt/job/*', 'own'] });
  expect(['salt/job/1/ret', 'own', 'other'].map((tag) => feed.wants(tag))).toEqual([true, true, false]);
});

it('asks for more only when everything is read, and ends', async () => {
  const said: string[] = [];
  const inbox = new EngineInbox({
    more: () => said.push('more'),
    close: () => said.push('close'),
    dropped: (count) => said.push(`dropped ${count}`),
  });
  const first = inbox.next();
  expect(said).toEqual(['more']);
  inbox.receive([event('a'), event('b')], 4);
  expect((await first).value?.tag).toBe('a');
  expect((await inbox.next()).value?.tag).toBe('b');
  const last = inbox.next();
  await inbox.return();
  expect((await last).done).toBe(true);
  expect((await inbox.next()).done).toBe(true);
  expect(said).toEqual(['more', 'dropped 4', 'more', 'close']);
});
