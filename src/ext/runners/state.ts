// Runner `state`: orchestration (states that run on the master and act on minions), and events.
import {
  type Dict,
  defineRunner,
  dictEntries,
  dictGet,
  dictOf,
  HaliteError,
  isDict,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { matchesGlob, matchesWhole } from 'halite/sdk/text';

/** Runs a function of the module `state` on the master. An answer that is a text is an error. */
async function onMaster(
  ctx: MasterContext,
  fun: string,
  args: readonly Value[],
  kwargs: PlainDict,
  jid?: string,
): Promise<Value> {
  const user = ctx.job['user'];
  const outcome = await ctx.master.callModule(fun, args, kwargs, {
    jid,
    user: typeof user === 'string' ? user : undefined,
    signal: ctx.signal,
    progress: (text) => ctx.progress(text),
    print: (text) => ctx.print(text),
  });
  if (typeof outcome.return === 'string') throw new HaliteError('call.failed', outcome.return);
  return outcome.return;
}

function requireDict(pillar: Value): void {
  if (pillar === null || isDict(pillar)) return;
  throw new HaliteError('call.arguments', 'Pillar data must be formatted as a dictionary');
}

const idOf = (ctx: MasterContext): string => String(ctx.opts['id']);

/** Whether every state of a host succeeded; anything but results is a failure. */
function allWell(results: Value): boolean {
  if (!isDict(results)) return false;
  const entries = dictEntries(results);
  return entries.length > 0 && entries.every(([, result]) => isDict(result) && dictGet(result, 'result') !== false);
}

const given = (fields: Record<string, Value>): PlainDict =>
  newDict(Object.entries(fields).filter(([, value]) => value !== null));

const mods = p.oneOf(['list', 'string'], { doc: 'SLS names, in a list or separated by commas' });
const test = p.scalar({ default: null, doc: 'True only reports what would be done' });
const queue = p.ignored({ default: false, doc: 'accepted for compatibility: orchestrations run in parallel' });
const pillar = p.oneOf(['dict', 'list', 'string'], { default: null, doc: "values that override the master's pillar" });
const saltenv = p.string({ default: 'base', doc: 'the environment of the SLS files' });
const pillarParams = {
  pillar,
  pillarenv: p.string({ default: null, doc: 'the environment of the pillar' }),
  pillar_enc: p.string({ default: null, doc: 'the renderer that decrypts `pillar`' }),
};

const orchestrate = masterFn({
  doc: 'Applies SLS files on the master: states of `salt` in them act on minions, in the order of their requisites.',
  examples: ['salt-run state.orchestrate deploy', 'salt-run state.orchestrate deploy saltenv=dev test=True'],
  params: {
    mods,
    saltenv,
    test,
    exclude: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'SLS names or ids to exclude' }),
    ...pillarParams,
    orchestration_jid: p.text({ default: null, doc: 'the job id of the orchestration; default: its own' }),
  },
  async run(args, ctx) {
    requireDict(args.pillar);
    const own = ctx.job['jid'];
    const jid = args.orchestration_jid ?? (typeof own === 'string' && own !== '' ? own : undefined);
    const { exclude, pillarenv, pillar_enc } = args;
    const shared = { saltenv: args.saltenv, pillar: args.pillar, test: args.test };
    const kwargs = given({ exclude, pillarenv, pillar_enc, ...shared });
    if (jid !== undefined) kwargs['orchestration_jid'] = jid;
    const results = await onMaster(ctx, 'state.sls', [args.mods], kwargs, jid);
    return newDict([
      ['data', newDict([[idOf(ctx), results]])],
      ['outputter', 'highstate'],
      ['retcode', allWell(results) ? 0 : 1],
    ]);
  },
});

interface SingleRun {
  readonly test: Value;
  readonly pillar: Value;
  readonly kwargs: PlainDict;
}

/** Results of a single run by the master's id; a failed one is a failed job. */
async function applied(ctx: MasterContext, fun: string, positional: readonly Value[], run: SingleRun): Promise<Value> {
  requireDict(run.pillar);
  const kwargs = Object.assign(newDict(Object.entries(run.kwargs)), given({ test: run.test, pillar: run.pillar }));
  const results = await onMaster(ctx, fun, positional, kwargs);
  if (!allWell(results)) ctx.setRetcode(1);
  return newDict([[idOf(ctx), results]]);
}

const showSls = masterFn({
  doc: 'The data of SLS files after rendering on the master.',
  examples: ["salt-run state.orchestrate_show_sls deploy pillar='{nodegroup: ng1}'"],
  params: { mods, saltenv, test, queue, ...pillarParams },
  inOrder: true,
  async run(args, ctx) {
    requireDict(args.pillar);
    const { pillarenv, pillar_enc } = args;
    const kwargs = given({ pillarenv, pillar_enc, saltenv: args.saltenv, pillar: args.pillar, test: args.test });
    return newDict([[idOf(ctx), await onMaster(ctx, 'state.show_sls', [args.mods], kwargs)]]);
  },
});

