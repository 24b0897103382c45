// Waits for conditions in tests: polls until true or until the deadline, without fixed sleeps.

/** Resolves when `condition` is true; throws with `what` after the deadline. */
export async function eventually(condition: () => boolean, what: string, deadlineMs = 45_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
