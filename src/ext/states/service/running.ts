// `service.running` and `service.dead`.

import { setTimeout as wait } from 'node:timers/promises';
import {
  type ArgsOf,
  asNumber,
  isTrue,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';
import { disableAtBoot, enableAtBoot, isAvailable, notAvailable, type Started, type Toggled } from './boot.ts';
import { setMask } from './mask.ts';

const params = {
  name: p.string({ doc: 'the service' }),
  enable: p.scalar({ default: null, doc: 'whether it starts at boot; default: unchanged' }),
  sig: p.scalar({
    default: null,
    doc: 'text to search in the process list, if the service manager has no status',
  }),
  init_delay: p.scalar({ default: null, doc: 'seconds to wait afterwards' }),
  kwargs: p.kwargs({ doc: 'no_block, unmask, unmask_runtime; reload and full_restart for watching' }),
};
type Args = ArgsOf<typeof params>;

const systemdOnly = ['no_block', 'unmask', 'unmask_runtime'];

export interface Chosen {
  readonly kwargs: PlainDict;
  readonly warnings: string[];
}

/** Arguments for systemd only, if the function accepts them. */
export async function systemdArguments(fun: string, kwargs: PlainDict, ctx: StateContext): Promise<Chosen> {
  const taken = (await ctx.registry.functionInfo('modules', fun))?.params ?? {};
  const given = systemdOnly.filter((key) => key in kwargs && key in taken);
  if (existsSync('/run/systemd/system'))
    return { kwargs: newDict(given.map((key) => [key, kwargs[key] ?? null])), warnings: [] };
  return { kwargs: newDict(), warnings: given.map((key) => `The '${key}' argument is not supported by this platform`) };
}

export async function delay(seconds: Value, ctx: StateContext): Promise<void> {
  const count = seconds === null ? 0 : (asNumber(seconds) ?? 0);
  if (count > 0) await wait(count * 1000, undefined, { signal: ctx.signal });
}

const enabledUsed = (name: string): string =>
  `Service ${name} uses non-existent option "enabled".  Perhaps "enable" option was intended?`;

const isEnabled = async (name: string, ctx: StateContext): Promise<boolean> =>
  (await hasFunction(ctx, 'service.enabled')) ? Boolean(await ctx.call('service.enabled', name)) : true;

const isOffline = async (ctx: StateContext): Promise<boolean> =>
  (await hasFunction(ctx, 'service.offline')) && Boolean(await ctx.call('service.offline'));

interface Work {
  readonly name: string;
  readonly enable: boolean | null;
  readonly args: Args;
  readonly wanted: boolean;
  readonly status: Chosen;
  readonly warnings: Set<string>;
}

const boot = async (work: Work, started: Started, verdict: boolean, ctx: StateContext): Promise<Toggled> => {
  const { name, args, enable } = work;
  if (enable === null) return {};
  return enable
    ? enableAtBoot(name, started, verdict, args.kwargs, ctx)
    : disableAtBoot(name, started, verdict, args.kwargs, ctx);
};

const isRunning = async ({ name, args, status }: Work, ctx: StateContext): Promise<boolean> =>
  Boolean(await ctx.callWith('service.status', [name, args.sig], status.kwargs));

/** Starts or stops the service and checks the result. */
async function toggle(work: Work, enabledBefore: boolean, ctx: StateContext): Promise<StateResult> {
  const { name, args, wanted } = work;
  const fun = wanted ? 'service.start' : 'service.stop';
  const chosen = await systemdArguments(fun, args.kwargs, ctx);
  for (const warning of chosen.warnings) work.warnings.add(warning);
  let done: Value;
  try {
    done = await ctx.callWith(fun, [name], chosen.kwargs);
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(failureOf(error).message);
  }
  const failed = `Service ${name} failed to ${wanted ? 'start' : 'die'}`;
  if (!done) return Object.assign(ctx.fail(failed), await boot(work, !wanted, false, ctx));
  await delay(args.init_delay, ctx);
  const after = await isRunning(work, ctx);
  const changed = enabledBefore !== (await isEnabled(name, ctx)) || after === wanted;
  const fine = after === wanted;
  const comment = fine ? (wanted ? `Started service ${name}` : `Service ${name} was killed`) : failed;
  const result = ctx.result({ result: fine, comment, changes: changed ? newDict([[name, after]]) : newDict() });
  return Object.assign(result, await boot(work, after, fine, ctx));
}

async function bring(args: Args, wanted: boolean, ctx: StateContext): Promise<StateResult> {
  const { name } = args;
  if ('enabled' in args.kwargs) return ctx.fail(enabledUsed(name));
  if (await isOffline(ctx)) return ctx.ok('Running in OFFLINE mode. Nothing to do');
  try {
    if (!(await isAvailable(name, ctx))) {
      const would = `Service ${name} not present; if created in this state run, it would have been ${wanted ? 'started' : 'stopped'}`;
      // Under test an earlier state may install it.
      if (ctx.test) return ctx.result({ result: null, comment: would });
      return ctx.result({ result: !wanted, comment: notAvailable(name) });
    }
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(failureOf(error).message);
  }
  const status = await systemdArguments('service.status', args.kwargs, ctx);
  const enable = args.enable === null ? null : isTrue(args.enable);
  const work: Work = { name, enable, args, wanted, status, warnings: new Set(status.warnings) };
  const now = await isRunning(work, ctx);
  const enabled = await isEnabled(name, ctx);
  const unmask =
    wanted && args.kwargs['unmask']
      ? await setMask(name, Boolean(args.kwargs['unmask_runtime']), false, ctx)
      : undefined;
  const also = (text: string): string =>
    [text, unmask ? pyStr(unmask.comment as Value) : ''].filter(Boolean).join('\n');
  if (now === wanted) {
    const result = ctx.ok(also(`The service ${name} is already ${wanted ? 'running' : 'dead'}`));
    return enable !== null && enable !== enabled ? Object.assign(result, await boot(work, null, true, ctx)) : result;
  }
  return withForecast(
    ctx,
    () => ctx.result({ result: null, comment: also(`Service ${name} is set to ${wanted ? 'start' : 'be killed'}`) }),
    async () => {
      const done = await toggle(work, enabled, ctx);
      if (args.init_delay && wanted)
        done.comment = `${done.comment}\nDelayed return for ${pyStr(args.init_delay)} seconds`;
      if (unmask) done.comment = `${done.comment}\n${pyStr(unmask.comment as Value)}`;
      if (work.warnings.size > 0) done['warnings'] = [...work.warnings];
      return done;
    },
  );
}

export const running = state({
  doc: 'A service that runs, and optionally starts at boot. When a watched state changes, it is restarted or, with `reload`, reloaded.',
  examples: ['nginx:\n  service.running:\n    - enable: true\n    - watch:\n      - file: /etc/nginx/nginx.conf'],
  params,
  run: (args, ctx) => bring(args, true, ctx),
});

export const dead = state({
  doc: 'A service that does not run, and optionally does not start at boot.',
  examples: ['cups:\n  service.dead:\n    - enable: false'],
  params,
  run: (args, ctx) => bring(args, false, ctx),
});
