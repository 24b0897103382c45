// One way to wait for something no longer than a given time.

/**
 * The outcome of `work`, or after `ms` milliseconds what `late` gives or throws. The work itself goes on; whoever wants
 * it to end passes a signal to it. A timer that is not `ref`ed does not keep the process alive.
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
