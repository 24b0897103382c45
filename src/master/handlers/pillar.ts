// `_pillar`: compiles a minion's pillar and remembers its grains.
import { type Dict, isDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Master, Sender } from '../core.ts';
import type { Handlers } from './table.ts';

export function pillarHandlers(master: Master): Handlers {
  return { _pillar: { reply: 'private', run: (load, sender) => compile(master, load, sender) } };
}

async function compile(master: Master, load: PlainDict, sender: Sender): Promise<Dict> {
  const grains = isDict(load['grains']) ? load['grains'] : newDict();
  if (!(grains instanceof Map)) grains['id'] = sender.id;
  const pillar = newDict();
  // Remembered for targeting; the minion's answer does not wait for the disk.
  master.fleet.setData(sender.id, { grains, pillar }).catch((error: unknown) => {
    master.log.limited('store', 'error', 'grains could not be stored', { error: messageOf(error) });
  });
  if (master.opts.minion_data_cache_events) {
    master.bus.fire(`minion/refresh/${sender.id}`, { 'Minion data cache refresh': sender.id });
  }
  return pillar;
}
