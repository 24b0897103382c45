// Builds the storage of jobs, results and events: the master's own store, and the returners in addition to it.
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { JobStore } from '../../store/jobs.ts';
import { SqliteJobStore } from '../../store/sqlite/store.ts';
import { recordEvents } from '../returners/events.ts';
import { ForwardingJobStore } from '../returners/forwarding-store.ts';
import { History } from '../returners/history.ts';
import { type ReturnerSettings, readReturnerSettings } from '../returners/settings.ts';
import { ReturnerSinks } from '../returners/sinks.ts';

export interface Records {
  readonly returnerSettings: ReturnerSettings;
  /** Stores, and forwards to returners. */
  readonly store: JobStore;
  readonly sinks: ReturnerSinks;
  readonly history: History;
  /** Starts to deliver the spools of earlier runs, and to record events. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function openRecords(
  opts: MasterOpts,
  log: Logger,
  bus: EventBus,
  returnerNames: () => Promise<readonly string[]>,
): Promise<Records> {
  const settings = readReturnerSettings(opts);
  const own = await SqliteJobStore.open(join(opts.cachedir, 'halite.db'), {
    masterId: settings.masterId,
    keepEvents: settings.keepEvents,
    news: (level, text, fields) => log[level](text, fields),
  });
  const sinks = new ReturnerSinks({ settings, log, bus, names: returnerNames });
  let stopEvents = async (): Promise<void> => undefined;
  return {
    returnerSettings: settings,
    store: new ForwardingJobStore(own, sinks, settings),
    sinks,
    history: new History({ store: own, sinks, settings, log }),
    start: async () => {
      await sinks.start();
      stopEvents = recordEvents(settings, bus, own, sinks, log);
    },
    close: async () => {
      await stopEvents();
      await sinks.stop();
      await own.close();
    },
  };
}
