// `service.masked` and `service.unmasked`.
import { newDict, p, type StateContext, type StateResult, state } from 'halite/sdk';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';

const params = {
  name: p.string({ doc: 'the service' }),
  runtime: p.bool({ default: false, doc: 'only until the next boot' }),
};

export async function setMask(
  name: string,
  runtime: boolean,
  wanted: boolean,
  ctx: StateContext,
): Promise<StateResult> {
  if (!(await hasFunction(ctx, 'service.masked'))) return ctx.fail('Service masking not available on this minion');
  const kind = runtime ? 'runtime masked' : 'masked';
  const done = wanted ? kind : runtime ? 'runtime unmasked' : 'unmasked';
  const isMasked = async (): Promise<boolean> => Boolean(await ctx.call('service.masked', name, runtime));
  try {
    if ((await isMasked()) === wanted) return ctx.ok(`Service ${name} ${wanted ? 'is' : 'was'} already ${done}`);
    const changes = newDict([
      [
        kind,
        newDict([
          ['old', !wanted],
          ['new', wanted],
        ]),
      ],
    ]);
    return await ctx.change(changes, `Service ${name} was ${done}`, {
      test: `Service ${name} would be ${done}`,
      async apply() {
        await ctx.call(wanted ? 'service.mask' : 'service.unmask', name, runtime);
        return (await isMasked()) === wanted
          ? undefined
          : ctx.ok(`Failed to ${wanted ? 'mask' : 'unmask'} service ${name}`);
      },
    });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(failureOf(error).message);
  }
}

export const masked = state({
  doc: 'A masked service, which cannot be started.',
  examples: ['cups:\n  service.masked'],
  params,
  run: ({ name, runtime }, ctx) => setMask(name, runtime, true, ctx),
});

export const unmasked = state({
  doc: 'A service that is not masked.',
  examples: ['cups:\n  service.unmasked'],
  params,
  run: ({ name, runtime }, ctx) => setMask(name, runtime, false, ctx),
});
