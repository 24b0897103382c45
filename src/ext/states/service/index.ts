// State module `service`: services that run, are enabled, or are masked.
import { defineState, needsFunction, newDict, p, type StateContext, state, type Value } from 'halite/sdk';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';
import { disableAtBoot, enableAtBoot, notAvailable } from './boot.ts';
import { masked, unmasked } from './mask.ts';
import { dead, delay, running, systemdArguments } from './running.ts';

const bootParams = {
  name: p.string({ doc: 'the service' }),
  kwargs: p.kwargs({ doc: 'options of the service manager' }),
};

const enabled = state({
  doc: 'A service that starts at boot.',
  examples: ['nginx:\n  service.enabled'],
  params: bootParams,
  async run({ name, kwargs }, ctx) {
    const done = await enableAtBoot(name, null, true, kwargs, ctx);
    // Under test it may be installed by a state before.
    if (ctx.test && done.comment === notAvailable(name)) {
      const comment = `Service ${name} not present; if created in this state run, it would have been enabled`;
      return ctx.result({ result: null, comment });
    }
    return ctx.result({ ...done });
  },
});

const disabled = state({
  doc: 'A service that does not start at boot.',
  examples: ['cups:\n  service.disabled'],
  params: bootParams,
  run: async ({ name, kwargs }, ctx) => ctx.result({ ...(await disableAtBoot(name, null, true, kwargs, ctx)) }),
});

interface Action {
  readonly fun: string;
  readonly verb: string;
  readonly done: string;
}

interface WatchOptions {
  readonly reload: boolean;
  readonly full_restart: boolean;
  readonly force: boolean;
}

/** Reloads or restarts a running service when a watched state changed. */
async function actionFor(isRunning: boolean, options: WatchOptions, ctx: StateContext): Promise<Action> {
  const action = (fun: string, verb: string): Action => ({ fun: `service.${fun}`, verb, done: `${verb}ed` });
  if (!isRunning) return action('start', 'start');
  if (options.reload && (await hasFunction(ctx, 'service.reload'))) {
    return options.force && (await hasFunction(ctx, 'service.force_reload'))
      ? action('force_reload', 'forcefully reload')
      : action('reload', 'reload');
  }
  if (options.full_restart && (await hasFunction(ctx, 'service.full_restart')))
    return action('full_restart', 'fully restart');
  return action('restart', 'restart');
}

const modWatch = state({
  doc: 'Restarts, reloads, starts or stops a service because a watched state changed.',
  params: {
    name: p.string(),
    sfun: p.scalar({ default: null, doc: 'the function that watches' }),
    sig: p.scalar({ default: null }),
    reload: p.bool({ default: false, doc: 'read the configuration instead of restarting' }),
    full_restart: p.bool({ default: false }),
    init_delay: p.scalar({ default: null }),
    force: p.bool({ default: false }),
    kwargs: p.kwargs(),
  },
  async run({ name, sfun, sig, init_delay, kwargs, ...options }, ctx) {
    const fun = ctx.watchedFunction ?? String(sfun);
    if (fun !== 'dead' && fun !== 'running') return ctx.fail(`Unable to trigger watch for service.${fun}`);
    const status = await systemdArguments('service.status', kwargs, ctx);
    const isRunning = Boolean(await ctx.callWith('service.status', [name, sig], status.kwargs));
    if (fun === 'dead' && !isRunning) return ctx.ok('Service is already stopped');
    const action =
      fun === 'dead'
        ? { fun: 'service.stop', verb: 'stop', done: 'stopped' }
        : await actionFor(isRunning, options, ctx);
    const chosen = await systemdArguments(action.fun, kwargs, ctx);
    const warnings = [...new Set([...status.warnings, ...chosen.warnings])];
    const result = await ctx.change(newDict(), '', {
      test: `Service is set to be ${action.done}`,
      async apply() {
        // A service that is stuck while starting would refuse to start.
        if (action.verb === 'start' && (await hasFunction(ctx, 'service.stop'))) await ctx.call('service.stop', name);
        let done: Value;
        try {
          done = await ctx.callWith(action.fun, [name], chosen.kwargs);
        } catch (error) {
          if (!isExpected(error)) throw error;
          return ctx.fail(failureOf(error).message);
        }
        await delay(init_delay, ctx);
        const comment = done ? `Service ${action.done}` : `Failed to ${action.verb} the service`;
        return ctx.result({ result: Boolean(done), comment, changes: newDict([[name, done]]) });
      },
    });
    if (warnings.length > 0) result['warnings'] = warnings;
    return result;
  },
});

export default defineState({
  name: 'service',
  doc: 'Services: running, starting at boot, masked.',
  available: needsFunction('service.start', 'No service execution module loaded'),
  functions: { running, dead, enabled, disabled, masked, unmasked },
  modWatch,
});
