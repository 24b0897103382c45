// State module `beacon`: configured beacons.
import {
  defineState,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';

const name = p.string({ doc: 'the beacon' });
const save = p.bool({ default: false, doc: 'write all beacons to a file read at start' });
const kwargs = p.kwargs({ doc: 'settings of the beacon' });

const current = async (given: PlainDict, ctx: StateContext): Promise<PlainDict> =>
  textKeyed(await ctx.callWith('beacons.list', [], newDict([['return_yaml', false], ...Object.entries(given)])));

interface Done {
  readonly comment: string;
  readonly changes?: PlainDict;
}

/** Calls an execution function, which only reports what it would do under test. */
async function change(
  fun: string,
  args: Value[],
  given: PlainDict,
  done: Done,
  ctx: StateContext,
): Promise<StateResult> {
  // The function has a test mode of its own.
  const said = textKeyed(await ctx.callWith(`beacons.${fun}`, args, { ...given, ...(ctx.test ? { test: true } : {}) }));
  const comment = pyStr(said['comment'] ?? '');
  const changes = textKeyed(said['changes']);
  return withForecast(
    ctx,
    () => ctx.result({ result: null, comment, changes }),
    () => (said['result'] ? ctx.ok(done.comment, { changes: done.changes ?? changes }) : ctx.fail(comment)),
  );
}

/** Saves all beacons on request, unless the state failed, and adds that to the result. */
async function saved(name: string, wanted: boolean, said: StateResult, ctx: StateContext): Promise<StateResult> {
  if (!wanted || said.result === false) return said;
  const { comment } = await ctx.change(newDict(), `Beacon ${name} saved`, {
    test: `Beacon ${name} would be saved`,
    apply: () => ctx.call('beacons.save'),
  });
  return Object.assign(said, { comment: [said.comment, comment].join('\n') });
}

const present = state({
  doc: 'A beacon with its settings.',
  examples: ['ps:\n  beacon.present:\n    - save: true\n    - processes: {salt-master: stopped}'],
  params: { name, save, kwargs },
  async run({ name, save, kwargs }, ctx) {
    const known = (await current(kwargs, ctx))[name];
    const data = Object.entries(kwargs).map(([key, value]) => newDict([[key, value]]));
    if (known !== undefined && pyEquals(known, data))
      return saved(name, save, ctx.ok(`Job ${name} in correct state`), ctx);
    const done =
      known === undefined
        ? { comment: `Adding ${name} to beacons`, changes: newDict([[name, { old: null, new: data }]]) }
        : { comment: `Modifying ${name} in beacons` };
    const said = await change(known === undefined ? 'add' : 'modify', [name, data], kwargs, done, ctx);
    return saved(name, save, said, ctx);
  },
});

const absent = state({
  doc: 'A beacon that must not be configured.',
  examples: ['ps:\n  beacon.absent:\n    - save: true'],
  params: { name, save, kwargs },
  async run({ name, save, kwargs }, ctx) {
    const known = (await current(kwargs, ctx))[name];
    if (known === undefined) return saved(name, save, ctx.ok(`${name} not configured in beacons`), ctx);
    const changes = newDict([[name, { old: known, new: null }]]);
    const done = { comment: `Removed ${name} from beacons`, changes };
    return saved(name, save, await change('delete', [name], kwargs, done, ctx), ctx);
  },
});

/** Whether a beacon is enabled by its settings. */
function isOn(beacon: Value): boolean {
  const list = Array.isArray(beacon) ? beacon : [beacon];
  const set = list.map((item) => textKeyed(item)['enabled']).findLast((value) => value !== undefined);
  return set === undefined || set === true;
}

const switchState = (on: boolean) =>
  state({
    doc: on ? 'A beacon that shall work.' : 'A beacon that shall not work.',
    examples: [`ps:\n  beacon.${on ? 'enabled' : 'disabled'}`],
    params: { name, kwargs },
    async run({ name, kwargs }, ctx) {
      const known = (await current(kwargs, ctx))[name];
      if (known === undefined) return ctx.ok(on ? `${name} not a configured beacon` : `Job ${name} is not configured.`);
      if (isOn(known) === on) return ctx.ok(`Beacon ${name} is already ${on ? 'enabled' : 'disabled'}`);
      const changes = newDict([[name, { old: { enabled: !on }, new: { enabled: on } }]]);
      const comment = on ? `Enabled ${name} from beacons` : `Disabled beacon ${name}.`;
      return change(on ? 'enable_beacon' : 'disable_beacon', [name], kwargs, { comment, changes }, ctx);
    },
  });

export default defineState({
  name: 'beacon',
  doc: 'Configured beacons.',
  functions: { present, absent, enabled: switchState(true), disabled: switchState(false) },
});
