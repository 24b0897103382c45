// Mine requests of minions.
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { matchesWhole } from '../../base/util/pyregex.ts';
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
  const functions = readable(master.opts.raw['mine_get'], sender.id, asked.fun);
  const answers = master.mine.get(asked.tgt, kind, functions, sender.id);
  return asked.single ? (answers.get(asked.fun[0] ?? '') ?? newDict()) : newDict(answers);
}

/** Those of the functions that a minion may read by the master's rules `{id expression: [function expressions]}`. */
function readable(rules: Value | undefined, id: string, functions: readonly string[]): readonly string[] {
  if (rules === undefined || rules === null) return functions;
  if (!isDict(rules)) return [];
  const granted = dictEntries(rules)
    .filter(([expression]) => matchesWhole(id, String(expression)))
    .flatMap(([, names]) => (Array.isArray(names) ? names.map(String) : []));
  return functions.filter((fun) => granted.some((expression) => matchesWhole(fun, expression)));
}
