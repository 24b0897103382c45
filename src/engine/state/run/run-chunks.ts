// A whole run: the states, then their listeners, then clean-up.

import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pyStr } from '../../../base/codec/python/index.ts';
import { type Dict, newDict, type PlainDict } from '../../../base/codec/value.ts';
import type { Chunk } from '../data.ts';
import { type Sifted, siftDisabled } from './disabled.ts';
import { type EventScene, RunEvents } from './events.ts';
import { beaconCalls, listenersOf } from './listen.ts';
import { forgetPause, pausePath } from './pause.ts';
import type { RunNumbers } from './run-numbers.ts';
import { ChunkRunner, type RunMemory, type RunnerSession, type StateCalls } from './runner.ts';

/** The owner of these results. */
export interface RunIdentity {
  readonly id: string;
  readonly jid: string;
  /** The same for all states of the run. */
  readonly instanceId: string;
}

/** The dependencies of running a list of chunks. */
export interface ChunkRun {
  readonly identity: RunIdentity;
  readonly session: RunnerSession & EventScene & { readonly grains: Dict };
  readonly caller: StateCalls;
  readonly numbers: RunNumbers;
  readonly processed: ReadonlySet<string>;
}

export type Results = Record<string, PlainDict>;

/** Runs chunks with their listeners; results by tag. */
export async function runChunks(chunks: Chunk[], { identity, session, ...parts }: ChunkRun): Promise<Results> {
  const { numbers } = parts;
  const events = new RunEvents(session, identity.jid, identity.id);
  const memory: RunMemory = { pre: newDict() as Results, initialized: new Set() };
  const cacheDir = pyStr(session.opts['cachedir'] ?? '');
  const pause = pausePath(cacheDir, identity.jid);
  const onResult = (result: PlainDict, low: Chunk, total: number): void => events.result(result, low, total);
  const enabledOf = (list: readonly Chunk[]): Sifted => siftDisabled(list, session.grains, numbers);
  const run = async ({ enabled, results }: Sifted): Promise<Results> => {
    const runner = new ChunkRunner({ ...parts, session, pausePath: pause, onResult }, enabled, memory);
    // As in Salt: after a failure with `failhard`, disabled states are omitted.
    return (await runner.runAll()) ? Object.assign(results, runner.running) : runner.running;
  };
  const sifted = enabledOf(chunks);
  const running = await run(sifted);
  const listening = listenersOf(sifted.enabled, running);
  Object.assign(running, await run(enabledOf(listening.chunks)));
  for (const error of Object.values(listening.errors)) error['__run_num__'] = numbers.take();
  Object.assign(running, listening.errors);
  Object.assign(running, await run(enabledOf(beaconCalls(sifted.enabled))));
  await events.settle();
  await cleanUp(cacheDir, identity.instanceId);
  await forgetPause(pause);
  return running;
}

/** Data that states shared during the run (`file.accumulated`). */
async function cleanUp(cacheDir: string, instanceId: string): Promise<void> {
  if (cacheDir !== '') await unlink(join(cacheDir, 'accumulator', instanceId)).catch(() => undefined);
}

/** Runs one chunk of a list with its requisites (`state.sls_id`). */
export async function runOneOf(low: Chunk, chunks: Chunk[], { identity, ...parts }: ChunkRun): Promise<Results> {
  const events = new RunEvents(parts.session, identity.jid, identity.id);
  const memory: RunMemory = { pre: newDict() as Results, initialized: new Set() };
  const runner = new ChunkRunner(
    { ...parts, pausePath: undefined, onResult: (result, chunk, total) => events.result(result, chunk, total) },
    chunks,
    memory,
  );
  await runner.runTop(low);
  await events.settle();
  return runner.running;
}
