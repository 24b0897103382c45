// The mine after the key of a minion went: its data is neither shown nor kept.
import { expect, it } from 'vitest';
import { type Dict, dictOf } from '../../base/codec/value.ts';
import type { Master } from '../core.ts';
import { noteKeyChange } from '../local/services.ts';
import { Mine } from './mine.ts';

function fake(raw: object = {}) {
  const [keys, saved]: [Set<string>, [string, Dict][]] = [new Set(['web1', 'web2']), []];
  const mine = new Mine();
  const master = {
    ...{ mine, opts: { raw, nodegroups: {} } },
    keys: { ids: () => [...keys], has: (_state: string, id: string) => keys.has(id) },
    fleet: { data: () => undefined, forget: () => undefined },
    tracker: { lost: () => undefined },
    bus: { fire: () => undefined },
    store: {
      loadMine: async () => new Map(['web1', 'web2'].map((id) => [id, dictOf([['test.ping', id]])])),
      saveMine: async (id: string, data: Dict) => void saved.push([id, data]),
    },
  } as unknown as Master;
  const found = (): string[] => Object.keys(mine.get('*', 'glob', ['test.ping']).get('test.ping') ?? {});
  return { master, mine, keys, saved, found };
}

it('does not show what a minion without a key left', async () => {
  const { master, mine, keys, found } = fake();
  await mine.restore(master);
  expect(found()).toEqual(['web1', 'web2']);
  keys.delete('web2');
  expect(found()).toEqual(['web1']);
});

it('forgets it when the key is deleted, unless preserve_minion_cache is set', async () => {
  const one = fake();
  await one.mine.restore(one.master);
  noteKeyChange(one.master, 'delete', 'web2');
  expect(one.mine.of('web2')).toBeUndefined();
  expect(one.saved).toEqual([['web2', {}]]);
  noteKeyChange(one.master, 'reject', 'web1');
  expect(one.mine.of('web1')).toEqual({ 'test.ping': 'web1' });
  const other = fake({ preserve_minion_cache: true });
  await other.mine.restore(other.master);
  noteKeyChange(other.master, 'delete', 'web2');
  expect(other.mine.of('web2')).toEqual({ 'test.ping': 'web2' });
});
