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
/** Nothing more is to be expected: now the heap is also pushed together, which for a moment takes room for both copies. */
const asleepMs = 5000;
/** Less is not worth the work. */
const worthBytes = 2 << 20;
let timer: NodeJS.Timeout | undefined;
let usedAfter = 0;
let scattered = false;

const used = (): number => getHeapStatistics().used_heap_size;

function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  if (typeof gc === 'function') gc();
  usedAfter = used();
}

function tidy(): void {
  if (used() >= usedAfter + worthBytes) {
    collect();
    scattered = true;
  }
  if (scattered) timer = setTimeout(pushTogether, asleepMs).unref();
}

function pushTogether(): void {
  setFlagsFromString('--compact-on-every-full-gc');
  collect();
  setFlagsFromString('--no-compact-on-every-full-gc');
  scattered = false;
}

/** Gives memory back once nothing happens: called at the end of a piece of work, taken back by `notYet`. */
export function tidySoon(): void {
  clearTimeout(timer);
  timer = setTimeout(tidy, quietMs).unref();
}

/** Work has begun again. */
export function notYet(): void {
  clearTimeout(timer);
}
