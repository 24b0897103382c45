// State module `sysctl`: kernel settings, now and at boot.
import {
  defineState,
  isDict,
  needsFunction,
  newDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';

const words = (text: string): string => text.trim().split(/\s+/).join(' ');
const pressed = (text: string): string => text.replace(/ +|\t+/g, ' ');

async function forecast(name: string, value: string, config: string, ctx: StateContext): Promise<StateResult> {
  const would = (comment: string): StateResult => ctx.result({ result: null, comment });
  const configured = await ctx.callWith('sysctl.show', [], { config_file: config });
  if (configured === null) {
    return would(
      `Sysctl option ${name} might be changed, we failed to check config file at ${config}. The file is either unreadable, or missing.`,
    );
  }
  const current = pyStr((await ctx.call('sysctl.get', name)) || '');
  const known = isDict(configured) && name in configured;
  if (current === '') {
    const missing = `Sysctl value ${name} is present in configuration file but is not present in the running config.`;
    return would(
      known
        ? `${missing} The value ${name} is set to be changed to ${value}`
        : `Sysctl option ${name} would be changed to ${value}`,
    );
  }
  if (known) {
    const kept = words(pyStr((configured as Record<string, Value>)[name] ?? '')) === words(value);
    if (words(current) === words(value) && kept) return ctx.ok(`Sysctl value ${name} = ${value} is already set`);
    return would(`Sysctl option ${name} would be changed to ${value}`);
  }
  if (pressed(current) !== pressed(value)) return would(`Sysctl option ${name} set to be changed to ${value}`);
  const only = 'Sysctl value is currently set on the running system but not in a config file.';
  return would(`${only} Sysctl option ${name} set to be changed to ${value} in config file.`);
}

const present = state({
  doc: 'A setting of the kernel, now and at every boot.',
  examples: ['vm.swappiness:\n  sysctl.present:\n    - value: 20'],
  params: {
    name: p.string({ doc: 'the setting' }),
    value: p.scalar({ nullable: true, doc: 'its value' }),
    config: p.scalar({ default: null, doc: 'the file to store it in' }),
  },
  async run({ name, value, config }, ctx) {
    const fallback = async (): Promise<Value> =>
      (await hasFunction(ctx, 'sysctl.default_config')) ? ctx.call('sysctl.default_config') : '/etc/sysctl.conf';
    const file = pyStr(config ?? (await fallback()));
    const shown = pyStr(value);
    const persist = async (): Promise<StateResult> => {
      let done: Value;
      try {
        done = await ctx.call('sysctl.persist', name, value, file);
      } catch (error) {
        if (!isExpected(error)) throw error;
        return ctx.fail(`Failed to set ${name} to ${shown}: ${failureOf(error).message}`);
      }
      if (done === 'Updated')
        return ctx.ok(`Updated sysctl value ${name} = ${shown}`, { changes: newDict([[name, value]]) });
      return ctx.ok(done === 'Already set' ? `Sysctl value ${name} = ${shown} is already set` : '');
    };
    return withForecast(ctx, () => forecast(name, shown, file, ctx), persist);
  },
});

export default defineState({
  name: 'sysctl',
  doc: 'Settings of the kernel.',
  available: needsFunction('sysctl.show', 'sysctl module could not be loaded'),
  functions: { present },
});
