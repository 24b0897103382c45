// `salt.state`: applies states on minions and shows their results as changes.
import {
  type ArgsOf,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyRepr,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { type Answer, type Answers, failMinions, publish, publishParams } from './publish.ts';
import { isMasterless, some } from './reach.ts';

const params = {
  name: p.scalar({ nullable: true, doc: 'a unique text' }),
  ...publishParams,
  highstate: p.scalar({ default: null, doc: 'True applies everything the top file assigns; `sls` is ignored' }),
  sls: p.oneOf(['list', 'string'], { default: null, doc: 'SLS names, in a list or separated by commas' }),
  top: p.scalar({ default: null, doc: 'a top file to use instead of `sls`' }),
  saltenv: p.scalar({ default: null, doc: 'the environment of the SLS files' }),
  test: p.scalar({ default: null, doc: 'True or False for the minions, regardless of their options' }),
  pillar: p.oneOf(['dict', 'list', 'string'], { default: null, doc: "values that override the minions' pillar" }),
  pillarenv: p.scalar({ default: null, doc: 'the environment of the pillar' }),
  expect_minions: p.bool({ default: true, doc: 'minions that do not answer count as failed' }),
  exclude: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'SLS names or ids to exclude' }),
  allow_fail: p.scalar({ default: 0, nullable: true, doc: 'how many minions may fail' }),
  concurrent: p.scalar({ default: false, nullable: true, doc: 'ignore other state runs of the minions' }),
  queue: p.scalar({ default: false, nullable: true, doc: 'wait for other state runs of the minions' }),
  orchestration_jid: p.ignored({ default: null, doc: 'accepted for compatibility' }),
  kwargs: p.kwargs({ doc: '`roster`: the source of SSH targets' }),
};

type StateArgs = ArgsOf<typeof params>;

/** The function that minions run, and the name of its argument. */
function functionOf({ highstate, top, sls }: StateArgs): { fun: string; word?: [string, string] } | undefined {
  if (isSet(highstate)) return { fun: 'state.highstate' };
  if (isSet(top)) return { fun: 'state.top', word: ['topfn', pyStr(top)] };
  if (isSet(sls))
    return { fun: 'state.sls', word: ['mods', Array.isArray(sls) ? sls.map(pyStr).join(',') : pyStr(sls)] };
  return undefined;
}

function isSet(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isDict(value) ? dictEntries(value).length > 0 : Boolean(value);
}

function stateKwargs(args: StateArgs, ctx: StateContext): PlainDict {
  const test = args.test ?? (isSet(ctx.opts['test'] ?? null) ? ctx.opts['test']! : null);
  const { pillarenv, saltenv, exclude, queue, concurrent } = args;
  return some({
    test,
    pillar: isSet(args.pillar) ? args.pillar : null,
    pillarenv,
    saltenv,
    exclude,
    queue,
    concurrent,
  });
}

async function ask(
  args: StateArgs,
  fun: string,
  word: [string, string] | undefined,
  ctx: StateContext,
): Promise<Answers> {
  const kwargs = stateKwargs(args, ctx);
  if (isMasterless(ctx)) {
    const named = Object.assign(kwargs, word ? newDict([word]) : {}, { concurrent: true });
    const ret = await ctx.callWith(fun, [], named);
    return { jid: undefined, byMinion: new Map([[ctx.id, { ret, retcode: 0 }]]) };
  }
  const call = { type: 'state' as const, name: pyStr(args.name), fun, arg: word ? [word[1]] : [], kwargs };
  return publish(args, { ...call, expectMinions: args.expect_minions }, ctx);
}

/** Whether everything in a result succeeded, at any depth. */
function allWell(results: Value | undefined): boolean {
  if (results === undefined || !isDict(results)) return false;
  const entries = dictEntries(results);
  return (
    entries.length > 0 &&
    entries.every(([, result]) => {
      if (!isDict(result)) return true;
      const verdict = dictGet(result, 'result');
      return verdict === undefined ? allWell(result) : verdict !== false;
    })
  );
}

/** A message about a failure that is not a failed state. */
function failureDetail(id: string, { ret }: Answer): string {
  if (ret === undefined) return `Minion ${id} did not return a state result.`;
  if (Array.isArray(ret)) {
    const texts = ret.filter(isSet).map(pyStr);
    if (texts.length === 0) return `Minion ${id} returned an empty error list.`;
    return `Minion ${id} returned errors: ${texts.join('; ')}`;
  }
  return isDict(ret) ? '' : `Minion ${id} returned ${pyRepr(ret)} instead of a state result.`;
}

const hasChanges = (ret: Value | undefined): boolean =>
  isDict(ret ?? null) &&
  dictEntries(ret as PlainDict).some(([, result]) => isDict(result) && isSet(dictGet(result, 'changes') ?? null));

interface Sorted {
  readonly changes: PlainDict;
  readonly failed: string[];
  readonly unchanged: string[];
  readonly details: string[];
}

function sortAnswers(byMinion: ReadonlyMap<string, Answer>, mayFail: readonly string[]): Sorted {
  const sorted: Sorted = { changes: newDict(), failed: [], unchanged: [], details: [] };
  for (const [id, answer] of byMinion) {
    if (!allWell(answer.ret)) {
      sorted.changes[id] = answer.ret === undefined ? false : answer.ret;
      if (mayFail.includes(id)) continue;
      sorted.failed.push(id);
      const detail = failureDetail(id, answer);
      if (detail) sorted.details.push(detail);
    } else if (hasChanges(answer.ret)) sorted.changes[id] = answer.ret!;
    else sorted.unchanged.push(id);
  }
  return sorted;
}

function successText(changed: readonly string[], unchanged: readonly string[]): string {
  const updated = changed.length > 0 ? ` Updating ${changed.join(', ')}.` : '';
  const same = unchanged.length > 0 ? ` No changes made to ${unchanged.join(', ')}.` : '';
  return `States ran successfully.${updated}${same}`;
}

export const stateFunction = state({
  doc: 'Applies states on minions: SLS files, another top file, or the highstate.',
  params,
  async run(args, ctx): Promise<StateResult> {
    const allowed = Number(args.allow_fail);
    if (!Number.isInteger(allowed)) return ctx.fail("Passed invalid value for 'allow_fail', must be an int");
    const asked = functionOf(args);
    if (!asked) return ctx.fail('No highstate or sls specified, no execution made');
    if (typeof args.concurrent !== 'boolean') return ctx.fail("Must pass in boolean for value of 'concurrent'");
    const { jid, byMinion } = await ask(args, asked.fun, asked.word, ctx);
    const { ids, warnings } = failMinions(args.fail_minions);
    const extra = { ...(jid ? { __jid__: jid } : {}), ...(warnings.length > 0 ? { warnings } : {}) };
    if (byMinion.size === 0 && args.expect_minions) return ctx.fail('No minions returned', extra);
    const { changes, failed, unchanged, details } = sortAnswers(byMinion, ids);
    const changed = Object.keys(changes);
    const shown = changed.length > 0 ? newDict([['out', 'highstate'] as const, ['ret', changes] as const]) : newDict();
    if (failed.length > allowed) {
      const comment = [`Run failed on minions: ${failed.sort().join(', ')}`, ...details.sort()].join('\n');
      return ctx.fail(comment, { ...extra, changes: shown });
    }
    // The minions ran in test mode themselves.
    const trial = (isSet(args.test) || ctx.test) && changed.length > 0;
    return ctx.result({
      ...extra,
      result: trial ? null : true,
      comment: successText(changed, unchanged),
      changes: shown,
    });
  },
});
