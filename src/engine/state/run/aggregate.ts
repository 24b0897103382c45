// `aggregate`: lets a module do the work of several of its states at once.

import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { asList, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { FoundFunction } from '../../../extend/loader/index.ts';
import type { ExtensionLog, StateContext } from '../../../extend/sdk/index.ts';
import type { Chunk } from '../data.ts';
import { requisites, requisitesIn } from '../keywords.ts';
import type { CallScene } from './contexts.ts';

export interface AggregateParts {
  readonly session: {
    readonly log: ExtensionLog;
    option(name: string): Value | undefined;
    find(full: string): Promise<FoundFunction<'states'> | undefined>;
  };
  /** The context for the module's hook. */
  readonly caller: { contextFor(low: Chunk, scene: CallScene): StateContext };
}

/** The chunk to run: the given one, with the arguments that its module takes from later chunks. */
export async function aggregate(
  low: Chunk,
  chunks: readonly Chunk[],
  running: Readonly<Record<string, PlainDict>>,
  { session, caller }: AggregateParts,
): Promise<Chunk> {
  const asked = 'aggregate' in low ? low['aggregate']! : (session.option('state_aggregate') ?? false);
  const state = pyStr(low['state']);
  if (!(asked === true || (Array.isArray(asked) && asked.includes(state))) || isTruthy(low['__agg__'] ?? false))
    return low;
  const found = await session.find(`${state}.${pyStr(low['fun'])}`);
  const modAggregate = found?.module.extension.modAggregate;
  if (!modAggregate) return low;
  low['__agg__'] = true;
  try {
    const joined = await modAggregate(low, chunks, running, caller.contextFor(low, { chunks, running }));
    takeRequisites(joined, chunks);
    // The list of chunks stays the same object: others refer to it.
    return joined === low ? low : Object.assign(low, joined);
  } catch (error) {
    session.log.error(`Failed to execute aggregate for state ${state}`, { error: String(error) });
    return low;
  }
}

/** The requisites of the other chunks apply to the combined one too. */
function takeRequisites(low: Chunk, chunks: readonly Chunk[]): void {
  const taken = newDict();
  for (const chunk of chunks) {
    if (chunk['state'] !== low['state'] || !isTruthy(chunk['__agg__'] ?? false) || chunk['name'] === low['name'])
      continue;
    for (const name of [...requisites, ...requisitesIn]) {
      const list = chunk[name];
      if (!Array.isArray(list)) continue;
      const before = taken[name];
      taken[name] = [...(asList(before) ?? []), ...(list as Value[])];
    }
  }
  Object.assign(low, taken);
}
