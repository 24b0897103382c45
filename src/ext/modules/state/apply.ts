// Functions of `state` that apply states.
import {
  type Applied,
  type ApplyOptions,
  dictEntries,
  dictGet,
  dictOf,
  fn,
  invocationError,
  isDict,
  isTrue,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { exitCodes } from 'halite/sdk/jobs';
import { disabledTexts } from './disable.ts';
import { excludeOf, namesOf, openRun, pillarProblem, requirePillar } from './open.ts';
import { refuseConflict } from './queue.ts';

const test = p.scalar({ default: null, doc: 'True only reports what would change' });
const queue = p.oneOf(['bool', 'int', 'string'], {
  default: null,
  doc: 'True waits for a run in progress; a number does so unless that many wait',
});
const stateEvents = p.scalar({ default: null, doc: 'send an event for every finished state' });
const kwargs = p.kwargs({
  doc:
    "`pillar`: pillar over the minion's own; `pillar_enc`: its encryption; `saltenv`, `pillarenv`: environments; " +
    '`concurrent`: do not mind other runs; `mock`: check everything, call nothing; `localconfig`: a file of options; ' +
    '`cache`: apply the last compiled states again; `force`: go on in spite of pillar errors; `terse`: only what is not clean',
});
const mods = p.oneOf(['list', 'string'], { doc: 'SLS names, in a list or separated by commas; globs are understood' });
const exclude = p.oneOf(['list', 'dict', 'string'], {
  default: null,
  doc: 'SLS names, globs, or `{id: …}` and `{sls: …}` to leave out',
});

/** Returns the results and sets the job's return code. */
export function finish(applied: Applied, ctx: ModuleContext): Value {
  ctx.setRetcode(applied.retcode);
  return applied.return;
}

/** `terse`: omits results that are true and changed nothing. */
function tersely(value: Value, asked: PlainDict, ctx: ModuleContext): Value {
  if (!isDict(value) || !(isTrue(asked['terse']) || ctx.opts['state_data'] === 'terse')) return value;
  return dictOf(
    dictEntries(value).filter(([, result]) => {
      if (!isDict(result)) return true;
      return !isTruthy(dictGet(result, 'result')) || isTruthy(dictGet(result, 'changes'));
    }),
  );
}

function applyOptions(asked: PlainDict, excluded: Value | undefined): ApplyOptions {
  const { whitelist } = asked;
  return {
    exclude: excludeOf(excluded),
    cache: isTrue(asked['cache']),
    force: isTrue(asked['force']),
    ...(asked['cache_name'] ? { cacheName: pyStr(asked['cache_name']) } : {}),
    ...(whitelist ? { whitelist: namesOf(whitelist) } : {}),
  };
}

function pillarFailed(problem: Value[], ctx: ModuleContext): Value {
  ctx.setRetcode(exitCodes.pillarFailure);
  return problem;
}

interface HighstateArgs {
  readonly test: Value;
  readonly queue: Value;
  readonly state_events: Value;
  readonly kwargs: PlainDict;
}

async function highstate(args: HighstateArgs, ctx: ModuleContext): Promise<Value> {
  if (disabledTexts(['highstate'], ctx).length > 0) {
    return newDict([
      ['name', 'Salt highstate run is disabled. To re-enable, run state.enable highstate'],
      ['result', 'False'],
      ['comment', 'Disabled'],
    ]);
  }
  const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
  if (conflict !== undefined) return conflict;
  const run = await openRun(args.kwargs, ctx, { test: args.test, stateEvents: args.state_events });
  const problem = pillarProblem(run, args.kwargs);
  if (problem) return pillarFailed(problem, ctx);
  const applied = await run.apply.highstate(applyOptions(args.kwargs, args.kwargs['exclude']));
  return tersely(finish(applied, ctx), args.kwargs, ctx);
}

interface SlsArgs extends HighstateArgs {
  readonly mods: Value;
  readonly exclude: Value;
  readonly sync_mods: Value;
}

async function sls(args: SlsArgs, ctx: ModuleContext): Promise<Value> {
  const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
  if (conflict !== undefined) return conflict;
  const disabled = disabledTexts(Array.isArray(args.mods) ? args.mods.map(pyStr) : [pyStr(args.mods)], ctx);
  if (disabled.length > 0) {
    ctx.setRetcode(exitCodes.stateCompilerError);
    return disabled;
  }
  await syncBefore(args, ctx);
  const run = await openRun(args.kwargs, ctx, {
    test: args.test,
    stateEvents: args.state_events,
    needsEnvironment: true,
  });
  const problem = pillarProblem(run, args.kwargs);
  if (problem) return pillarFailed(problem, ctx);
  const applied = await run.apply.sls(namesOf(args.mods), applyOptions(args.kwargs, args.exclude));
  return tersely(finish(applied, ctx), args.kwargs, ctx);
}

/** `sync_mods`: kinds of users' extensions to synchronize first. */
async function syncBefore(args: SlsArgs, ctx: ModuleContext): Promise<void> {
  if (args.sync_mods === null) return;
  const asked = args.sync_mods === true ? ['all'] : namesOf(args.sync_mods);
  const saltenv = args.kwargs['saltenv'] ?? ctx.opts['saltenv'] ?? 'base';
  for (const kind of asked.includes('all') ? ['all'] : asked) {
    if (await ctx.registry.functionInfo('modules', `saltutil.sync_${kind}`)) {
      await ctx.callWith(`saltutil.sync_${kind}`, [], newDict([['saltenv', saltenv]]));
    } else ctx.log.warn(`Invalid custom module type '${kind}', ignoring`);
  }
}

/** Takes named arguments out of `kwargs`, as Python binds them. */
function take(given: PlainDict, names: readonly string[]): { taken: PlainDict; rest: PlainDict } {
  const taken = newDict(names.map((name) => [name, given[name] ?? null] as const));
  const rest = newDict(Object.entries(given).filter(([name]) => !names.includes(name)));
  return { taken, rest };
}

export function apply(what: Value, given: PlainDict, ctx: ModuleContext): Promise<Value> {
  if (isTruthy(what)) {
    const { taken, rest } = take(given, ['test', 'exclude', 'queue', 'sync_mods', 'state_events']);
    return sls({ ...(taken as unknown as Omit<SlsArgs, 'mods' | 'kwargs'>), mods: what, kwargs: rest }, ctx);
  }
  const { taken, rest } = take(given, ['test', 'queue', 'state_events']);
  return highstate({ ...(taken as unknown as Omit<HighstateArgs, 'kwargs'>), kwargs: rest }, ctx);
}

const outputter = 'highstate';

const whole = {
  apply: fn({
    doc: 'Applies SLS files, or everything the top file assigns to this minion when none is named.',
    examples: [
      "salt '*' state.apply",
      "salt '*' state.apply stuff,pkgs test=True",
      `salt '*' state.apply stuff pillar='{"foo": "bar"}'`,
    ],
    params: {
      mods: p.oneOf(['list', 'string'], { default: null, doc: 'SLS names; all of the top file when not given' }),
      kwargs,
    },
    outputter,
    run: (args, ctx) => apply(args.mods, args.kwargs, ctx),
  }),
  highstate: fn({
    doc: 'Applies everything the top file assigns to this minion.',
    examples: [
      "salt '*' state.highstate",
      "salt '*' state.highstate whitelist=sls1_to_run,sls2_to_run",
      "salt '*' state.highstate exclude=sls_to_exclude",
    ],
    params: { test, queue, state_events: stateEvents, kwargs },
    outputter,
    run: highstate,
  }),
  sls: fn({
    doc: 'Applies SLS files.',
    examples: ["salt '*' state.sls core,edit.vim", `salt '*' state.sls myslsfile pillar="{foo: 'Foo!', bar: 'Bar!'}"`],
    params: {
      mods,
      test,
      exclude,
      queue,
      sync_mods: p.oneOf(['bool', 'list', 'string'], {
        default: null,
        doc: 'kinds of extensions to bring up to date first, or `all`',
      }),
      state_events: stateEvents,
      kwargs,
    },
    outputter,
    run: sls,
  }),
  test: fn({
    doc: 'Reports what state.apply would change.',
    examples: ["salt '*' state.test", "salt '*' state.test stuff"],
    params: { args: p.rest(), kwargs },
    outputter,
    run: (args, ctx) =>
      apply(
        args.args[0] ?? args.kwargs['mods'] ?? null,
        Object.assign(newDict(Object.entries(args.kwargs)), { test: true }),
        ctx,
      ),
  }),
  top: fn({
    doc: 'Applies what another top file assigns to this minion.',
    examples: ["salt '*' state.top reverse_top.sls", "salt '*' state.top prod_top.sls exclude=sls_to_exclude"],
    params: { topfn: p.string({ doc: 'the top file' }), test, queue, kwargs },
    outputter,
    async run(args, ctx) {
      const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
      if (conflict !== undefined) return conflict;
      const opts: Record<string, Value> = {
        state_top_given: `salt://${args.topfn}`,
        state_top: `salt://${args.topfn}`,
      };
      const { saltenv } = args.kwargs;
      if (saltenv) Object.assign(opts, { state_top_saltenv_given: saltenv, state_top_saltenv: saltenv });
      const run = await openRun(args.kwargs, ctx, { test: args.test, opts });
      const problem = pillarProblem(run, args.kwargs);
      if (problem) return pillarFailed(problem, ctx);
      return finish(await run.apply.highstate(applyOptions(args.kwargs, args.kwargs['exclude'])), ctx);
    },
  }),
};

/** Arguments of the run itself, not of the single state. */
const runWords = new Set([
  'pillar',
  'pillar_enc',
  'pillarenv',
  'localconfig',
  'mock',
  'concurrent',
  'force',
  'orchestration_jid',
  'terse',
]);

const parts = {
  sls_id: fn({
    doc: 'Applies one id of SLS files, with its requirements.',
    examples: ["salt '*' state.sls_id my_state my_module", "salt '*' state.sls_id my_state my_module,a_common_module"],
    params: { id_: p.string({ doc: 'the id', aliases: ['id'] }), mods, test, queue, state_events: stateEvents, kwargs },
    outputter,
    async run(args, ctx) {
      const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
      if (conflict !== undefined) return conflict;
      const run = await openRun(args.kwargs, ctx, {
        test: args.test,
        stateEvents: args.state_events,
        needsEnvironment: true,
      });
      const problem = pillarProblem(run, args.kwargs);
      if (problem) return pillarFailed(problem, ctx);
      const applied = await run.apply.slsId(args.id_, namesOf(args.mods));
      if (!isTruthy(applied.return)) {
        const env = pyStr(run.opts['saltenv'] ?? null);
        throw invocationError(
          `No matches for ID '${args.id_}' found in SLS '${pyStr(args.mods)}' within saltenv '${env}'`,
        );
      }
      return finish(applied, ctx);
    },
  }),
  single: fn({
    doc: 'Applies one state function with the arguments given.',
    examples: ["salt '*' state.single pkg.installed name=vim"],
    params: { fun: p.string({ doc: 'the state function' }), name: p.string({ doc: 'its name' }), test, queue, kwargs },
    outputter,
    async run(args, ctx) {
      const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
      if (conflict !== undefined) return conflict;
      const [state, fun] = args.fun.split('.');
      if (!state || fun === undefined) {
        ctx.setRetcode(exitCodes.stateCompilerError);
        return 'Invalid function passed';
      }
      const run = await openRun(args.kwargs, ctx, { test: args.test });
      const own = Object.entries(args.kwargs).filter(([key]) => !key.startsWith('__pub_') && !runWords.has(key));
      const low = newDict(own);
      Object.assign(low, { state, fun, __id__: args.name, name: args.name });
      return finish(await run.apply.single(low), ctx);
    },
  }),
  low: fn({
    doc: 'Applies one chunk of low data; for tests of the state system.',
    examples: [`salt '*' state.low '{"state": "pkg", "fun": "installed", "name": "vi"}'`],
    params: { data: p.dict({ doc: 'the chunk' }), queue, kwargs },
    async run(args, ctx) {
      const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
      if (conflict !== undefined) return conflict;
      const low = newDict(dictEntries(args.data).map(([key, value]) => [pyStr(key), value] as const));
      low['__id__'] ??= low['name'] ?? null;
      return finish(await (await openRun(args.kwargs, ctx)).apply.low(low), ctx);
    },
  }),
  high: fn({
    doc: 'Applies high data; for tests of the state system.',
    examples: [`salt '*' state.high '{"vim": {"pkg": ["installed"]}}'`],
    params: { data: p.dict({ doc: 'id → state → arguments' }), test, queue, kwargs },
    async run(args, ctx) {
      const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
      if (conflict !== undefined) return conflict;
      return finish(await (await openRun(args.kwargs, ctx, { test: args.test })).apply.high(args.data), ctx);
    },
  }),
  template: fn({
    doc: 'Applies an SLS file of this machine.',
    examples: ["salt '*' state.template '<path on the minion>'"],
    params: { tem: p.path({ doc: 'its path; `.sls` is added when missing' }), queue, kwargs },
    outputter,
    async run(args, ctx) {
      const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
      if (conflict !== undefined) return conflict;
      const run = await openRun(args.kwargs, ctx);
      requirePillar(run, args.kwargs);
      const path = args.tem.endsWith('.sls') ? args.tem : `${args.tem}.sls`;
      return finish(await run.apply.template(path, pyStr(args.kwargs['saltenv'] ?? '')), ctx);
    },
  }),
  template_str: fn({
    doc: 'Applies states written in the argument itself.',
    examples: ["salt '*' state.template_str '<template>'"],
    params: { tem: p.string({ doc: 'the text of an SLS' }), queue, kwargs },
    outputter,
    async run(args, ctx) {
      const conflict = await refuseConflict(args.queue, args.kwargs, ctx);
      if (conflict !== undefined) return conflict;
      return finish(await (await openRun(args.kwargs, ctx)).apply.templateText(args.tem), ctx);
    },
  }),
};

export const applyFunctions = { ...whole, ...parts };