/** As in Salt, a pattern is compared as plain text, as a glob, and as a regular expression for the whole tag. */
function tagTest(pattern: string): (tag: string) => boolean {
  return (tag) => tag === pattern || matchesGlob(tag, pattern) || matchesWhole(tag, pattern);
}

const event = masterFn({
  doc: 'Prints events of the master as they arrive: tag, tab, data as JSON.',
  examples: ['salt-run state.event pretty=True', "salt-run state.event 'salt/minion/*/start' count=1 quiet=True"],
  params: {
    tagmatch: p.string({ default: '*', doc: 'a glob or regular expression for tags' }),
    count: p.int({ default: -1, doc: 'end after this many events; -1 continues until interrupted' }),
    quiet: p.bool({ default: false, doc: 'wait, but print nothing' }),
    sock_dir: p.string({ default: null, doc: 'accepted for compatibility' }),
    pretty: p.bool({ default: false, doc: 'JSON over several lines, with sorted keys' }),
    node: p.string({ default: 'master', doc: 'accepted for compatibility: the bus is the master’s' }),
  },
  async run({ tagmatch, count, quiet, pretty }, ctx) {
    const matches = tagTest(tagmatch);
    let left = count;
    for await (const { tag, data } of ctx.master.subscribe('', ctx.signal)) {
      if (!matches(tag)) continue;
      if (!quiet)
        ctx.print(
          `${tag}\t${dumpJson(data, { ensureAscii: false, ...(pretty ? { indent: 4, sortKeys: true } : {}) })}`,
        );
      if (left > 0) left--;
      if (left === 0) break;
    }
    return null;
  },
});

const jid = p.text({ doc: 'the job of the orchestration' });
const stateId = p.string({ default: null, doc: 'before which state; before the next one when not given' });
const marking = (doc: string, fun: string) =>
  masterFn({
    doc,
    examples: [`salt-run state.${fun} 20171130110407769519`],
    params: { jid, state_id: stateId },
    run: (args, ctx) => onMaster(ctx, `state.${fun}`, [args.jid], given({ state_id: args.state_id })),
  });

const pause = masterFn({
  doc: 'Pauses an orchestration before a state.',
  examples: ['salt-run state.pause 20171130110407769519', 'salt-run state.pause 20171130110407769519 vim 20'],
  params: { jid, state_id: stateId, duration: p.scalar({ default: null, doc: 'seconds to wait at most' }) },
  run: (args, ctx) =>
    onMaster(ctx, 'state.pause', [args.jid], given({ state_id: args.state_id, duration: args.duration })),
});
const resume = marking('Lets an orchestration go on.', 'resume');

/** `salt.state: […]` is `salt: […, state]`, as in SLS files; Salt itself silently runs nothing here. */
function withFunctions(data: Dict): Dict {
  return dictOf(
    dictEntries(data).map(([id, body]) => {
      if (!isDict(body)) return [id, body] as const;
      const spelled = dictEntries(body).map(([key, args]): readonly [Value, Value] => {
        const [state, fun] = typeof key === 'string' && !key.startsWith('__') ? key.split('.') : [];
        if (!state || !fun) return [key, args];
        return [state, [...(Array.isArray(args) ? args : []), fun]];
      });
      return [id, dictOf(spelled)] as const;
    }),
  );
}

export default defineRunner({
  name: 'state',
  doc: 'Applies states on the master that act on minions, in order.',
  functions: {
    orchestrate,
    orch: orchestrate,
    sls: orchestrate,
    orchestrate_show_sls: showSls,
    orch_show_sls: showSls,
    orchestrate_single: masterFn({
      doc: 'Applies one state function on the master.',
      examples: ['salt-run state.orchestrate_single fun=salt.wheel name=key.list_all'],
      params: {
        fun: p.string({ doc: 'the state function' }),
        name: p.scalar({ nullable: true, doc: 'its name' }),
        test,
        queue,
        pillar,
        kwargs: p.kwargs({ doc: 'arguments of the state function' }),
      },
      outputter: 'highstate',
      run(args, ctx) {
        return applied(ctx, 'state.single', [args.fun, args.name], args);
      },
    }),
    orchestrate_high: masterFn({
      doc: 'Applies high data on the master.',
      examples: [`salt-run state.orchestrate_high '{one: {salt.state: [{tgt: "db*"}, {sls: postgres}]}}'`],
      params: {
        data: p.dict({ doc: 'id → state → arguments' }),
        test,
        queue,
        pillar,
        kwargs: p.kwargs({ doc: '`saltenv` and other settings of the run' }),
      },
      outputter: 'highstate',
      run(args, ctx) {
        return applied(ctx, 'state.high', [withFunctions(args.data)], args);
      },
    }),
    event,
    pause,
    set_pause: pause,
    resume,
    rm_pause: resume,
    soft_kill: marking('Ends an orchestration before a state, between two states.', 'soft_kill'),
  },
});
