// `salt.function`: runs an execution function on minions and shows their results.
import {
  isTruthy,
  messageOf,
  newDict,
  type PlainDict,
  p,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { type Answer, type Answers, failMinions, publish, publishParams } from './publish.ts';

interface Judged {
  readonly changes: PlainDict;
  readonly failed: string[];
}

async function judge(
  byMinion: ReadonlyMap<string, Answer>,
  mayFail: readonly string[],
  failFunction: string | null,
  ctx: StateContext,
): Promise<Judged> {
  const judged: Judged = { changes: newDict(), failed: [] };
  for (const [id, { ret, retcode }] of byMinion) {
    judged.changes[id] = ret === undefined ? false : ret;
    if (retcode !== 0) {
      // As in Salt, a return code counts even for minions that may fail.
      judged.failed.push(id);
      continue;
    }
    const well =
      ret !== undefined && ret !== false && (failFunction === null || isTruthy(await ctx.call(failFunction, ret)));
    if (!well && !mayFail.includes(id)) judged.failed.push(id);
  }
  return judged;
}

function listOf(arg: Value): { readonly arg: Value[]; readonly warnings: string[] } {
  if (typeof arg !== 'string') return { arg: Array.isArray(arg) ? arg : arg === null ? [] : [arg], warnings: [] };
  const words = arg.split(/\s+/).filter((word) => word !== '');
  return { arg: words, warnings: ["Please specify 'arg' as a list of arguments."] };
}

export const functionFunction = state({
  doc: 'Runs an execution function on minions.',
  params: {
    name: p.string({ doc: 'the function' }),
    ...publishParams,
    expect_minions: p.bool({ default: false, doc: 'minions that do not answer count as failed' }),
    fail_function: p.string({
      default: null,
      doc: 'an execution function that receives a result and returns whether it is successful',
    }),
    arg: p.any({ default: null, doc: 'list of arguments' }),
    kwarg: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'dictionary of keyword arguments' }),
    kwargs: p.kwargs({ doc: '`roster`: the source of SSH targets' }),
  },
  async run(args, ctx): Promise<StateResult> {
    const { name } = args;
    const given = listOf(args.arg);
    const mayFail = failMinions(args.fail_minions);
    const warned = (warnings: string[]) => (warnings.length > 0 ? { warnings } : {});
    const foreseen = (): StateResult => {
      const comment = `Function ${name} would be executed on target ${String(args.tgt)}`;
      return ctx.result({ result: null, comment, ...warned(given.warnings) });
    };
    return withForecast(ctx, foreseen, async () => {
      let answers: Answers;
      try {
        const call = { type: 'function' as const, name, fun: name, arg: given.arg, kwargs: textKeyed(args.kwarg) };
        answers = await publish(args, { ...call, expectMinions: args.expect_minions }, ctx);
      } catch (error) {
        return ctx.fail(messageOf(error), warned(given.warnings));
      }
      const { jid, byMinion } = answers;
      const extra = { ...(jid ? { __jid__: jid } : {}), ...warned([...given.warnings, ...mayFail.warnings]) };
      if (byMinion.size === 0) return ctx.fail('No minions responded', extra);
      const { changes, failed } = await judge(byMinion, mayFail.ids, args.fail_function, ctx);
      const ran = ` Function ${name} ran on ${Object.keys(changes).join(', ')}.`;
      const said =
        failed.length > 0
          ? `Running function ${name} failed on minions: ${failed.sort().join(', ')}`
          : 'Function ran successfully.';
      return ctx.result({
        ...extra,
        result: failed.length === 0,
        comment: `${said}${ran}`,
        changes: newDict([['ret', changes]]),
      });
    });
  },
});
