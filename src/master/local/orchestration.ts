// Services of the master for states that run on it: jobs, master functions as their own jobs, and events.
import { readValue } from '../../base/codec/json/index.ts';
import { fieldOf, newDict, oneOrMore, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import type {
  EventWait,
  JobOutcome,
  JobRequest,
  MasterFunctionCall,
  MasterFunctionReport,
  OrchestrationServices,
} from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { MasterFunctions } from './functions.ts';

/** Functions that are orchestrations themselves: they use the jid of the first one. */
const orchestrations = new Set(['state.orchestrate', 'state.orch', 'state.sls']);

export interface OrchestrationParts {
  readonly bus: Pick<EventBus, 'fire' | 'stream'>;
  readonly functions: Pick<MasterFunctions, 'paramsOf' | 'start'>;
  runJob(request: JobRequest, signal: AbortSignal): Promise<JobOutcome>;
}

/** The services for one run; `user` started it, `signal` cancels it. */
export function orchestrationServices(
  parts: OrchestrationParts,
  run: { readonly user: string; readonly signal: AbortSignal },
): OrchestrationServices {
  return {
    runJob: (job) => parts.runJob({ ...job, user: run.user }, run.signal),
    callFunction: (call) => callFunction(parts, call, run),
    fireEvent: async (tag, data) => parts.bus.fire(tag, data),
    waitForEvents: (wait) => waitForEvents(parts, wait, run.signal),
  };
}

async function callFunction(
  { functions }: OrchestrationParts,
  call: MasterFunctionCall,
  run: { readonly user: string; readonly signal: AbortSignal },
): Promise<MasterFunctionReport> {
  const { kind, fun } = call;
  const params = await functions.paramsOf(kind, fun);
  if (!params) throw new HaliteError('call.unknown', `'${fun}' is not available.`);
  const kwargs = Object.assign(newDict(), call.kwargs) as PlainDict;
  if (call.saltenv !== undefined && Object.hasOwn(params, 'saltenv')) kwargs['saltenv'] = call.saltenv;
  const jidOfRun = call.orchestrationJid ?? null;
  if (jidOfRun !== null && kind === 'runners' && orchestrations.has(fun)) kwargs['orchestration_jid'] = jidOfRun;
  const { jid, result } = functions.start(kind, fun, call.args, kwargs, run.user, { signal: run.signal });
  const { ret, success, retcode } = await result;
  return { jid, return: readValue(ret), success, retcode };
}

/** As in Salt: the value is in the event's data, or one level below, where minions and reactors put their own. */
function valueIn(data: Value, field: string): Value {
  return fieldOf(data, field) ?? fieldOf(fieldOf(data, 'data'), field) ?? null;
}

async function waitForEvents({ bus }: OrchestrationParts, wait: EventWait, signal: AbortSignal): Promise<Value[]> {
  const control = new AbortController();
  const end = (): void => control.abort();
  const timer = setTimeout(end, Math.max(0, wait.timeoutSeconds) * 1000);
  signal.addEventListener('abort', end, { once: true });
  const left = [...wait.values];
  const seen: Value[] = [];
  const matches = globMatcher(wait.tag);
  try {
    for await (const { tag, data } of bus.stream('', { signal: control.signal })) {
      const value = matches(tag) ? valueIn(data, wait.field) : null;
      for (const item of oneOrMore(value)) {
        const at = left.indexOf(item);
        if (item !== null && at >= 0) seen.push(...left.splice(at, 1));
      }
      if (left.length === 0) break;
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
  return seen;
}
