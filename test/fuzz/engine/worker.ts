// One target in one thread: its input is always visible to the main thread, so that a run that never ends is found.
import { parentPort, workerData } from 'node:worker_threads';
import { Coverage } from './coverage.ts';
import { Loop, type Outcome } from './loop.ts';
import type { FuzzTarget } from './target.ts';

export interface Task {
  readonly module: string;
  readonly seed: number;
  readonly mostRuns: number;
  readonly seconds: number;
  readonly corpus: readonly Uint8Array[];
  readonly tokens: readonly string[];
  readonly save: boolean;
  /** Runs begun (4 bytes), length of the input (4 bytes), the input. */
  readonly shared: SharedArrayBuffer;
}

export type Report = { readonly outcome: Outcome } | { readonly broken: string };

// Most inputs are refused: long traces of errors nobody reads would cost more than the code under test.
Error.stackTraceLimit = 6;

const task = workerData as Task;
const counts = new Int32Array(task.shared, 0, 2);
const current = new Uint8Array(task.shared, 8);
const coverage = new Coverage();
Object.assign(globalThis, { __coverage: coverage });

const { default: target } = (await import(task.module)) as { default: FuzzTarget };
const loop = new Loop(target, coverage, {
  ...task,
  until: Date.now() + task.seconds * 1000,
  announce: (input) => {
    const length = Math.min(input.length, current.length);
    current.set(length < input.length ? input.subarray(0, length) : input);
    counts[1] = length;
    Atomics.add(counts, 0, 1);
  },
});
const report: Report = { outcome: await loop.run() };
parentPort?.postMessage(report);
