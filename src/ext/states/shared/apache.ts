// States that enable and disable parts of Apache: sites, modules, configuration snippets.
import { p, resource, type StateFunction, state, textKeyed } from 'halite/sdk';

function switchState(kind: 'module' | 'site' | 'conf', on: boolean): StateFunction {
  const short = kind === 'module' ? 'mod' : kind;
  const word = on ? 'enabled' : 'disabled';
  const shown = `Apache ${kind}`;
  return state({
    doc: `${kind[0]?.toUpperCase()}${kind.slice(1)} that must be ${word}.`,
    examples: [`example:\n  apache_${kind}.${word}`],
    params: { name: p.string({ doc: 'its name' }) },
    run: ({ name }, ctx) =>
      resource(ctx, {
        find: () => ctx.call(`apache.check_${short}_enabled`, name),
        wanted: on,
        change: async () => textKeyed(await ctx.call(`apache.a2${on ? 'en' : 'dis'}${short}`, name))['Status'],
        problem(status) {
          if (typeof status === 'string' && status.includes(word)) return undefined;
          const failed = `Failed to ${on ? 'enable' : 'disable'} ${name} ${shown}`;
          return typeof status === 'string' ? `${failed} (${status})` : failed;
        },
        changes: on ? { old: null, new: name } : { old: name, new: null },
        right: `${name} already ${word}.`,
        would: `${shown} ${name} is set to be ${word}.`,
        done: '',
      }),
  });
}

export const switches = (kind: 'module' | 'site' | 'conf'): Record<string, StateFunction> => ({
  enabled: switchState(kind, true),
  disabled: switchState(kind, false),
});
