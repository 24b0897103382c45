// Mine requests of minions.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readMineQuery, readMineUpdate } from '../../protocol/wire/messages/minion-loads.ts';
import type { Master, Sender } from '../core.ts';
import type { Handlers } from './table.ts';

/** Pillar is matched exactly, so that no minion can probe another's pillar by guessing with globs. */
const exactKinds: Readonly<Record<string, string>> = {
  pillar: 'pillar_exact',
  pillar_pcre: 'pillar_exact',
  compound: 'compound_pillar_exact',
};

export function mineHandlers(master: Master): Handlers {
  const { mine } = master;
  return {
    _mine: {
      run: (load, sender) => {
        const update = readMineUpdate(load);
        if (isProblem(update) || update.data instanceof Map) return false;
        mine.put(sender.id, update.data, update.clear);
        return true;
      },
    },
    _mine_get: { run: (load, sender) => query(master, load, sender) },
    _mine_delete: {
      run: (load, sender) => {
        mine.drop(sender.id, String(load['fun']));
        return true;
      },
    },
    _mine_flush: {
      run: (_load, sender) => {
        mine.flush(sender.id);
        return true;
      },
    },
  };
}

function query(master: Master, load: PlainDict, sender: Sender): Value {
  const asked = readMineQuery(load);
  if (isProblem(asked)) return newDict();
  const kind = exactKinds[asked.tgt_type] ?? asked.tgt_type;
  const answers = master.mine.get(asked.tgt, kind, asked.fun, sender.id);
  return asked.single ? (answers.get(asked.fun[0] ?? '') ?? newDict()) : newDict(answers);
}
