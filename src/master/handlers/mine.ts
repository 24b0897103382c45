// The mine: data that minions publish for each other, kept in memory and checked on every read.
import { dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Master, Sender } from '../core.ts';
import { matchFleet } from '../targets.ts';
import type { Handlers } from './table.ts';

export function mineHandlers(master: Master): Handlers {
  const mine = new Map<string, PlainDict>();
  return {
    _mine: { run: (load, sender) => store(mine, load, sender) },
    _mine_get: { run: (load, sender) => fetch(master, mine, load, sender) },
    _mine_delete: {
      run: (load, sender) => {
        const own = mine.get(sender.id);
        if (own) delete own[String(load['fun'])];
        return true;
      },
    },
    _mine_flush: { run: (_load, sender) => mine.delete(sender.id) || true },
  };
}

function store(mine: Map<string, PlainDict>, load: PlainDict, sender: Sender): Value {
  const data = load['data'];
  if (!isDict(data) || data instanceof Map) return false;
  const before = load['clear'] ? undefined : mine.get(sender.id);
  mine.set(sender.id, { ...(before ?? newDict()), ...data });
  return true;
}

/** Pillar globs become exact matches, so that no minion can probe another's pillar by guessing. */
function safeKind(kind: string): string {
  return kind === 'pillar' || kind === 'pillar_pcre' ? 'pillar_exact' : kind;
}

async function fetch(master: Master, mine: Map<string, PlainDict>, load: PlainDict, sender: Sender): Promise<Value> {
  const kind = safeKind(String(load['tgt_type'] ?? load['expr_form'] ?? 'glob'));
  const { matched } = matchFleet(master, load['tgt'] as string, kind, { ids: [...mine.keys()] });
  const asked = load['fun'];
  const functions = Array.isArray(asked)
    ? asked.map(String)
    : String(asked ?? '')
        .split(',')
        .map((name) => name.trim());
  const answer = (fun: string): PlainDict => {
    const found = newDict();
    for (const id of matched) {
      const value = mine.get(id)?.[fun];
      if (value !== undefined) {
        const visible = unwrap(master, value, sender);
        if (visible !== undefined) found[id] = visible;
      }
    }
    return found;
  };
  if (functions.length === 1) return answer(functions[0] ?? '');
  return newDict(functions.map((fun) => [fun, answer(fun)]));
}

const aclMark = '__saltmine_acl__';
const dataMark = '__data__';

/** Entries may name who is allowed to see them. */
function unwrap(master: Master, value: Value, sender: Sender): Value | undefined {
  if (!isDict(value) || value instanceof Map || !(aclMark in value)) return value;
  const allowed = dictGet(value, 'allow_tgt');
  if (allowed !== undefined && allowed !== null && allowed !== '') {
    const kind = String(dictGet(value, 'allow_tgt_type') ?? 'glob');
    const { matched } = matchFleet(master, allowed as string, kind, { ids: [sender.id] });
    if (!matched.includes(sender.id)) return undefined;
  }
  return dictGet(value, dataMark) ?? null;
}
