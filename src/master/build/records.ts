// Builds the storage of jobs, results and events: the master's own store, and the returners in addition to it.
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { ComparedStore, JobStore, LedgerStore, StoreLoad } from '../../store/jobs.ts';
import type { StoreSync } from '../../store/sqlite/driver.ts';
import { SqliteJobStore } from '../../store/sqlite/store.ts';
import { recordEvents } from '../returners/events.ts';
import { ForwardingJobStore } from '../returners/forwarding-store.ts';
import { History } from '../returners/history.ts';
import { type ReturnerSettings, readReturnerSettings } from '../returners/settings.ts';
import { ReturnerSinks } from '../returners/sinks.ts';
import { SharedJobStore } from '../shared/store.ts';
import type { OpenedCluster } from './cluster.ts';

export interface Records {
  readonly returnerSettings: ReturnerSettings;
  /** Stores, and forwards to returners. */
  readonly store: JobStore;
  /** In a cluster: the part of it that reads the ledger. */
  readonly shared: SharedJobStore | undefined;
  /** In a cluster: what is compared with the stores of other members. */
  readonly compared: (ComparedStore & Pick<JobStore, 'health'>) | undefined;
  readonly receivers: LedgerStore['receivers'];
  writeLoad(): StoreLoad;
  readonly sinks: ReturnerSinks;
  readonly history: History;
  /** Starts to deliver the spools of earlier runs, and to record events. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Throws `config.value` for a word that is none: one that was misspelt must not mean less than what was asked for. */
function storeSync(word: string): StoreSync {
  if (word === 'normal' || word === 'full') return word;
  throw new HaliteError('config.value', `Config option store_sync has no value '${word}'`, {
    hint: 'Use normal, or full.',
  });
}

export async function openRecords(
  opts: MasterOpts,
  { cluster, options }: Pick<OpenedCluster, 'cluster' | 'options'>,
  log: Logger,
  bus: EventBus,
  returnerNames: () => Promise<readonly string[]>,
): Promise<Records> {
  const settings = readReturnerSettings(opts);
  const sqlite = await SqliteJobStore.open(join(opts.cachedir, 'halite.db'), {
    masterId: settings.masterId,
    keepEvents: settings.keepEvents,
    sync: storeSync(opts.store_sync),
    shared: options !== undefined,
    news: (level, text, fields) => log[level](text, fields),
  });
  const shared = options && new SharedJobStore({ cluster, options, log, store: sqlite });
  const own: JobStore = shared ?? sqlite;
  const sinks = new ReturnerSinks({ settings, log, bus, names: returnerNames });
  let stopEvents = async (): Promise<void> => undefined;
  return {
    returnerSettings: settings,
    store: new ForwardingJobStore(own, sinks, settings),
    shared,
    compared: shared && sqlite,
    receivers: (jid) => sqlite.receivers(jid),
    writeLoad: () => sqlite.writeLoad(),
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
