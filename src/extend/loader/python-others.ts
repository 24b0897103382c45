// Kinds of users' Python that have one main function: sdb, engines, tops, rosters, outputters, executors and serializers.
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { ExecutorContext, OutputOptions, RosterContext, RosterTarget, TopsContext } from '../sdk/index.ts';
import type { Described, PythonCaller, PythonParts } from './python.ts';
import { callArguments } from './python-arguments.ts';

/** `get(key, service=, profile=)`, `set_` and `delete_`. */
export function sdbOf(parts: PythonParts, { functions }: Described): object {
  const call = (fun: string, args: Value[], profile: Value, ctx: PythonCaller): Promise<Value> =>
    parts.host.run({ ...parts, fun, args, kwargs: newDict([['profile', profile]]) }, ctx, parts.finder);
  const setter = ['set', 'set_'].find((name) => functions[name]);
  const remover = ['delete', 'delete_'].find((name) => functions[name]);
  return {
    get: (key: string, profile: Value, ctx: PythonCaller) => call('get', [key], profile, ctx),
    ...(setter && {
      set: (key: string, value: Value, profile: Value, ctx: PythonCaller) => call(setter, [key, value], profile, ctx),
    }),
    ...(remover && { delete: (key: string, profile: Value, ctx: PythonCaller) => call(remover, [key], profile, ctx) }),
  };
}

/** `start(**config)`, in a process of its own as long as it runs. */
export function engineOf(parts: PythonParts, { functions }: Described): object {
  const { start } = functions;
  if (!start) return {};
  return {
    params: start.params,
    async start(config: Readonly<Record<string, unknown>>, ctx: PythonCaller): Promise<void> {
      await parts.host.run({ ...parts, fun: 'start', ...callArguments(start.params, config) }, ctx, parts.finder);
    },
  };
}

/** `top(**kwargs)` with the options and grains of the minion; its settings are in `__opts__['master_tops']`. */
export function topsOf(parts: PythonParts, { functions }: Described): object {
  if (!functions['top']) return {};
  return {
    async assign(_settings: Value, ctx: TopsContext): Promise<Value> {
      const opts = newDict([...Object.entries(ctx.minionOpts), ['id', ctx.minionId], ['grains', ctx.grains]]);
      const kwargs = newDict(Object.entries({ opts, grains: ctx.grains }));
      return mapOf(parts, 'top', await parts.host.run({ ...parts, fun: 'top', args: [], kwargs }, ctx, parts.finder));
    },
  };
}

/** `targets(tgt, tgt_type='glob', **kwargs)`. */
export function rosterOf(parts: PythonParts, { functions }: Described): object {
  if (!functions['targets']) return {};
  return {
    async targets({ tgt, kind }: RosterTarget, ctx: RosterContext): Promise<Value> {
      const args: Value[] = [typeof tgt === 'string' ? tgt : [...tgt], kind];
      const call = { ...parts, fun: 'targets', args, kwargs: newDict() };
      return mapOf(parts, 'targets', await parts.host.run(call, ctx, parts.finder));
    },
  };
}

function mapOf({ file }: PythonParts, fun: string, value: Value): Value {
  if (isDict(value)) return value;
  throw new HaliteError('call.failed', `${file.path}: ${fun} did not return a map`);
}

/** `output(data, **kwargs)`. */
export function outputterOf(parts: PythonParts, { functions }: Described): object {
  if (!functions['output']) return {};
  return {
    async render(data: Value, { opts }: OutputOptions): Promise<string> {
      const call = { ...parts, fun: 'output', args: [data], kwargs: newDict() };
      const shown = await parts.host.run(call, { opts }, parts.finder);
      return typeof shown === 'string' ? shown : String(shown ?? '');
    },
  };
}

/** `execute(opts, data, func, args, kwargs)`, where `func` is the function of the job; None passes on to the next. */
export function executorOf(parts: PythonParts, { functions }: Described): object {
  if (!functions['execute']) return {};
  return {
    async execute(asked: { fun: string; args: Value[]; kwargs: PlainDict; data: PlainDict }, ctx: ExecutorContext) {
      // The function itself stays here: Python gets a stand-in that calls it through __salt__.
      const args: Value[] = [newDict(Object.entries(ctx.opts)), asked.data, asked.fun, asked.args, asked.kwargs];
      const call = { ...parts, fun: 'execute', args, kwargs: newDict() };
      const value = await parts.host.run(call, ctx as PythonCaller, parts.finder);
      return value === null ? undefined : value;
    },
  };
}

/** `serialize(obj, **options)` and `deserialize(stream_or_string, **options)`. */
export function serializerOf(parts: PythonParts, { functions }: Described): object {
  const directions = ['serialize', 'deserialize'].filter((direction) => functions[direction]);
  return Object.fromEntries(
    directions.map((fun) => [
      fun,
      (value: Value, options: PlainDict, ctx: PythonCaller) =>
        parts.host.run({ ...parts, fun, args: [value], kwargs: options }, ctx, parts.finder),
    ]),
  );
}
