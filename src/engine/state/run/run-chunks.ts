// A whole run: the states, then what listened to them, then clean-up.
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { newDict, type PlainDict } from '../../../base/codec/value.ts';
import { type Chunk, textOf } from '../data.ts';
import type { StateCaller } from './caller.ts';
import { type Sifted, siftDisabled } from './disabled.ts';
import { RunEvents } from './events.ts';
import { beaconCalls, listenersOf } from './listen.ts';
import { forgetPause, pausePath } from './pause.ts';
import { ChunkRunner, type RunMemory } from './runner.ts';

export interface RunChunksOptions {
  readonly caller: StateCaller;
  readonly processed: ReadonlySet<string>;
  readonly jid: string;
  readonly id: string;
  readonly instanceId: string;
}

export type Results = Record<string, PlainDict>;

/** Runs chunks with their listeners; results by tag. */
export async function runChunks(chunks: Chunk[], options: RunChunksOptions): Promise<Results> {
  const { caller } = options;
  const { session } = caller;
  const events = new RunEvents(session, options.jid, options.id);
  const memory: RunMemory = { pre: newDict() as Results, initialized: new Set() };
  const pause = pausePath(textOf(session.opts['cachedir'] ?? ''), options.jid);
  const run = async ({ enabled, results }: Sifted): Promise<Results> => {
    const runner = new ChunkRunner(
      {
        caller,
        processed: options.processed,
        pausePath: pause,
        onResult: (result, low, total) => events.result(result, low, total),
      },
      enabled,
      memory,
    );
    // Salt: a failure with `failhard` leaves out what is disabled.
    return (await runner.runAll()) ? Object.assign(results, runner.running) : runner.running;
  };
  const sifted = siftDisabled(chunks, caller);
  const running = await run(sifted);
  const listening = listenersOf(sifted.enabled, running);
  Object.assign(running, await run(siftDisabled(listening.chunks, caller)));
  for (const error of Object.values(listening.errors)) error['__run_num__'] = caller.runNumber++;
  Object.assign(running, listening.errors);
  Object.assign(running, await run(siftDisabled(beaconCalls(sifted.enabled), caller)));
  await events.settle();
  await cleanUp(textOf(session.opts['cachedir'] ?? ''), options.instanceId);
  await forgetPause(pause);
  return running;
}

/** What states kept for each other during the run (`file.accumulated`). */
async function cleanUp(cacheDir: string, instanceId: string): Promise<void> {
  if (cacheDir !== '') await unlink(join(cacheDir, 'accumulator', instanceId)).catch(() => undefined);
}

/** Runs one chunk of a list with what it needs (`state.sls_id`). */
export async function runOneOf(low: Chunk, chunks: Chunk[], options: RunChunksOptions): Promise<Results> {
  const { caller } = options;
  const events = new RunEvents(caller.session, options.jid, options.id);
  const memory: RunMemory = { pre: newDict() as Results, initialized: new Set() };
  const runner = new ChunkRunner(
    {
      caller,
      processed: options.processed,
      pausePath: undefined,
      onResult: (result, chunk, total) => events.result(result, chunk, total),
    },
    chunks,
    memory,
  );
  await runner.runTop(low);
  await events.settle();
  return runner.running;
}
