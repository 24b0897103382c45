// State module `supervisord`: programs under supervisor.
import {
  defineState,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { hasFunction } from '../shared/calls.ts';

const where = {
  user: p.scalar({ default: null, doc: 'run as this user' }),
  conf_file: p.scalar({ default: null, doc: "supervisor's configuration" }),
  bin_env: p.scalar({ default: null, doc: 'path of supervisorctl, or of the virtual environment it is in' }),
};
const name = p.string({ doc: 'the program, or `group:*`' });

interface Where {
  readonly user: Value;
  readonly conf_file: Value;
  readonly bin_env: Value;
}
interface RunArgs extends Where {
  readonly name: string;
  readonly restart: boolean;
  readonly update: boolean;
}
type Processes = Readonly<Record<string, string>>;

async function processes(at: Where, ctx: StateContext): Promise<Processes> {
  const list = textKeyed(await ctx.callWith('supervisord.status', [], keywords(at)));
  return newDict(
    Object.entries(list).map(([key, item]) => [key, pyStr(textKeyed(item)['state'] ?? '')]),
  ) as unknown as Processes;
}

const keywords = ({ user, conf_file, bin_env }: Where): PlainDict =>
  newDict([
    ['user', user],
    ['conf_file', conf_file],
    ['bin_env', bin_env],
  ]);

/** The programs of a name: itself, or those of its group. */
const meant = (target: string, all: Processes): string[] =>
  Object.hasOwn(all, target)
    ? [target]
    : target.endsWith(':')
      ? Object.keys(all).filter((process) => process.startsWith(target))
      : [];

const isStopped = (state: string): boolean => ['STOPPED', 'STOPPING', 'EXITED', 'FATAL', 'BACKOFF'].includes(state);

/** Whether the output of supervisorctl is a failure. "Already started" and "not running" are not failures. */
const isFailure = (said: string): boolean =>
  said.includes('ERROR') && !/already started|not running|process group already active/.test(said);

function announced(target: string, all: Processes, restart: boolean): { text: string; changes: boolean } {
  const group = target.endsWith(':');
  const programs = meant(target, all);
  if (programs.length === 0)
    return { text: `${group ? `Group '${target}'` : `Service ${target}`} will be added and started`, changes: true };
  const stopped = programs.filter((process) => all[process]?.toLowerCase() !== 'running');
  if (stopped.length === 0 && restart)
    return {
      text: group ? `All services in group '${target}' will be restarted` : `Service ${target} will be restarted`,
      changes: true,
    };
  if (stopped.length === 0)
    return {
      text: group ? `All services in group '${target}' are already running` : `Service ${target} is already running`,
      changes: false,
    };
  if (!group) return { text: `Service ${target} will be started`, changes: true };
  return {
    text:
      stopped.length === programs.length
        ? `All services in group '${target}' will be started`
        : `The following services will be started: ${stopped.join(' ')}`,
    changes: true,
  };
}

/** Adds, updates, starts or restarts a program, and returns the action. */
async function bringUp(args: RunArgs, target: string, all: Processes, ctx: StateContext): Promise<StateResult> {
  const at = keywords(args);
  const steps: string[] = [];
  let [comment, failed, updated] = ['', false, false];
  const judge = (said: string, text: string): void => {
    failed ||= isFailure(said);
    comment = isFailure(said) ? said : text;
  };
  const programs = meant(target, all);
  if (args.update) {
    const said = pyStr(await ctx.callWith('supervisord.update', [], at));
    judge(said, 'Updating supervisor');
    updated = said.includes(`${target}: updated`);
  } else if (programs.length === 0) {
    const text = `Adding service: ${target}`;
    await ctx.callWith('supervisord.reread', [], at);
    judge(pyStr(await ctx.callWith('supervisord.add', [target], at)), text);
    steps.push(text);
  }
  const kind = programs.length === 0 ? '' : Object.hasOwn(all, target) ? ' service' : ' group';
  const running = programs.length > 0 && !programs.some((process) => isStopped(all[process] ?? ''));
  const act = async (verb: 'restart' | 'start', word: string): Promise<void> => {
    const text = `${word}${kind}: ${target}`;
    judge(pyStr(await ctx.callWith(`supervisord.${verb}`, [target], at)), text);
    steps.push(text);
  };
  if (running && args.restart && !updated) await act('restart', 'Restarting');
  else if (running) comment = `Not starting ${updated ? 'updated' : 'already running'}${kind}: ${target}`;
  else if (!updated) await act('start', 'Starting');
  const changes = newDict(!failed && steps.length > 0 ? [[target, steps.join(' ')]] : []);
  return ctx.result({ name: target, result: !failed, comment, changes });
}

async function run(args: RunArgs, ctx: StateContext): Promise<StateResult> {
  const target = args.name.endsWith(':*') ? args.name.slice(0, -1) : args.name;
  if (!(await hasFunction(ctx, 'supervisord.status')))
    return ctx.fail('Supervisord module not activated. Do you need to install supervisord?');
  const all = await processes(args, ctx);
  const { text, changes } = announced(target, all, args.restart);
  return withForecast(
    ctx,
    () => ctx.result({ result: changes ? null : true, comment: text }),
    () => bringUp(args, target, all, ctx),
  );
}

const runParams = {
  name,
  restart: p.bool({ default: false, doc: 'restart what runs' }),
  update: p.bool({ default: false, doc: 'read the configuration again and restart changed programs' }),
  ...where,
  kwargs: p.kwargs(),
};

const dead = state({
  doc: 'A program that must not run.',
  examples: ['web:\n  supervisord.dead'],
  params: { name, ...where, kwargs: p.kwargs() },
  async run(args, ctx) {
    const { name } = args;
    const all = await processes(args, ctx);
    const programs = meant(name, all);
    if (programs.length === 0) return ctx.ok(`Service ${name} doesn't exist`);
    return resource(ctx, {
      find: () => !programs.some((process) => isStopped(all[process] ?? '')),
      wanted: false,
      change: async () => pyStr(await ctx.callWith('supervisord.stop', [name], keywords(args))),
      problem: (said) => (isFailure(said) ? said : undefined),
      changes: () => ({ [name]: `Stopping service: ${name}` }),
      right: `Service ${name} is not running`,
      would: `Service ${name} is set to be stopped`,
      done: `Stopping service: ${name}`,
    });
  },
});

export default defineState({
  name: 'supervisord',
  doc: 'Programs managed by supervisor.',
  functions: {
    running: state({
      doc: 'A program that must run.',
      examples: ['web:\n  supervisord.running:\n    - update: true'],
      params: runParams,
      run,
    }),
    dead,
  },
  modWatch: state({
    doc: 'Restarts the program when a watched state changed.',
    params: { ...runParams, restart: p.bool({ default: true, doc: 'restart what runs' }) },
    run,
  }),
});
