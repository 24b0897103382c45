// A small heap for programs that mostly wait: the machine belongs to those who pay for it, not to its minion.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Little garbage is let lie, the nursery stays small, and code is optimised only when it is really hot: one optimised
 * function costs several megabytes of the compiler's own.
 */
const flags = [
  '--optimize-for-size',
  '--semi-space-growth-factor=1',
  '--interrupt-budget=2000000',
  '--max-bytecode-size-for-early-opt=0',
];

/** Not before everything is loaded, because Node's code cache fits one set of flags only. */
export function stayLight(): void {
  setImmediate(() => {
    for (const flag of flags) setFlagsFromString(flag);
  });
}

/** Long enough for a job that follows at once not to wait, short enough for one that follows soon to find room. */
const quietMs = 100;
/** Less is not worth the work. */
const worthBytes = 2 << 20;
let timer: NodeJS.Timeout | undefined;
let usedAfter = 0;

const used = (): number => getHeapStatistics().used_heap_size;

function collect(): void {
  if (used() < usedAfter + worthBytes) return;
  for (const flag of ['--expose-gc', '--compact-on-every-full-gc']) setFlagsFromString(flag);
  const gc: unknown = runInNewContext('gc');
  if (typeof gc === 'function') gc();
  setFlagsFromString('--no-compact-on-every-full-gc');
  usedAfter = used();
}

/** Gives memory back once nothing happens: called at the end of a piece of work, taken back by `notYet`. */
export function tidySoon(): void {
  clearTimeout(timer);
  timer = setTimeout(collect, quietMs).unref();
}

/** Work has begun again. */
export function notYet(): void {
  clearTimeout(timer);
}
