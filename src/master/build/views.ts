// Builds what our own API shows: loaded when somebody asks for it first.
import type { MasterOpts } from '../../base/config/index.ts';
import type { MasterServices } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Authorization } from '../authorization/authorization.ts';
import type { Logins } from '../authorization/logins.ts';
import type { MasterFunctions } from '../local/functions.ts';
import { classOf } from '../publish/preflight.ts';
import type { ViewContext, Views } from '../views/verbs.ts';
import type { BuiltJobs } from './jobs.ts';

export interface ViewBuildParts {
  readonly opts: MasterOpts;
  readonly bus: EventBus;
  readonly keys: KeyStore;
  readonly store: JobStore;
  readonly logins: Logins;
  readonly authorization: Authorization;
  readonly built: BuiltJobs;
  readonly functions: MasterFunctions;
  readonly services: MasterServices;
  readonly context: ViewContext;
}

export async function loadViews(parts: ViewBuildParts): Promise<Views> {
  const { opts, bus, keys, store, logins, authorization, built, functions, services, context } = parts;
  const [{ openViews }, { FleetIndex }, { RecentJobs }, { FunctionView }] = await Promise.all([
    import('../views/verbs.ts'),
    import('../views/fleet-index.ts'),
    import('../views/recent-jobs.ts'),
    import('../views/functions-view.ts'),
  ]);
  const { fleet, targets, tracker, reasons, resumed, jobs } = built;
  const index = new FleetIndex({ keys, fleet, classOf: (id) => classOf({ targets, fleet, reasons }, id) });
  const seen = { index, targets, recent: new RecentJobs(store), store, tracker, fleet, keys };
  const followed = {
    store,
    tracker,
    resumed,
    bus,
    authorization,
    history: services.jobs,
    prepare: jobs.prepare,
    attach: jobs.attach,
  };
  return openViews(
    {
      authorization,
      logins,
      fleet: { ...seen, services: services.fleet },
      jobs: followed,
      keys: { authorization, keys, services: services.keys, bus },
      operations: { opts, services, store },
      functions: new FunctionView({ services, registry: () => functions.registry() }),
      preview: { preflight: jobs.preflight },
    },
    context,
  );
}
