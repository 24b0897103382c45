// Runs a target in its own thread; a run that never ends or uses all memory is a finding too.
import { Worker } from 'node:worker_threads';
import type { Outcome } from './loop.ts';
import type { Report, Task } from './worker.ts';

/** A run that takes longer is hung; even a crowded machine lets a thread do something in that time. */
const hungAfterMs = 15_000;
const mostMegabytes = 1024;

export async function supervise(workerFile: URL, given: Omit<Task, 'shared'>): Promise<Outcome> {
  const shared = new SharedArrayBuffer(8 + (1 << 17));
  const task: Task = { ...given, shared };
  const worker = new Worker(workerFile, {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  });
  const counts = new Int32Array(shared, 0, 2);
  const failed = (what: string): Outcome => {
    const input = Uint8Array.from(new Uint8Array(shared, 8, counts[1]));
    return { executions: counts[0]!, reached: 0, places: 0, corpus: [], finds: [{ what, input, stack: '' }] };
  };
  return await new Promise<Outcome>((resolve) => {
    let seen = -1;
    const watch = setInterval(() => {
      const now = Atomics.load(counts, 0);
      // Loading the target takes its time too.
      if (now === seen && now > 0) {
        resolve(failed(`one run took more than ${hungAfterMs / 1000} s`));
        void worker.terminate();
      }
      seen = now;
    }, hungAfterMs);
    worker.once('message', (report: Report) => resolve('outcome' in report ? report.outcome : failed(report.broken)));
    worker.once('error', (error) => resolve(failed(`the thread ended: ${error.stack ?? error.message}`)));
    worker.once('exit', (code) => {
      clearInterval(watch);
      resolve(failed(`the thread ended with ${code}`));
    });
  });
}
