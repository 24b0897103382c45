// Waiting for a condition, with a deadline and a description of what was seen when it passes.
/** Long enough for a machine that does ten other things: waiting costs nothing when the condition comes. */
const patienceMs = 120_000;

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  readonly describe?: () => string;
  /** Gives up at once when waiting makes no sense any more. */
  readonly abort?: () => boolean;
}

export async function eventually(
  what: string,
  test: () => boolean | Promise<boolean>,
  options: EventuallyOptions = {},
): Promise<void> {
  const deadline = Date.now() + (options.timeoutMs ?? patienceMs);
  for (;;) {
    if (await test()) return;
    const hopeless = options.abort?.() ?? false;
    if (hopeless || Date.now() > deadline) {
      throw new Error(
        `${hopeless ? 'no use waiting for' : 'timed out waiting for'} ${what}\n${options.describe?.() ?? ''}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
