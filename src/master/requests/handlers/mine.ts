// Mine requests of minions.

import { textField } from '../../../base/codec/fields.ts';
import { asList, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { matchesIdRule, matchesRule } from '../../../base/util/function-rule.ts';
import { isProblem } from '../../../protocol/wire/messages/fields.ts';
import { readMineQuery, readMineUpdate } from '../../../protocol/wire/messages/minion-loads.ts';
import type { Mine } from '../../fleet/mine.ts';
import type { Sender } from '../sender.ts';
import type { Handlers } from './table.ts';

/** Pillar is matched exactly, so that no minion can probe another's pillar with globs. */
const exactKinds: ReadonlyMap<string, string> = new Map([
  ['pillar', 'pillar_exact'],
  ['pillar_pcre', 'pillar_exact'],
  ['compound', 'compound_pillar_exact'],
]);

export interface MineHandlerParts {
  readonly opts: { readonly raw: PlainDict };
  readonly log: Pick<Logger, 'limited'>;
  readonly mine: Pick<Mine, 'put' | 'get' | 'drop' | 'flush'>;
}

export function mineHandlers(parts: MineHandlerParts): Handlers {
  return {
    _mine: {
      run: (load, sender) => {
        const update = readMineUpdate(load);
        if (isProblem(update) || update.data instanceof Map) return false;
        return keep(parts, sender.id, update.data, update.clear);
      },
    },
    _mine_get: { run: (load, sender) => query(parts, load, sender) },
    _mine_delete: {
      run: (load, sender) => {
        const fun = textField(load, 'fun');
        if (fun === undefined) return false;
        parts.mine.drop(sender.id, fun);
        return true;
      },
    },
    _mine_flush: {
      run: (_load, sender) => {
        parts.mine.flush(sender.id);
        return true;
      },
    },
  };
}

function keep(parts: MineHandlerParts, id: string, data: PlainDict, clear: boolean): boolean {
  try {
    parts.mine.put(id, data, clear);
    return true;
  } catch (error) {
    refused(parts, id, 'a minion sent more than the mine accepts', error);
    return false;
  }
}

/** Logged for the operator; the minion gets an empty result, as from Salt. Other errors are rethrown. */
function refused(parts: MineHandlerParts, minion: string, what: string, error: unknown): void {
  if (!(error instanceof HaliteError)) throw error;
  parts.log.limited(`mine:${minion}`, 'warn', what, { minion, why: messageOf(error) });
}

/** Functions in one query. */
const mostAsked = 100;

function query(parts: MineHandlerParts, load: PlainDict, sender: Sender): Value {
  const asked = readMineQuery(load);
  if (isProblem(asked) || asked.fun.length > mostAsked) return newDict();
  const kind = exactKinds.get(asked.tgt_type) ?? asked.tgt_type;
  const functions = readable(parts.opts.raw['mine_get'], sender.id, asked.fun);
  let answers: Map<string, PlainDict>;
  try {
    answers = parts.mine.get(asked.tgt, kind, functions, sender.id);
  } catch (error) {
    refused(parts, sender.id, 'a query of the mine was refused', error);
    return newDict();
  }
  return asked.single ? (answers.get(asked.fun[0] ?? '') ?? newDict()) : newDict(answers);
}

/** The functions that a minion may read according to the master's rules `{id expression: [function expressions]}`. */
function readable(rules: Value | undefined, id: string, functions: readonly string[]): readonly string[] {
  if (rules === undefined || rules === null) return functions;
  if (!isDict(rules)) return [];
  const granted = dictEntries(rules)
    .filter(([expression]) => matchesIdRule(String(expression), id))
    .flatMap(([, names]) => (asList(names) ?? []).map(String));
  return functions.filter((fun) => granted.some((expression) => matchesRule(expression, fun)));
}
