// Where the relay was, before it can ask the nats-servers.
import { expect, it } from 'vitest';
import { packValue } from '../../../base/codec/msgpack/index.ts';
import type { Core } from './core.ts';
import { NatsRelay } from './relay.ts';

it('knows the last place of an earlier process at its start', () => {
  const relayWith = (kept: Readonly<Record<string, number>>): NatsRelay => {
    const get = (_space: string, key: string): Uint8Array | undefined =>
      kept[key] === undefined ? undefined : packValue([kept[key]]);
    return new NatsRelay({ options: { name: 'test' }, table: { get } } as unknown as Core);
  };
  expect(relayWith({}).place).toBe(0);
  // Places of a stream that was lost were larger, and go with another key.
  expect(relayWith({ lost: 70, now: 3, last: 3 }).place).toBe(3);
});
