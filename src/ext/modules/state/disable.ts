// States that are disabled on this minion (`state.disable`), stored in its grains.
import { dictGet, fn, listTexts, type ModuleContext, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { namesOf } from './open.ts';

const grain = 'state_runs_disabled';

function listed(ctx: ModuleContext): string[] {
  const value = dictGet(ctx.grains, grain);
  return listTexts(value);
}

/** A message for each disabled SLS file. */
export function disabledTexts(names: readonly string[], ctx: ModuleContext): string[] {
  const disabled = listed(ctx);
  return names.flatMap((name) =>
    disabled.flatMap((pattern) => {
      if (!pattern.includes('.*')) {
        if (pattern !== name) return [];
        return [`The state file "${name}" is currently disabled, to re-enable, run state.enable ${name}.`];
      }
      if (!name.startsWith(`${pattern.split('.', 1)[0]}.`)) return [];
      return [
        `The state file "${name}" is currently disabled by "${pattern}", to re-enable, run state.enable ${pattern}.`,
      ];
    }),
  );
}

async function change(states: Value, ctx: ModuleContext, on: boolean): Promise<PlainDict> {
  const before = listed(ctx);
  const now = [...before];
  const messages = namesOf(states).map((name) => {
    const at = now.indexOf(name);
    const word = on ? 'enabled' : 'disabled';
    if (on ? at < 0 : at >= 0) return `Info: ${name} state already ${word}.`;
    if (on) now.splice(at, 1);
    else now.push(name);
    return `Info: ${name} state ${word}.`;
  });
  if (now.length !== before.length) await ctx.call('grains.setval', grain, now);
  await ctx.call('saltutil.refresh_modules');
  return newDict([
    ['res', true],
    ['msg', messages.join('\n')],
  ]);
}

const states = p.oneOf(['list', 'string'], {
  doc: '`highstate`, SLS names or state functions (globs), in a list or separated by commas',
});

export const disableFunctions = {
  disable: fn({
    doc: 'Disables states on this minion.',
    examples: ["salt '*' state.disable highstate", "salt '*' state.disable bind.config"],
    params: { states },
    run: (args, ctx) => change(args.states, ctx, false),
  }),
  enable: fn({
    doc: 'Enables states again.',
    examples: ["salt '*' state.enable highstate"],
    params: { states },
    run: (args, ctx) => change(args.states, ctx, true),
  }),
  list_disabled: fn({
    doc: 'The disabled states.',
    examples: ["salt '*' state.list_disabled"],
    run: (_args, ctx) => dictGet(ctx.grains, grain) ?? '',
  }),
};
