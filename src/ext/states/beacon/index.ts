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
  type Value,
} from 'halite/sdk';
import { plain } from '../shared/calls.ts';

const name = p.string({ doc: 'the beacon' });
const save = p.bool({ default: false, doc: 'write all beacons to a file read at start' });
const kwargs = p.kwargs({ doc: 'settings of the beacon' });

const current = async (given: PlainDict, ctx: StateContext): Promise<PlainDict> =>
  plain(await ctx.callWith('beacons.list', [], newDict([['return_yaml', false], ...Object.entries(given)])));

/** Calls a function of the minion, which only says what it would do under test. */
async function change(fun: string, args: Value[], given: PlainDict, ctx: StateContext): Promise<PlainDict> {
  const kwargs = newDict([...Object.entries(given), ...(ctx.test ? [['test', true] as const] : [])]);
  return plain(await ctx.callWith(`beacons.${fun}`, args, kwargs));
}

/** The verdict: under test null when there was something to do. */
function verdict(ctx: StateContext, done: { comments: string[]; changes?: PlainDict; isChange: boolean }): StateResult {
  return ctx.result({
    result: ctx.test && done.isChange ? null : true,
    comment: done.comments.join('\n'),
    changes: done.changes ?? newDict(),
  });
}

async function savedComment(name: string, wanted: boolean, ctx: StateContext): Promise<string[]> {
  if (!wanted) return [];
  if (ctx.test) return [`Beacon ${name} would be saved`];
  await ctx.call('beacons.save');
  return [`Beacon ${name} saved`];
}

const present = state({
  doc: 'A beacon with its settings.',
  examples: ['ps:\n  beacon.present:\n    - save: true\n    - processes: {salt-master: stopped}'],
  params: { name, save, kwargs },
  async run({ name, save, kwargs }, ctx) {
    const known = (await current(kwargs, ctx))[name];
    const data = Object.entries(kwargs).map(([key, value]) => newDict([[key, value]]));
    if (known !== undefined && pyEquals(known, data))
      return verdict(ctx, {
        comments: [`Job ${name} in correct state`, ...(await savedComment(name, save, ctx))],
        isChange: false,
      });
    const done = await change(known === undefined ? 'add' : 'modify', [name, data], kwargs, ctx);
    if (!done['result'] && !ctx.test) return ctx.fail(pyStr(done['comment'] ?? ''));
    const changes =
      known === undefined
        ? newDict([[name, newDict(Object.entries({ old: null, new: data }))]])
        : plain(done['changes']);
    const said = ctx.test
      ? pyStr(done['comment'] ?? '')
      : known === undefined
        ? `Adding ${name} to beacons`
        : `Modifying ${name} in beacons`;
    return verdict(ctx, {
      comments: [said, ...(await savedComment(name, save, ctx))],
      changes: ctx.test ? plain(done['changes']) : changes,
      isChange: true,
    });
  },
});

const absent = state({
  doc: 'A beacon that shall not be configured.',
  examples: ['ps:\n  beacon.absent:\n    - save: true'],
  params: { name, save, kwargs },
  async run({ name, save, kwargs }, ctx) {
    const known = (await current(kwargs, ctx))[name];
    if (known === undefined)
      return verdict(ctx, {
        comments: [`${name} not configured in beacons`, ...(await savedComment(name, save, ctx))],
        isChange: false,
      });
    const done = await change('delete', [name], kwargs, ctx);
    if (!done['result'] && !ctx.test) return ctx.fail(pyStr(done['comment'] ?? ''));
    const said = ctx.test ? pyStr(done['comment'] ?? '') : `Removed ${name} from beacons`;
    const changes = ctx.test ? newDict() : newDict([[name, newDict(Object.entries({ old: known, new: null }))]]);
    return verdict(ctx, { comments: [said, ...(await savedComment(name, save, ctx))], changes, isChange: true });
  },
});

/** Whether a beacon works, as far as its settings say. */
function isOn(beacon: Value): boolean {
  const list = Array.isArray(beacon) ? beacon : [beacon];
  const set = list.map((item) => plain(item)['enabled']).findLast((value) => value !== undefined);
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
      const done = await change(on ? 'enable_beacon' : 'disable_beacon', [name], kwargs, ctx);
      if (!done['result'] && !ctx.test) return ctx.fail(pyStr(done['comment'] ?? ''));
      if (ctx.test) return verdict(ctx, { comments: [pyStr(done['comment'] ?? '')], isChange: true });
      const changes = newDict([[name, newDict(Object.entries({ old: { enabled: !on }, new: { enabled: on } }))]]);
      const said = on ? `Enabled ${name} from beacons` : `Disabled beacon ${name}.`;
      return verdict(ctx, { comments: [said], changes, isChange: true });
    },
  });

export default defineState({
  name: 'beacon',
  doc: 'Configured beacons.',
  functions: { present, absent, enabled: switchState(true), disabled: switchState(false) },
});
