// A small heap for programs that are mostly idle, because a minion should use as little of its machine as possible.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Garbage is collected early, the young generation stays small, and only very hot code is optimised: one optimised
 * function costs several megabytes in the compiler.
 */
const flags = [
  '--optimize-for-size',
  '--semi-space-growth-factor=1',
  // A young generation this small is collected before a second thread wakes up, and each thread would need its own
  // pages.
  '--no-parallel-scavenge',
  // V8 of Node 22 and newer has other names for it, and prints an error for names that it does not know.
  ...(Number.parseInt(process.versions.v8, 10) < 12
    ? ['--interrupt-budget=2000000', '--max-bytecode-size-for-early-opt=0']
    : ['--invocation-count-for-turbofan=100000']),
];

/**
 * For programs that work a lot, but keep little: the young generation, which could grow to three times 16 MB, stays as
 * small as it begins.
 */
export function keepYoungSmall(): void {
  setImmediate(() => setFlagsFromString('--semi-space-growth-factor=1'));
}

/** Both halves of a young generation of 4 MB: larger ones save no time that could be measured. */
const youngEnough = 8 << 20;

/**
 * For a program with much to do and much to keep: the young generation stops growing at a quarter of what it may have, and
 * the old one is collected when it has grown by two fifths, where V8 would wait until it has doubled or more. Most of a
 * master's memory was garbage: 50 MB after a `test.ping` on 2,000 minions, 100 MB after some.
 */
export function boundGarbage(): void {
  setImmediate(() => {
    setFlagsFromString('--heap-growing-percent=40');
    // V8 has no setting for this while it runs, except not to grow any more.
    const watch = new PerformanceObserver(() => {
      if (sizeOf('new_space') < youngEnough) return;
      setFlagsFromString('--semi-space-growth-factor=1');
      watch.disconnect();
    });
    watch.observe({ entryTypes: ['gc'] });
  });
}

const sizeOf = (name: string): number =>
  getHeapSpaceStatistics().find((space) => space.space_name === name)?.physical_space_size ?? 0;

/** Heap in use once everything is loaded; undefined in programs without a small heap. */
let usedAtStart: number | undefined;

/** Not set before everything is loaded, because Node's code cache is valid for one set of flags only. */
export function keepHeapSmall(): void {
  setImmediate(() => {
    for (const flag of flags) setFlagsFromString(flag);
    usedAtStart = used();
  });
}

/** Long enough that a job that follows immediately does not wait, short enough that a later one finds free memory. */
const quietMs = 100;
/** Time until the collected pages are swept. */
const sweptMs = 20;
/** The program is now idle for longer: the heap is also compacted, which for a moment needs memory for both copies. */
const asleepMs = 5000;
/** Smaller amounts are not worth the work. */
const worthBytes = 2 << 20;
/** Higher threshold while a caller waits for the work to continue. */
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

/** Called while no work is in progress: what is in use now is what the program needs. */
function collectAtRest(): void {
  collect();
  usedAfter = used();
}

/** Unused space of the old generation. */
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

/** A collection frees the pages that the previous one found nearly empty: it takes two to release them. */
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
 * Collects between two steps of one task when the first step leaves much garbage, so that the second reuses its memory.
 * Otherwise
 * V8 would keep hundreds of megabytes of garbage. Does nothing in programs without a small heap.
 */
export function collectBetweenSteps(): void {
  if (usedAtStart !== undefined && used() >= Math.max(usedAfter, usedAtStart) + worthWaitingBytes) collect();
}

/** Releases memory once the program is idle: called at the end of a task, cancelled by `cancelCollection`. */
export function collectWhenIdle(): void {
  clearTimeout(timer);
  timer = setTimeout(collectIfWorthwhile, quietMs).unref();
}

/** Called when work begins again. */
export function cancelCollection(): void {
  clearTimeout(timer);
}
