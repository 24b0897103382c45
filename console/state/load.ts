// Data of a page: loaded when the page opens, again when asked, and never by two requests at the same time.
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { Problem } from '../api/http.ts';
import { linkRenewals } from '../live/link.ts';

export interface Loaded<T> {
  readonly value: Signal<T | undefined>;
  readonly problem: Signal<Problem | undefined>;
  readonly busy: Signal<boolean>;
  reload(): void;
}

const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0, error instanceof Error ? error.message : String(error));

function loader<T>(fetchIt: (signal: AbortSignal) => Promise<T>): Loaded<T> & { stop(): void } {
  const value = signal<T | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  const busy = signal(false);
  let abort: AbortController | undefined;
  let again = false;
  const run = async (): Promise<void> => {
    abort = new AbortController();
    const { signal: stopped } = abort;
    busy.value = true;
    try {
      const found = await fetchIt(stopped);
      if (stopped.aborted) return;
      value.value = found;
      problem.value = undefined;
    } catch (error) {
      if (!stopped.aborted) problem.value = asProblem(error);
    } finally {
      if (!stopped.aborted) {
        busy.value = false;
        if (again) {
          again = false;
          void run();
        }
      }
    }
  };
  return {
    ...{ value, problem, busy },
    reload: () => {
      if (busy.peek()) again = true;
      else void run();
    },
    stop: () => abort?.abort(),
  };
}

/** Loads for as long as the component lives; other inputs start anew. After a lost connection everything is loaded again. */
export function useLoad<T>(fetchIt: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const made = useMemo(() => loader(fetchIt), inputs);
  const renewals = linkRenewals.value;
  useEffect(() => {
    made.reload();
    return () => made.stop();
  }, [made]);
  useEffect(() => {
    if (renewals > 0) made.reload();
  }, [renewals]);
  return made;
}

/** Calls at most once in a while, the last time after the last call. */
export function useCalm(action: () => void, ms: number): () => void {
  const calm = useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let latest = action;
    return {
      set: (next: () => void) => {
        latest = next;
      },
      call: () => {
        timer ??= setTimeout(() => {
          timer = undefined;
          latest();
        }, ms);
      },
      stop: () => clearTimeout(timer),
    };
  }, []);
  calm.set(action);
  useEffect(() => () => calm.stop(), []);
  return calm.call;
}
