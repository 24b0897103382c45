// State module `group`: groups of users.
import {
  type ArgsOf,
  asNumber,
  defineState,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const params = {
  name: p.string({ doc: 'the group' }),
  gid: p.scalar({ default: null, doc: 'id; the next free one when left out' }),
  system: p.bool({ default: false, doc: 'use an id of the system range' }),
  addusers: p.oneOf(['list', 'string'], { default: null, doc: 'users to add' }),
  delusers: p.oneOf(['list', 'string'], { default: null, doc: 'users to remove' }),
  members: p.oneOf(['list', 'string'], { default: null, doc: 'exactly these users' }),
  non_unique: p.bool({ default: false, doc: 'allow an id that is in use' }),
};
type Args = ArgsOf<typeof params>;

const texts = (value: Value): string[] =>
  Array.isArray(value) ? value.map(pyStr) : typeof value === 'string' && value !== '' ? value.split(',') : [];

function gidOf(value: Value): number | undefined {
  const number = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : asNumber(value);
  return number === undefined ? undefined : Math.trunc(number);
}

/** The differences; undefined when there is no such group, a text when the id is invalid. */
async function changesOf(args: Args, ctx: StateContext): Promise<PlainDict | undefined | string> {
  const group = textKeyed(await ctx.call('group.info', args.name));
  if (Object.keys(group).length === 0) return undefined;
  const change = newDict();
  if (args.gid) {
    const gid = gidOf(args.gid);
    if (gid === undefined) return 'Invalid gid';
    if (group['gid'] !== gid) change['gid'] = gid;
  }
  const now = texts(group['members'] ?? []);
  const members = args.members === null ? undefined : texts(args.members);
  if (members && (members.length !== new Set(now).size || members.some((user) => !now.includes(user)))) {
    if (members.length > 0) change['members'] = members;
    else change['delusers'] = now;
  }
  const add = texts(args.addusers).filter((user) => !now.includes(user));
  if (add.length > 0) change['addusers'] = add;
  const remove = texts(args.delusers).filter((user) => now.includes(user));
  if (remove.length > 0) change['delusers'] = remove;
  return change;
}

const announcement = (changes: PlainDict): string =>
  `The following group attributes are set to be changed:\n${Object.entries(changes)
    .map(([key, value]) => `${key}: ${pyStr(value)}\n`)
    .join('')}`;

async function update(args: Args, changes: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name } = args;
  if ('gid' in changes)
    await ctx.callWith('group.chgid', [name, changes['gid'] as Value], { non_unique: args.non_unique });
  if ('members' in changes) await ctx.call('group.members', name, texts(args.members).join(','));
  for (const user of texts(changes['addusers'] ?? null)) await ctx.call('group.adduser', name, user);
  for (const user of texts(changes['delusers'] ?? null)) await ctx.call('group.deluser', name, user);
  const left = await changesOf(args, ctx);
  if (typeof left === 'object' && Object.keys(left).length === 0) {
    return ctx.ok(announcement(changes), { changes: newDict([['Final', 'All changes applied successfully']]) });
  }
  const failed = typeof left === 'object' ? left : newDict();
  return ctx.fail(`${announcement(changes)}Some changes could not be applied`, {
    changes: newDict([['Failed', failed]]),
  });
}

async function create(args: Args, ctx: StateContext): Promise<StateResult> {
  const { name, gid, system, non_unique } = args;
  if (gid !== null && !non_unique) {
    const all = await ctx.call('group.getent');
    const taken = (Array.isArray(all) ? all.map(textKeyed) : []).find((group) => group['gid'] === gid);
    if (taken)
      return ctx.fail(
        `Group ${name} is not present but gid ${pyStr(gid)} is already taken by group ${pyStr(taken['name'] ?? '')}`,
      );
  }
  if (!(await ctx.callWith('group.add', [name], { gid, system, non_unique })))
    return ctx.fail(`Failed to create new group ${name}`);
  const users = texts(args.addusers).length > 0 ? texts(args.addusers) : texts(args.members);
  if (users.length > 0) await ctx.call('group.members', name, users.join(','));
  const changes = await ctx.call('group.info', name);
  const left = await changesOf(args, ctx);
  if (typeof left === 'object' && Object.keys(left).length > 0) {
    const comment = `Group ${name} has been created but, some changes could not be applied`;
    return ctx.fail(comment, { changes: newDict([['Failed', left]]) });
  }
  return ctx.ok(`New group ${name} created`, { changes: textKeyed(changes) });
}

const present = state({
  doc: 'A group, with its members on request.',
  examples: ['cheese:\n  group.present:\n    - gid: 7648\n    - addusers:\n      - user1'],
  params,
  async run(args, ctx) {
    const { name, addusers, delusers, members } = args;
    // In Salt these two are not failures but "no result", and programs that read results depend on it.
    if (members !== null && (addusers !== null || delusers !== null)) {
      const comment =
        'Error: Conflicting options "members" with "addusers" and/or "delusers" can not be used together. ';
      return ctx.result({ result: null, comment });
    }
    if (texts(addusers).some((user) => texts(delusers).includes(user))) {
      return ctx.result({ result: null, comment: 'Error. Same user(s) can not be added and deleted simultaneously' });
    }
    const changes = await changesOf(args, ctx);
    if (typeof changes === 'string') return ctx.fail(changes);
    if (!changes)
      return ctx.change(newDict(), '', { test: `Group ${name} set to be added`, apply: () => create(args, ctx) });
    if (Object.keys(changes).length === 0) return ctx.ok(`Group ${name} is present and up to date`);
    return ctx.change(newDict(), '', { test: announcement(changes), apply: () => update(args, changes, ctx) });
  },
});

const absent = state({
  doc: 'A group that must not exist.',
  examples: ['cheese:\n  group.absent'],
  params: { name: p.string({ doc: 'the group' }) },
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('group.info', name),
      wanted: false,
      change: () => ctx.call('group.delete', name),
      changes: () => ({ [name]: '' }),
      right: 'Group not present',
      would: `Group ${name} is set for removal`,
      done: `Removed group ${name}`,
      failed: `Failed to remove group ${name}`,
    }),
});

export default defineState({ name: 'group', doc: 'Groups of users.', functions: { present, absent } });
