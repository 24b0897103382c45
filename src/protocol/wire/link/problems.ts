// Limits reports of peers' errors: an unauthenticated peer must not be able to fill a log.
import type { WireProblem } from '../transport.ts';

type Tell = (problem: WireProblem) => void;
const windowMs = 60_000;
const toldEach = 10;

/** Reports the first few of a kind in each minute, and then the number of the others. */
export function limitProblems(tell: Tell | undefined): Tell {
  if (!tell) return () => undefined;
  const kinds = new Map<WireProblem['kind'], { since: number; told: number; more: number }>();
  return (problem) => {
    const now = performance.now();
    let seen = kinds.get(problem.kind);
    if (!seen || now - seen.since > windowMs) {
      const more = seen?.more ?? 0;
      seen = { since: now, told: 0, more: 0 };
      kinds.set(problem.kind, seen);
      if (more > 0) tell({ ...problem, detail: `${problem.detail} (and ${more} more of this kind before)` });
      else tell(problem);
      seen.told = 1;
    } else if (seen.told < toldEach) {
      seen.told += 1;
      tell(problem);
    } else seen.more += 1;
  };
}
