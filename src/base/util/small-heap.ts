// A small heap for programs that mostly wait: the machine belongs to those who pay for it, not to its minion.
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Little garbage is let lie, the nursery stays small, and code is optimised only when it is really hot: one optimised
 * function costs several megabytes of the compiler's own.
 */
const flags = [
  '--optimize-for-size',
  '--semi-space-growth-factor=1',
  // So small a nursery is collected before a second thread has woken up, and each would take pages of its own.
  '--no-parallel-scavenge',
  '--interrupt-budget=2000000',
  '--max-bytecode-size-for-early-opt=0',
];

/** What is in use once everything is loaded; undefined in programs that do not stay light. */
let usedAtStart: number | undefined;

/** Not before everything is loaded, because Node's code cache fits one set of flags only. */
export function keepHeapSmall(): void {
  setImmediate(() => {
    for (const flag of flags) setFlagsFromString(flag);
    usedAtStart = used();
  });
}

/** Long enough for a job that follows at once not to wait, short enough for one that follows soon to find room. */
const quietMs = 100;
/** Until the pages that were collected are swept. */
const sweptMs = 20;
/** Nothing more is to be expected: now the heap is also pushed together, which for a moment takes room for both copies. */
const asleepMs = 5000;
/** Less is not worth the work. */
const worthBytes = 2 << 20;
/** While somebody waits for the work to go on, more has to be won. */
const worthWaitingBytes = 3 << 20;
let timer: NodeJS.Timeout | undefined;
let usedAfter = 0;
let scattered = false;

const used = (): number => getHeapStatistics().used_heap_size;

function collect(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  if (typeof gc === 'function') gc();
}

/** While nothing is being worked on: what is left is what the program needs. */
function collectAtRest(): void {
  collect();
  usedAfter = used();
}

/** Room of the old generation that holds nothing. */
function holes(): number {
  const old = getHeapSpaceStatistics().find((space) => space.space_name === 'old_space');
  return old ? old.physical_space_size - old.space_used_size : 0;
}

function collectIfWorthwhile(): void {
  if (used() >= usedAfter + worthBytes) {
    collectAtRest();
    scattered = true;
    timer = setTimeout(closeHoles, sweptMs).unref();
  } else awaitSleep();
}

/** A collection empties the pages that the one before it found nearly empty: it takes two to give them back. */
function closeHoles(): void {
  if (holes() >= worthBytes) collectAtRest();
  awaitSleep();
}

function awaitSleep(): void {
  if (scattered) timer = setTimeout(pushTogether, asleepMs).unref();
}

function pushTogether(): void {
  setFlagsFromString('--compact-on-every-full-gc');
  collectAtRest();
  setFlagsFromString('--no-compact-on-every-full-gc');
  scattered = false;
}

/**
 * Between two steps of a piece of work, of which the first leaves much behind: the second finds room in its place. Left
 * alone the engine would let hundreds of megabytes lie first. Does nothing in programs that do not stay light.
 */
export function collectBetweenSteps(): void {
  if (usedAtStart !== undefined && used() >= Math.max(usedAfter, usedAtStart) + worthWaitingBytes) collect();
}

/** Gives memory back once nothing happens: called at the end of a piece of work, taken back by `cancelCollection`. */
export function collectWhenIdle(): void {
  clearTimeout(timer);
  timer = setTimeout(collectIfWorthwhile, quietMs).unref();
}

/** Work has begun again. */
export function cancelCollection(): void {
  clearTimeout(timer);
}
