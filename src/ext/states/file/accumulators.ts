// Texts that `file.accumulated` collects during a run for files that later states write.

import { dirname, join } from 'node:path';
import { type Dict, dictGet, isDict, newDict, type PlainDict, pyStr, type StateContext, type Value } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'halite/sdk/fs';

/** file → accumulator → texts, and file → accumulator → ids of states that use it. */
export interface Accumulators {
  readonly texts: PlainDict;
  readonly dependents: PlainDict;
}

/** One file per run in the minion's cache; the engine removes it when the run ends. */
function accumulatorPath(ctx: StateContext): string {
  return join(pyStr(ctx.opts['cachedir'] ?? '/var/cache/salt/minion'), 'accumulator', ctx.instanceId);
}

const dictAt = (data: Value, key: string): PlainDict => {
  const found = isDict(data) ? dictGet(data as Dict, key) : undefined;
  return found !== undefined && isDict(found) && !(found instanceof Map) ? found : newDict();
};

export function loadAccumulators(ctx: StateContext): Accumulators {
  const path = accumulatorPath(ctx);
  if (!existsSync(path)) return { texts: newDict(), dependents: newDict() };
  const data = unpack(readFileSync(path));
  return { texts: dictAt(data, 'accumulators'), dependents: dictAt(data, 'accumulators_deps') };
}

export function saveAccumulators(data: Accumulators, ctx: StateContext): void {
  const path = accumulatorPath(ctx);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(
    path,
    pack(
      newDict([
        ['accumulators', data.texts],
        ['accumulators_deps', data.dependents],
      ]),
    ),
    { mode: 0o600 },
  );
}
