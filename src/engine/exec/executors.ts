// The executors of a job: `module_executors` of the job or of the configuration, asked in order.
import { asPlainDict, isDict, newDict, oneOrMore, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { ExecutorContext } from '../../extend/sdk/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import type { Runtime } from './runtime.ts';

type Opts = Readonly<Record<string, Value>>;
const direct = 'direct_call';

/** Their names; undefined for the usual one, which calls the function and nothing else. */
export function executorsOf(opts: Opts, job: PublishedJob | undefined): readonly string[] | undefined {
  const asked = job?.options?.module_executors ?? opts['module_executors'];
  const none = asked === undefined || asked === null || (isDict(asked) && Object.keys(asked).length === 0);
  const listed = none ? [direct] : oneOrMore(asked);
  if (listed.length === 0 || !listed.every((name) => typeof name === 'string' && name !== ''))
    throw new HaliteError('call.arguments', 'Wrong executors specification: a name or a list of names is expected');
  const names = listed as string[];
  // Of a minion that is no superuser: what jobs do goes through sudo.
  const viaSudo = job !== undefined && typeof opts['sudo_user'] === 'string' && opts['sudo_user'] !== '';
  if (viaSudo && names.at(-1) !== 'sudo') return [...names.slice(0, -1), 'sudo'];
  return names.every((name) => name === direct) ? undefined : names;
}

/** Whether a job may take another way than a direct call; wrong specifications are refused where the job runs. */
export function usesExecutors(opts: Opts, job: PublishedJob): boolean {
  try {
    return executorsOf(opts, job) !== undefined;
  } catch {
    return true;
  }
}

export interface Execution {
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: PlainDict;
  run(): Promise<Value>;
}

/** The result of the first executor that gives one. */
export async function execute(
  names: readonly string[],
  call: Execution,
  { runtime, job, context }: { runtime: Runtime; job: PublishedJob | undefined; context: ExecutorContext },
): Promise<Value> {
  const data = newDict([
    ['fun', call.fun],
    ['executor_opts', asPlainDict(job?.options?.executor_opts) ?? newDict()],
    ['jid', job?.jid ?? ''],
  ] as [string, Value][]);
  for (const name of names) {
    const found = await runtime.loader.get('executors', name);
    if (!found) {
      const why = runtime.loader.reason('executors', name);
      throw new HaliteError('call.arguments', `Executor '${name}' is not available${why ? `: ${why}` : ''}`);
    }
    const value = await found.extension.execute({ ...call, data }, context);
    if (value !== undefined) return value;
  }
  return null;
}
