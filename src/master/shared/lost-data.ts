// The engine lost what it had: what members share is in their memory and on their disks, and they write it again. Of
// several members that do so at once the first one counts.
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';

export interface LostDataParts {
  readonly cluster: Pick<Cluster, 'onChange'>;
  readonly log: Pick<Logger, 'limited'>;
  /** Called again until it succeeds; whatever is there already stays as it is. */
  restore(): Promise<void>;
}

/** Several streams are noticed one after the other. */
const soonMs = 1_000;
const againMs = 3_000;

/** Returns what ends it. */
export function onLostData({ cluster, log, restore }: LostDataParts): () => void {
  let [timer, running, again]: [NodeJS.Timeout | undefined, boolean, boolean] = [undefined, false, false];
  let ended = false;
  const run = async (): Promise<void> => {
    [running, again] = [true, false];
    try {
      await restore();
    } catch (error) {
      log.limited('lost-data', 'warn', 'what the engine lost cannot be written again yet', { why: messageOf(error) });
      again = true;
    }
    running = false;
    if (again) soon(againMs);
  };
  const soon = (ms: number): void => {
    clearTimeout(timer);
    if (running) again = true;
    else if (!ended) timer = setTimeout(() => void run(), ms).unref();
  };
  const stop = cluster.onChange(({ kind }) => {
    if (kind === 'engine-lost-data') soon(soonMs);
  });
  return () => {
    ended = true;
    clearTimeout(timer);
    stop();
  };
}
