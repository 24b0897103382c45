// Waits for a result with a time limit.

/**
 * The result of `work`, or after `ms` milliseconds what `late` returns or throws. The work itself continues; to cancel
 * it, pass a signal to it. A timer without `ref` does not keep the process alive.
 */
export async function withTimeout<T, L = never>(
  work: T | Promise<T>,
  ms: number,
  late: () => L,
  { ref = true }: { readonly ref?: boolean } = {},
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<L>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    }, ms);
    if (!ref) timer.unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
