// State module `timezone`: the time zone of the machine.
import { defineState, needsFunction, newDict, p, state, type Value } from 'halite/sdk';
import { failureOf, isExpected } from '../shared/calls.ts';

const system = state({
  doc: 'The time zone of the machine, and whether its clock runs in UTC.',
  examples: ['Europe/Berlin:\n  timezone.system:\n    - utc: true'],
  params: {
    name: p.string({ doc: 'the zone' }),
    utc: p.bool({ default: true, doc: 'the hardware clock runs in UTC' }),
  },
  async run({ name, utc }, ctx) {
    let same: Value;
    try {
      same = await ctx.call('timezone.zone_compare', name);
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(`Unable to compare desired timezone '${name}' to system timezone: ${failureOf(error).message}`);
    }
    const isUtc = (await ctx.call('timezone.get_hwclock')) !== 'localtime';
    const [setZone, setUtc] = [same !== true, utc && !isUtc];
    if (!setZone && !setUtc)
      return ctx.ok([`Timezone ${name} already set`, ...(utc ? [`UTC already set to ${name}`] : [])].join(', '));
    const would = [
      ...(setZone ? [`Timezone ${name} needs to be set`] : []),
      ...(setUtc ? ['UTC needs to be set to True'] : []),
    ];
    return ctx.change(newDict(), '', {
      test: would.join(', '),
      async apply() {
        const changes = newDict();
        const messages: string[] = [];
        let ok = true;
        if (setZone) {
          ok = Boolean(await ctx.call('timezone.set_zone', name));
          if (ok) changes['timezone'] = name;
          messages.push(ok ? `Set timezone ${name}` : 'Failed to set timezone');
        }
        if (setUtc) {
          const done = Boolean(await ctx.call('timezone.set_hwclock', 'UTC'));
          if (done) changes['utc'] = true;
          ok = done && ok;
          messages.push(done ? 'Set UTC to True' : 'Failed to set UTC to True');
        }
        return ctx.result({ result: ok, comment: messages.join(', '), changes });
      },
    });
  },
});

export default defineState({
  name: 'timezone',
  doc: 'The time zone of the machine.',
  available: needsFunction('timezone.get_zone', 'timezone module could not be loaded'),
  functions: { system },
});
