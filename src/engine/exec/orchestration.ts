// The master's services for state runs on the master: each call is sent from the job process to the master as a
// request.
import { type Dict, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type {
  EventWait,
  JobOutcome,
  JobRequest,
  MasterFunctionCall,
  MasterFunctionReport,
  OrchestrationServices,
} from '../../extend/sdk/index.ts';
import type { Runtime } from './runtime.ts';

/** The request that contains these calls; only a master's own job processes can send it. */
const command = 'orchestration';

/** What `ctx.master` is in a job process of a master. */
export function provideMaster({ opts, minion }: Runtime): OrchestrationServices | undefined {
  if (opts()['__role'] !== 'master') return undefined;
  const ask = (method: keyof OrchestrationServices, argument: object): Promise<Value> =>
    minion.masterRequest(
      newDict([
        ['cmd', command],
        ['method', method],
        ['argument', plain(argument)],
      ]),
    );
  return {
    runJob: async (job) => (await ask('runJob', job)) as unknown as JobOutcome,
    callFunction: async (call) => (await ask('callFunction', call)) as unknown as MasterFunctionReport,
    fireEvent: async (tag, data) => void (await ask('fireEvent', { tag, data })),
    waitForEvents: async (wait) => (await ask('waitForEvents', wait)) as Value[],
  };
}

function plain(fields: object): PlainDict {
  const entries = Object.entries(fields) as [string, Value | undefined][];
  return newDict(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined));
}

/** The answering side, in the master. */
export async function answerOrchestration(services: OrchestrationServices, load: PlainDict): Promise<Value> {
  const { cmd, method, argument } = load;
  if (cmd !== command || !isDict(argument) || argument instanceof Map) {
    throw new HaliteError('call.unknown', `The master does not answer '${String(cmd)}' here`);
  }
  switch (method) {
    case 'runJob':
      return plain(await services.runJob(argument as unknown as JobRequest));
    case 'callFunction':
      return plain(await services.callFunction(argument as unknown as MasterFunctionCall));
    case 'fireEvent':
      await services.fireEvent(String(argument['tag']), argument['data'] as Dict);
      return null;
    case 'waitForEvents':
      return services.waitForEvents(argument as unknown as EventWait);
    default:
      throw new HaliteError('call.unknown', `No such service: ${String(method)}`);
  }
}
