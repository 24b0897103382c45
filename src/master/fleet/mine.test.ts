// The mine after the key of a minion was deleted: its data is neither returned nor stored.
import { expect, it } from 'vitest';
import { type Dict, dictOf, type PlainDict } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import { Targets } from '../publish/targets.ts';
import { KeyChanges } from '../sign-in/key-changes.ts';
import { Mine } from './mine.ts';

async function setUp(raw: PlainDict = {}) {
  const [keys, saved]: [Set<string>, [string, Dict][]] = [new Set(['web1', 'web2']), []];
  const opts = { raw, rotate_aes_key: true };
  const known = { ids: () => [...keys] };
  const fleet = { data: () => undefined, forget: () => undefined };
  const store = {
    loadMine: async () => new Map(['web1', 'web2'].map((id) => [id, dictOf([['test.ping', id]])])),
    saveMine: async (id: string, data: Dict) => void saved.push([id, data]),
  };
  const log = nullLogger();
  const targets = new Targets({ opts, keys: known, fleet, log });
  const mine = await Mine.open({ store, keys: known, fleet, targets, log });
  const keyChanges = new KeyChanges({
    ...{ opts, fleet, mine },
    secrets: { sessions: { forget: () => undefined } },
    aesChange: {
      now: () => expect.fail('a change that is noted keeps the shared key'),
      soon: () => expect.fail('a change that is noted keeps the shared key'),
    },
    bus: { fire: () => undefined },
    tracker: { lost: () => undefined },
    lower: { forget: () => undefined },
  });
  const found = (): string[] => Object.keys(mine.get('*', 'glob', ['test.ping']).get('test.ping') ?? {});
  return { keyChanges, mine, keys, saved, found };
}

it('does not return the data of a minion without a key', async () => {
  const { keys, found } = await setUp();
  expect(found()).toEqual(['web1', 'web2']);
  keys.delete('web2');
  expect(found()).toEqual(['web1']);
});

it('removes it when the key is deleted, unless preserve_minion_cache is set', async () => {
  const one = await setUp();
  one.keyChanges.note('delete', 'web2');
  expect(one.mine.of('web2')).toBeUndefined();
  expect(one.saved).toEqual([['web2', {}]]);
  one.keyChanges.note('reject', 'web1');
  expect(one.mine.of('web1')).toEqual({ 'test.ping': 'web1' });
  const other = await setUp({ preserve_minion_cache: true });
  other.keyChanges.note('delete', 'web2');
  expect(other.mine.of('web2')).toEqual({ 'test.ping': 'web2' });
});
