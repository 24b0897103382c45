// What Python may ask of Halite while one of its functions runs: a closed table.
import {
  asList,
  asPlainDict,
  asText,
  dictEntries,
  fieldOf,
  isDict,
  isTexts,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { FunctionKind, PythonCaller, PythonFinder } from '../../extend/loader/index.ts';
import type {
  JobRequest,
  MasterServices,
  MinionServices,
  ModuleContext,
  OrchestrationServices,
} from '../../extend/sdk/index.ts';
import { listen, nextEvent, unlisten } from './events.ts';

export interface Asked {
  readonly caller: PythonCaller;
  readonly finder: PythonFinder;
}
type Answer = (args: readonly Value[], asked: Asked) => Promise<Value>;

const refuse = (what: string): never => {
  throw new HaliteError('call.failed', `${what} is not possible here`);
};
const text = (value: Value | undefined): string => asText(value) ?? '';

/** Parts that only some contexts have. The contexts are Halite's own objects, never data from outside. */
type Master = Partial<MasterServices> & Partial<Omit<OrchestrationServices, 'runJob'>>;
const masterOf = ({ caller }: Asked): Master => (caller.master ?? {}) as Master;
const minionOf = ({ caller }: Asked): Partial<MinionServices> => (caller.minion ?? {}) as Partial<MinionServices>;
const showOf = ({ caller }: Asked): Pick<ModuleContext, 'show'> => caller as Pick<ModuleContext, 'show'>;

const table: Readonly<Record<string, Answer>> = {
  function: ([space, name, args, kwargs], asked) =>
    callFunction(spaceOf(space), text(name), asList(args) ?? [], plain(kwargs), asked),
  has: async ([space, name], { finder }) => (await finder.functionInfo(spaceOf(space), text(name))) !== undefined,
  names: async ([space], { finder }) => finder.functionNames(spaceOf(space)),
  describe: async ([space, name], { finder }) => describe(spaceOf(space), text(name), finder),
  running: async (_args, { caller }) => newDict(Object.entries(caller.running ?? {})),
  lowstate: async (_args, { caller }) => (caller.lowstate ?? []).map((low) => newDict(Object.entries(low))),
  progress: async ([line], { caller }) => {
    caller.progress?.(text(line));
    return null;
  },
  print: async ([lines], { caller }) => {
    caller.print?.(text(lines));
    return caller.print !== undefined;
  },
  event: fire,
  listen: (_args, { caller }) => listen(caller),
  next_event: (args, { caller }) => nextEvent(caller, args),
  unlisten: async ([n], { caller }) => unlisten(caller, n),
  proxy: async ([name, args, kwargs], { caller }) => {
    const { proxy, fun } = proxyFunction(name, caller);
    return fun === undefined ? refuse(`calling ${text(name)}`) : proxy.call(fun, asList(args) ?? [], plain(kwargs));
  },
  proxy_has: async ([name], { caller }) => {
    const { proxy, fun } = proxyFunction(name, caller);
    return fun !== undefined && proxy.has(fun);
  },
  proxy_names: async (_args, { caller }) => {
    const { proxy } = caller;
    return proxy ? (await proxy.names()).map((name) => `${proxy.type}.${name}`) : [];
  },
  match: async ([expression, kind], asked) =>
    masterOf(asked).fleet?.match(text(expression), text(kind)) ?? refuse('a target'),
  matches: async ([expression, kind], { caller }) =>
    caller.match ? caller.match(text(expression), text(kind)) : refuse('matching a minion'),
  publish,
  pillar: async ([options], asked) => {
    const minion = minionOf(asked);
    if (!minion.compilePillar) return refuse('compiling the pillar');
    const override = fieldOf(options, 'override');
    const saltenv = asText(fieldOf(options, 'saltenv'));
    const pillarenv = asText(fieldOf(options, 'pillarenv'));
    return minion.compilePillar({
      ...(isDict(override) ? { override } : {}),
      ...(saltenv === undefined ? {} : { saltenv }),
      ...(pillarenv === undefined ? {} : { pillarenv }),
    });
  },
  render: async ([source, pipe, variables, renderer], { caller }) => {
    if (!caller.render) return refuse('rendering');
    const context = asPlainDict(variables);
    return caller.render(text(source), {
      ...(typeof pipe === 'string' ? { pipe } : {}),
      ...(typeof renderer === 'string' ? { renderer } : {}),
      ...(context ? { context } : {}),
    });
  },
  show: async ([data, outputter], asked) => {
    const { show } = showOf(asked);
    const shown = await show?.(data ?? null, text(outputter), { color: false, opts: asked.caller.opts });
    return shown ?? refuse(`the outputter ${text(outputter)}`);
  },
  yaml_load: async ([source]) => {
    const { loadYaml } = await import('../../base/codec/yaml/index.ts');
    return loadYaml(text(source));
  },
  yaml_dump: async ([data]) => {
    const { dumpYaml } = await import('../../base/codec/yaml/index.ts');
    return dumpYaml(data ?? null);
  },
};

/** `type.function` of this minion's own device. */
function proxyFunction(name: Value | undefined, { proxy }: PythonCaller) {
  if (!proxy) return refuse('reaching a proxied device');
  const start = `${proxy.type}.`;
  return { proxy, fun: text(name).startsWith(start) ? text(name).slice(start.length) : undefined };
}

export async function answer(what: string, args: readonly Value[], asked: Asked): Promise<Value> {
  if (!Object.hasOwn(table, what))
    throw new HaliteError('call.unknown', `Python asked for "${what}", which does not exist`);
  return table[what]!(args, asked);
}

const spaces: readonly FunctionKind[] = ['modules', 'states', 'runners', 'wheel'];

function spaceOf(value: Value | undefined): FunctionKind {
  return spaces.find((space) => space === value) ?? refuse(`a function of "${text(value)}"`);
}

function plain(value: Value | undefined): PlainDict {
  if (value === undefined || !isDict(value)) return newDict();
  return newDict(dictEntries(value).map(([key, item]) => [String(key), item]));
}

async function callFunction(
  space: FunctionKind,
  name: string,
  args: readonly Value[],
  kwargs: PlainDict,
  asked: Asked,
): Promise<Value> {
  const { caller } = asked;
  if (space === 'states') return callState(name, args, kwargs, asked);
  if (space === 'runners' || space === 'wheel') return callMaster(space, name, args, kwargs, asked);
  if (caller.callWith) return caller.callWith(name, args, kwargs);
  if (caller.call && Object.keys(kwargs).length === 0) return caller.call(name, ...args);
  return refuse(`calling ${name}`);
}

/** In the master itself directly, in its job processes and engines as a job of its own. */
async function callMaster(
  kind: 'runners' | 'wheel',
  fun: string,
  args: readonly Value[],
  kwargs: PlainDict,
  asked: Asked,
): Promise<Value> {
  const { callRunner, callWheel, callFunction: callAsJob } = masterOf(asked);
  const direct = kind === 'runners' ? callRunner : callWheel;
  if (direct) return (await direct(fun, args, kwargs)) ?? null;
  if (!callAsJob) return refuse(`calling the ${kind === 'runners' ? 'runner' : 'wheel function'} ${fun}`);
  const report = await callAsJob({ kind, fun, args, kwargs });
  if (!report.success) throw new HaliteError('call.failed', String(report.return));
  return report.return;
}

/** `__states__['file.managed'](…)`: the arguments are those of the state, by name or in its order. */
async function callState(
  name: string,
  args: readonly Value[],
  kwargs: PlainDict,
  { caller, finder }: Asked,
): Promise<Value> {
  if (!caller.state) return refuse(`the state ${name}`);
  const params = args.length > 0 ? Object.keys((await finder.functionInfo('states', name))?.params ?? {}) : [];
  const named = newDict(args.slice(0, params.length).map((value, at) => [params[at]!, value]));
  return (await caller.state(name, Object.assign(named, kwargs))) as Value;
}

async function describe(space: FunctionKind, name: string, finder: PythonFinder): Promise<Value> {
  const info = await finder.functionInfo(space, name);
  if (!info) return newDict();
  const params = Object.entries(info.params).map(([key, param]): Value => {
    const plainParam = param.kind !== 'rest' && param.kind !== 'kwargs';
    return plainParam && !param.required ? [key, param.kind, param.default] : [key, param.kind];
  });
  return newDict([
    ['doc', info.doc],
    ['params', params],
  ]);
}

async function fire([tag, data]: readonly Value[], asked: Asked): Promise<Value> {
  const body = isDict(data) ? data : newDict([['data', data ?? null]]);
  const master = masterOf(asked);
  if (master.fire) {
    await master.fire(text(tag), body);
    return true;
  }
  const minion = minionOf(asked);
  return minion.fire ? minion.fire(text(tag), body) : refuse('sending events');
}

/** A job of an extension of the master: `LocalClient.cmd`. Only minions that answered are in the result, as with Salt. */
async function publish([job]: readonly Value[], asked: Asked): Promise<Value> {
  const master = masterOf(asked);
  if (!master.runJob) return refuse('publishing jobs (extensions of minions use publish.publish)');
  const outcome = await master.runJob(readJob(job ?? null));
  const full = fieldOf(job ?? null, 'full') === true;
  return newDict(
    Object.entries(outcome.returns).map(([id, { ret, retcode, success }]) => {
      if (!full) return [id, ret];
      const details: [string, Value][] = [
        ['ret', ret],
        ['retcode', retcode],
        ['success', success],
        ['jid', outcome.jid],
      ];
      return [id, newDict(details)];
    }),
  );
}

function readJob(job: Value): JobRequest {
  const fun = fieldOf(job, 'fun');
  const tgt = fieldOf(job, 'tgt');
  const timeout = fieldOf(job, 'timeout');
  const batch = fieldOf(job, 'batch');
  const subset = fieldOf(job, 'subset');
  return {
    tgt: isTexts(tgt) ? tgt : text(tgt),
    tgt_type: text(fieldOf(job, 'tgt_type')) || 'glob',
    fun: isTexts(fun) ? fun : text(fun),
    arg: asList(fieldOf(job, 'arg')) ?? [],
    kwargs: plain(fieldOf(job, 'kwarg')),
    ...(typeof timeout === 'number' ? { timeoutSeconds: timeout } : {}),
    ...(typeof batch === 'string' || typeof batch === 'number' ? { batch: String(batch) } : {}),
    ...(typeof subset === 'number' ? { subset } : {}),
  };
}
