// `salt.runner`, `salt.wheel` and `salt.parallel_runners`: functions of the master as states.
import {
  dictEntries,
  dictGet,
  HaliteError,
  isDict,
  type MasterFunctionReport,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { announce, masterOf, orchestrationJid } from './reach.ts';

type Kind = 'runners' | 'wheel';

async function callMaster(
  kind: Kind,
  fun: string,
  args: readonly Value[],
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<MasterFunctionReport> {
  const master = masterOf(ctx);
  const shown: [string, Value][] =
    kind === 'runners'
      ? [
          ['type', 'runner'],
          ['name', fun],
          ['args', [...args]],
          ['kwargs', kwargs],
        ]
      : [
          ['type', 'wheel'],
          ['name', fun],
          ['args', kwargs],
        ];
  await announce(ctx, newDict(shown));
  return master.callFunction({
    kind,
    fun,
    args,
    kwargs,
    saltenv: ctx.saltenv,
    orchestrationJid: orchestrationJid(ctx),
  });
}

/** Arguments written beside `name`, with `arg` and `kwarg` expanded for runners. */
function argumentsOf(given: PlainDict, split: boolean): { args: Value[]; kwargs: PlainDict } {
  const own = Object.entries(given).filter(([key]) => !key.startsWith('__'));
  if (!split) return { args: [], kwargs: newDict(own) };
  const { arg = null, kwarg = null } = given;
  const kwargs = textKeyed(kwarg);
  for (const [key, value] of own)
    if (!['arg', 'kwarg', 'full_return', 'saltenv', 'jid'].includes(key)) kwargs[key] = value;
  return { args: Array.isArray(arg) ? arg : arg === null ? [] : [arg], kwargs };
}

/** A missing function is a failed step with a clear message instead of a traceback. */
function unknownFunction(error: unknown): MasterFunctionReport {
  if (!(error instanceof HaliteError) || error.code !== 'call.unknown') throw error;
  return { jid: '', return: error.message, success: false, retcode: 1 };
}

const single = (kind: Kind, word: 'Runner' | 'Wheel', doc: string) =>
  state({
    doc,
    params: { name: p.string({ doc: 'the function' }), kwargs: p.kwargs({ doc: 'its arguments' }) },
    run: ({ name, kwargs: given }, ctx) =>
      withForecast(
        ctx,
        () => ctx.result({ result: null, comment: `${word} function '${name}' would be executed.` }),
        async () => {
          const { args, kwargs } = argumentsOf(given, kind === 'runners');
          const report = await callMaster(kind, name, args, kwargs, ctx).catch(unknownFunction);
          const refused = isDict(report.return) && dictGet(report.return, 'Error') !== undefined;
          const success = report.success && !refused;
          return ctx.result({
            result: success,
            comment: `${word} function '${name}' ${success ? 'executed' : 'failed'}.`,
            changes: newDict([['return', report.return]]),
            ...(report.jid ? { __jid__: report.jid } : {}),
          });
        },
      ),
  });

export const runnerFunction = single('runners', 'Runner', 'Runs a runner function on the master.');
export const wheelFunction = single('wheel', 'Wheel', 'Runs a wheel function on the master.');

interface Planned {
  readonly id: string;
  readonly name: string;
  readonly kwargs: PlainDict;
}

/** The runners to start, by their ids; undefined when their form is wrong. */
function plan(runners: Value): Planned[] | undefined {
  if (typeof runners === 'string') return [{ id: runners, name: runners, kwargs: newDict() }];
  if (!isDict(runners)) return undefined;
  return dictEntries(runners).map(([key, config]) => {
    const fields = newDict();
    for (const item of Array.isArray(config) ? config : [config]) Object.assign(fields, textKeyed(item));
    const id = pyStr(key);
    return { id, name: pyStr(fields['name'] ?? id), kwargs: textKeyed(fields['kwarg'] ?? null) };
  });
}

const isHighstate = (value: Value): boolean =>
  isDict(value) && dictGet(value, 'outputter') === 'highstate' && dictGet(value, 'data') !== undefined;

/** The changes in state results, without empty ones. */
function changesIn(value: Value): Value {
  if (!isDict(value)) return newDict();
  const changes = dictGet(value, 'changes');
  if (changes !== undefined) {
    const nested = isDict(changes) && dictGet(changes, 'out') === 'highstate' ? dictGet(changes, 'ret') : undefined;
    return nested ?? changes;
  }
  const found = newDict();
  for (const [key, inner] of dictEntries(value)) {
    const changed = changesIn(inner);
    if (!isDict(changed) || dictEntries(changed).length > 0) found[pyStr(key)] = changed;
  }
  return found;
}

function failureText(failed: readonly string[], reports: ReadonlyMap<string, MasterFunctionReport>): string {
  if (failed.length === 0) return 'All runner functions executed successfully.';
  const texts = failed.flatMap((id) => {
    const value = reports.get(id)?.return;
    return typeof value === 'string' ? [value] : [];
  });
  const who = failed.length === 1 ? `Runner ${failed[0]} failed.` : `Runners ${failed.join(', ')} failed.`;
  return [who, ...texts].join('\n');
}

export const parallelRunners = state({
  doc: 'Runs several runner functions on the master at the same time.',
  params: {
    name: p.scalar({ nullable: true, doc: 'a unique text' }),
    runners: p.any({ doc: 'id → `name` (the function; default: the id) and `kwarg` (its arguments)' }),
    kwargs: p.kwargs({ doc: 'other arguments are accepted' }),
  },
  async run({ runners }, ctx): Promise<StateResult> {
    const planned = plan(runners);
    if (!planned) return ctx.fail('The runners parameter must be a string or dict.');
    const foreseen = (): StateResult => {
      const names = planned.map(({ id }) => id).join(', ');
      return ctx.result({ result: null, comment: `Runners ${names} would be executed.` });
    };
    return withForecast(ctx, foreseen, async () => {
      const reports = new Map<string, MasterFunctionReport>();
      try {
        const done = await Promise.all(planned.map(({ name, kwargs }) => callMaster('runners', name, [], kwargs, ctx)));
        for (const [at, { id }] of planned.entries()) reports.set(id, done[at]!);
      } catch (error) {
        if (!(error instanceof HaliteError)) throw error;
        return ctx.fail(`One of the runners raised an exception: ${error.message}`);
      }
      const all = [...reports];
      const failed = all.filter(([, { success, retcode }]) => !success || retcode !== 0).map(([id]) => id);
      const comment = failureText(failed, reports);
      if (!all.every(([, report]) => isHighstate(report.return))) {
        const returns = newDict(all.map(([id, report]) => [id, report.return] as const));
        return ctx.result({ result: failed.length === 0, comment, changes: newDict([['ret', returns]]) });
      }
      const changes = changesIn(
        newDict(all.map(([id, { return: ret }]) => [id, isDict(ret) ? dictGet(ret, 'data')! : null])),
      );
      return ctx.result({ result: failed.length === 0, comment, changes });
    });
  },
});
