// States that switch something of Apache on or off: sites, modules, pieces of configuration.
import { newDict, type PlainDict, p, type StateFunction, state, type Value } from 'halite/sdk';
import { plain } from './calls.ts';

const changes = (old: Value, now: Value): PlainDict =>
  newDict([
    ['old', old],
    ['new', now],
  ]);

function switchState(kind: 'module' | 'site' | 'conf', on: boolean): StateFunction {
  const short = kind === 'module' ? 'mod' : kind;
  const word = on ? 'enabled' : 'disabled';
  const shown = `Apache ${kind}`;
  return state({
    doc: `${kind[0]?.toUpperCase()}${kind.slice(1)} that shall be ${word}.`,
    examples: [`example:\n  apache_${kind}.${word}`],
    params: { name: p.string({ doc: 'its name' }) },
    async run({ name }, ctx) {
      if (Boolean(await ctx.call(`apache.check_${short}_enabled`, name)) === on)
        return ctx.ok(`${name} already ${word}.`);
      return ctx.change(on ? changes(null, name) : changes(name, null), '', {
        test: `${shown} ${name} is set to be ${word}.`,
        async apply() {
          const status = plain(await ctx.call(`apache.a2${on ? 'en' : 'dis'}${short}`, name))['Status'];
          if (typeof status === 'string' && status.includes(word)) return undefined;
          const failed = `Failed to ${on ? 'enable' : 'disable'} ${name} ${shown}`;
          return ctx.fail(typeof status === 'string' ? `${failed} (${status})` : failed);
        },
      });
    },
  });
}

export const switches = (kind: 'module' | 'site' | 'conf'): Record<string, StateFunction> => ({
  enabled: switchState(kind, true),
  disabled: switchState(kind, false),
});
