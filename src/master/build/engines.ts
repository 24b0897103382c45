// Builds the engines of the master: beside it, with its functions, its events and its rights.
import { fileURLToPath } from 'node:url';
import type { MasterOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import { Engines, readEngines, takeReactor } from '../../engine/engines/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { OwnMinion } from '../local/own-minion.ts';

/** The engine `reactor` is a part of the master: it only sets options of that. */
export function applyReactorEngine(opts: MasterOpts): void {
  const { changes } = takeReactor(readEngines(opts.raw['engines']));
  Object.assign(opts.raw, changes);
}

export interface EngineParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly bus: Pick<EventBus, 'watch'>;
  readonly own: OwnMinion;
}

export function buildEngines({ opts, log, bus, own }: EngineParts): Engines {
  const end = new AbortController();
  const services = own.servicesFor('root', end.signal);
  const engines = new Engines(takeReactor(readEngines(opts.raw['engines'])), {
    entry: fileURLToPath(bundleFile('job-process')),
    log: log.child('engine'),
    data: () => own.workerData(),
    services: () => services,
    watch: (watcher) => bus.watch(watcher),
  });
  own.onReload = () => engines.recycle();
  return engines;
}
