// State module `raid`: arrays of disks.
import {
  defineState,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyRepr,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';

interface Disks {
  readonly missing: string[];
  readonly fresh: string[];
  /** Devices by the array in their metadata. */
  readonly used: Map<string, string[]>;
}

async function sorted(devices: readonly string[], ctx: StateContext): Promise<Disks> {
  const disks: Disks = { missing: [], fresh: [], used: new Map() };
  for (const device of devices) {
    if (device === 'missing' || !(await ctx.call('file.access', device, 'f'))) {
      disks.missing.push(device);
      continue;
    }
    const uuid = textKeyed(await ctx.callWith('raid.examine', [device], newDict([['quiet', true]])))['MD_UUID'];
    if (uuid === undefined) disks.fresh.push(device);
    else disks.used.set(pyStr(uuid), [...(disks.used.get(pyStr(uuid)) ?? []), device]);
  }
  return disks;
}

/** The action: assemble old disks, create from new ones, or none; a text when neither is possible. */
function planOf(disks: Disks, present: PlainDict | undefined): 'assemble' | 'create' | 'nothing' | { problem: string } {
  const uuids = [...disks.used.keys()];
  if (uuids.length > 1)
    return {
      problem: `Devices are a mix of RAID constituents with multiple MD_UUIDs: ${pyRepr(uuids.sort())}.`,
    };
  if (uuids.length === 1 && present && present['uuid'] !== uuids[0])
    return {
      problem: `Devices MD_UUIDs: ${uuids[0]} differs from present RAID uuid ${pyStr(present['uuid'] ?? '')}.`,
    };
  if (present) return 'nothing';
  if (uuids.length === 1) return 'assemble';
  return disks.fresh.length === 0 ? { problem: `All devices are missing: ${pyRepr(disks.missing)}.` } : 'create';
}

async function addDisks(name: string, disks: readonly string[], done: StateResult, ctx: StateContext): Promise<void> {
  for (const disk of disks) {
    const added = isTruthy(await ctx.call('raid.add', name, disk));
    done.comment = `${pyStr(done.comment as Value)} ${added ? `Added new device ${disk}` : `Unable to add ${disk}`} to ${name}.\n`;
    if (!added) done.result = false;
  }
  if (done.result) (done.changes as PlainDict)['added'] = [...disks];
}

const present = state({
  doc: 'An array of disks.',
  examples: ['/dev/md0:\n  raid.present:\n    - level: 5\n    - devices: [/dev/xvdd, /dev/xvde, /dev/xvdf]'],
  params: {
    name: p.path({ doc: 'the array' }),
    level: p.scalar({ nullable: true, doc: 'level' }),
    devices: p.oneOf(['list', 'string'], { doc: 'disks, or `missing`' }),
    kwargs: p.kwargs({ doc: 'further options of mdadm' }),
  },
  async run({ name, level, devices, kwargs }, ctx) {
    const known = textKeyed(await ctx.call('raid.list'))[name];
    const there = known === undefined ? undefined : textKeyed(known);
    const disks = await sorted(Array.isArray(devices) ? devices.map(pyStr) : pyStr(devices).split(','), ctx);
    const plan = planOf(disks, there);
    if (typeof plan === 'object') return ctx.fail(plan.problem);
    const members = [...disks.used.values()][0] ?? [];
    const carryOut = (test: boolean): Promise<Value> => {
      const how = newDict([...(test ? [['test_mode', true] as const] : []), ...Object.entries(kwargs)]);
      const blanks = disks.missing.map(() => 'missing');
      return plan === 'assemble'
        ? ctx.callWith('raid.assemble', [name, members], how)
        : ctx.callWith('raid.create', [name, level, [...disks.fresh, ...blanks]], how);
    };
    const verb = plan === 'assemble' ? 'assembled' : 'created';
    const toAdd = plan === 'create' ? [] : disks.fresh;
    const tail = disks.missing.length > 0 ? ` Missing devices: ${pyRepr(disks.missing)}` : '';
    const foreseen = async (): Promise<StateResult> => {
      const command = plan === 'nothing' ? '' : await carryOut(true);
      const shown = typeof command === 'string' ? command : pyRepr(command);
      const head = plan === 'nothing' ? `Raid ${name} already present.` : `Raid will be ${verb} with: ${shown}`;
      const more = toAdd.length > 0 ? ` New devices will be added: ${pyRepr(toAdd)}` : '';
      return ctx.result({ result: plan === 'nothing' && !more ? true : null, comment: `${head}${more}${tail}` });
    };
    return withForecast(ctx, foreseen, async () => {
      let done = ctx.ok(`Raid ${name} already present.`);
      if (plan !== 'nothing') {
        await carryOut(false);
        const now = textKeyed(await ctx.call('raid.list'))[name];
        if (now === undefined) done = ctx.fail(`Raid ${name} failed to be ${verb}.`);
        else {
          done = ctx.ok(`Raid ${name} ${verb}.`, { changes: newDict(Object.entries(textKeyed(now))) });
          await ctx.call('raid.save_config');
        }
      }
      if (toAdd.length > 0 && done.result) await addDisks(name, toAdd, done, ctx);
      done.comment = `${pyStr(done.comment as Value)}${tail}`;
      return done;
    });
  },
});

const absent = state({
  doc: 'An array that must not exist; its data is lost.',
  examples: ['/dev/md0:\n  raid.absent'],
  params: { name: p.path({ doc: 'the array' }) },
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: async () => textKeyed(await ctx.call('raid.list'))[name],
      compare: (known) => known !== undefined,
      change: () => ctx.call('raid.destroy', name),
      changes: ({ found }) => ({ [name]: { old: found ?? null, new: null } }),
      right: `Raid ${name} already absent`,
      would: `Raid ${name} is set to be destroyed`,
      done: `Raid ${name} has been destroyed`,
      failed: `Raid ${name} failed to be destroyed`,
    }),
});

export default defineState({
  name: 'mdadm_raid',
  virtualName: 'raid',
  doc: 'Arrays of disks.',
  available: () => which('mdadm') !== null || 'Unable to locate command: mdadm',
  functions: { present, absent },
});
