// Durations as a machine with free processors would see them: a limit stays what it is, however many tests run beside.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** What Node needs to start where nothing else runs, with room to spare. */
const usualMs = 100;

/** How much slower than usual this machine is at the moment; never less than 1. */
async function slowness(): Promise<number> {
  const before = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return Math.max(1, (performance.now() - before) / usualMs);
}

export interface Stopwatch {
  /** Milliseconds since the start, less what the load of the machine accounts for. */
  ms(): Promise<number>;
}

export async function startStopwatch(): Promise<Stopwatch> {
  const slownessBefore = await slowness();
  const started = performance.now();
  return {
    async ms() {
      const passed = performance.now() - started;
      return passed / Math.max(slownessBefore, await slowness());
    },
  };
}
