// Publishes the job of a `salt.state` or `salt.function` and returns the answer of each minion.
import {
  type ArgsOf,
  HaliteError,
  type JobRequest,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type Value,
} from 'halite/sdk';
import { announce, masterOf, some } from './reach.ts';

/** The answer of one minion; without `ret` it did not answer. */
export interface Answer {
  readonly ret?: Value;
  readonly retcode: number;
}

export interface Answers {
  /** Undefined for batches, which are several jobs. */
  readonly jid: string | undefined;
  readonly byMinion: ReadonlyMap<string, Answer>;
}

/** Arguments for the target and the publishing of a job. */
export const publishParams = {
  tgt: p.scalar({ nullable: true, doc: 'which minions' }),
  ssh: p.bool({ default: false, doc: 'reach the targets by SSH' }),
  tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
  ret: p.oneOf(['string', 'list'], {
    default: '',
    nullable: true,
    doc: 'returners the minions use, in a list or separated by commas',
  }),
  ret_config: p.scalar({ default: null, doc: 'another configuration of the returner' }),
  ret_kwargs: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'single settings of the returner' }),
  fail_minions: p.oneOf(['string', 'list'], { default: null, doc: 'minions that may fail' }),
  timeout: p.scalar({ default: null, doc: 'seconds to wait before minions are asked whether they still run the job' }),
  batch: p.scalar({ default: null, doc: 'maximum number or percentage of minions at a time' }),
  subset: p.scalar({ default: null, doc: 'only this many of the targeted, chosen at random' }),
  failhard: p.scalar({ default: null, doc: 'with `batch`: no further minions after a failure' }),
};

export type PublishArgs = ArgsOf<typeof publishParams>;

export interface PublishedCall {
  readonly type: 'state' | 'function';
  readonly name: string;
  readonly fun: string;
  readonly arg: readonly Value[];
  readonly kwargs: PlainDict;
  /** Includes minions without an answer. */
  readonly expectMinions: boolean;
}

function requestOf(args: PublishArgs, call: PublishedCall, ctx: StateContext): JobRequest {
  const seconds = Number(args.timeout ?? 0);
  const subset = Number(args.subset ?? 0);
  const failhard = args.failhard === true || ctx.opts['failhard'] === true;
  const extra = some({ ret_config: args.ret_config || null, ret_kwargs: args.ret_kwargs || null });
  return {
    tgt: Array.isArray(args.tgt) ? args.tgt.map(pyStr) : pyStr(args.tgt),
    tgt_type: args.tgt_type,
    fun: call.fun,
    arg: call.arg,
    kwargs: call.kwargs,
    ret: Array.isArray(args.ret) ? args.ret.map(pyStr).join(',') : pyStr(args.ret ?? ''),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
    ...(seconds > 0 ? { timeoutSeconds: seconds } : {}),
    ...(subset > 0 ? { subset } : {}),
    ...(args.batch !== null ? { batch: pyStr(args.batch) } : {}),
    ...(failhard ? { failhard } : {}),
  };
}

/** The job in the form of Salt's events. */
function shownRequest(args: PublishArgs, call: PublishedCall): PlainDict {
  const { ret, timeout, tgt_type, ssh, batch, subset } = args;
  const always = {
    arg: [...call.arg],
    kwarg: call.kwargs,
    ret,
    timeout,
    tgt_type,
    ssh,
    expect_minions: call.expectMinions,
  };
  return Object.assign(newDict(), always, some({ batch, subset }));
}

/** A target without matches gives an empty answer. */
export async function publish(args: PublishArgs, call: PublishedCall, ctx: StateContext): Promise<Answers> {
  const master = masterOf(ctx);
  if (args.ssh) throw new HaliteError('call.failed', 'salt-ssh is not available');
  const request = requestOf(args, call, ctx);
  const described = newDict([
    ['type', call.type],
    ['tgt', args.tgt],
    ['name', call.name],
    ['args', shownRequest(args, call)],
  ]);
  await announce(ctx, described);
  const byMinion = new Map<string, Answer>();
  try {
    const outcome = await master.runJob(request);
    for (const [id, { ret, retcode }] of Object.entries(outcome.returns)) byMinion.set(id, { ret, retcode });
    if (call.expectMinions) for (const id of Object.keys(outcome.missing)) byMinion.set(id, { retcode: 0 });
    return { jid: outcome.jid || undefined, byMinion };
  } catch (error) {
    if (error instanceof HaliteError && error.code === 'target.empty') return { jid: undefined, byMinion };
    throw error;
  }
}

/** `fail_minions` as a list; an error message for other types. */
export function failMinions(given: Value): { readonly ids: readonly string[]; readonly warnings: string[] } {
  if (given === null) return { ids: [], warnings: [] };
  if (typeof given === 'string') return { ids: given.split(',').map((id) => id.trim()), warnings: [] };
  if (Array.isArray(given)) return { ids: given.map(pyStr), warnings: [] };
  return { ids: [], warnings: ["'fail_minions' needs to be a list or a comma separated string. Ignored."] };
}
