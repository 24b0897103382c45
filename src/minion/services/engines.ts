// The minion's engines: beside the daemon, for all of its masters.
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { Engines, readEngines } from '../../engine/engines/index.ts';
import type { WorkerData } from '../../engine/exec/index.ts';
import type { MinionServices } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';

export interface EngineParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** The program of job processes. */
  readonly entry: string;
  /** Resolves when grains are available. */
  readonly grains: () => Promise<unknown>;
  readonly data: () => WorkerData;
  readonly services: () => MinionServices;
  /** What the minion tells its masters. */
  readonly told: Pick<EventBus, 'watch'>;
}

export function minionEngines({ opts, log, entry, grains, data, services, told }: EngineParts): Engines {
  return new Engines(readEngines(opts.raw['engines']), {
    ...{ entry, services },
    log: log.child('engine'),
    data: async () => {
      await grains().catch(() => undefined);
      return data();
    },
    watch: (watcher) => told.watch(watcher),
  });
}
