// Execution module `user`: user accounts, with useradd and related tools.
import {
  type ArgsOf,
  commandError,
  defineModule,
  dictGet,
  fn,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  textList,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { readText } from 'halite/sdk/fs';
import {
  allGroups,
  allUsers,
  type Group,
  groupByName,
  groupsOfUser,
  runTool,
  type User,
  userByName,
} from 'halite/sdk/system';
import { splitTimes } from 'halite/sdk/text';

const gecosKeys = ['fullname', 'roomnumber', 'workphone', 'homephone', 'other'] as const;
type GecosKey = (typeof gecosKeys)[number];

function gecosOf(user: User): Record<GecosKey, string> {
  const parts = splitTimes(user.gecos, ',', 4);
  return Object.fromEntries(gecosKeys.map((key, index) => [key, parts[index] ?? ''])) as Record<GecosKey, string>;
}

function groupNames(user: User, groups: readonly Group[]): string[] {
  const names = groups
    .filter((group) => group.members.includes(user.name) || group.gid === user.gid)
    .map((group) => group.name);
  return [...new Set(names)].sort(compareText);
}

function describe(user: User, groups: readonly Group[]): PlainDict {
  return newDict([
    ['gid', user.gid],
    ['groups', groupNames(user, groups)],
    ['home', user.home],
    ['name', user.name],
    ['passwd', user.passwd],
    ['shell', user.shell],
    ['uid', user.uid],
    ...Object.entries(gecosOf(user)),
  ]);
}

const rootOptions = (root: string | null): string[] => (root === null ? [] : ['-R', root]);
const find = (name: string, root: string | null): User | undefined => userByName(name, root ?? '');

/** Changes one attribute with usermod; True when it has the value afterwards. */
async function change(
  name: string,
  root: string | null,
  options: string[],
  isSet: (user: User) => boolean,
  ctx: ModuleContext,
): Promise<boolean> {
  const user = find(name, root);
  if (!user) throw commandError(`User '${name}' does not exist`);
  if (isSet(user)) return true;
  await runTool(ctx, 'usermod', [...rootOptions(root), ...options, '--', name]);
  const after = find(name, root);
  return after !== undefined && isSet(after);
}

async function changeGecos(
  name: string,
  key: GecosKey,
  value: Value,
  root: string | null,
  ctx: ModuleContext,
): Promise<boolean> {
  const user = find(name, root);
  if (!user) throw commandError(`User '${name}' does not exist`);
  const text = value === null ? '' : pyStr(value);
  const gecos = { ...gecosOf(user), [key]: text };
  const line = gecosKeys
    .map((part) => gecos[part])
    .join(',')
    .replace(/,+$/, '');
  return change(name, root, ['-c', line], (now) => gecosOf(now)[key] === text, ctx);
}

async function changeGroups(
  name: string,
  groups: Value,
  append: boolean,
  root: string | null,
  ctx: ModuleContext,
): Promise<boolean> {
  const wanted = textList(groups).filter(Boolean);
  const user = find(name, root);
  const now = user ? groupsOfUser(user) : [];
  if (now.length === wanted.length && wanted.every((group) => now.includes(group))) return true;
  const { retcode, stderr } = await runTool(ctx, 'usermod', [
    ...rootOptions(root),
    ...(append ? ['-a'] : []),
    '-G',
    wanted.join(','),
    '--',
    name,
  ]);
  if (retcode === 0 || !stderr.includes('not found in')) return retcode === 0;
  // The user is not in the local files (LDAP): groups can still be changed one by one.
  let done = true;
  for (const group of wanted) done = (await runTool(ctx, 'gpasswd', ['-a', name, group])).retcode === 0 && done;
  return done;
}

type NewUser = ArgsOf<typeof newUserParams>;

/** A group named like the user becomes the primary one where the system makes such groups. */
function ownGroup(user: NewUser): string[] {
  if (user.groups === null || !textList(user.groups).includes(user.name)) return [];
  const line = (readText('/etc/login.defs') ?? '').split('\n').find((row) => row.startsWith('USERGROUPS_ENAB'));
  const gid = groupByName(user.name)?.gid;
  return line?.includes('yes') && gid !== undefined ? ['-g', String(gid)] : [];
}

function addOptions(user: NewUser): string[] {
  const given = (value: Value): boolean => value !== null && value !== '';
  const group = given(user.gid) ? ['-g', pyStr(user.gid)] : user.usergroup ? ['-U'] : ownGroup(user);
  return [
    ...(user.shell ? ['-s', user.shell] : []),
    ...(given(user.uid) ? ['-u', pyStr(user.uid)] : []),
    ...group,
    ...(user.usergroup === false ? ['-N'] : []),
    user.createhome ? '-m' : '-M',
    ...(user.nologinit ? ['-l'] : []),
    ...(user.home === null ? [] : ['-d', user.home]),
    ...(user.unique ? [] : ['-o']),
    ...(user.system ? ['-r'] : []),
    ...rootOptions(user.root),
  ];
}

const name = p.string({ doc: 'the account' });
const root = p.string({ default: null, doc: 'folder of another system' });

const gecosFunction = (key: GecosKey, what: string) =>
  fn({
    doc: `Changes the ${what} of a user.`,
    examples: [`salt '*' user.ch${key} foo 'new value'`],
    params: { name, [key]: p.scalar({ nullable: true }), root },
    run: (args, ctx) => {
      const given = args as Record<string, Value>;
      return changeGecos(
        pyStr(given['name'] ?? ''),
        key,
        given[key] ?? null,
        (given['root'] as string | null) ?? null,
        ctx,
      );
    },
  });

const reading = {
  info: fn({
    doc: 'Everything about a user; empty when there is none.',
    examples: ["salt '*' user.info root"],
    params: { name, root },
    run(args) {
      const user = find(args.name, args.root);
      return user ? describe(user, allGroups(args.root ?? '')) : newDict();
    },
  }),
  getent: fn({
    doc: 'Everything about all users.',
    examples: ["salt '*' user.getent"],
    params: { refresh: p.bool({ default: false, doc: 'accepted' }), root },
    run(args) {
      const groups = allGroups(args.root ?? '');
      return allUsers(args.root ?? '').map((user) => describe(user, groups));
    },
  }),
  list_users: fn({
    doc: 'The names of all users, sorted.',
    examples: ["salt '*' user.list_users"],
    params: { root },
    run: (args) =>
      allUsers(args.root ?? '')
        .map((user) => user.name)
        .sort(compareText),
  }),
  list_groups: fn({
    doc: 'The groups a user is in, sorted.',
    examples: ["salt '*' user.list_groups foo"],
    params: { name },
    run(args) {
      const user = find(args.name, null);
      return user ? groupNames(user, allGroups()) : [];
    },
  }),
  primary_group: fn({
    doc: 'The primary group of a user.',
    examples: ["salt '*' user.primary_group saltadmin"],
    params: { name },
    run(args, ctx) {
      const user = find(args.name, null);
      if (!user) {
        ctx.setRetcode(1);
        return `id: '${args.name}': no such user`;
      }
      return allGroups().find((group) => group.gid === user.gid)?.name ?? String(user.gid);
    },
  }),
  get_loginclass: fn({
    doc: 'OpenBSD only: False here.',
    examples: ["salt '*' user.get_loginclass foo"],
    params: { name },
    run: () => false,
  }),
};

const newUserParams = {
  name,
  uid: p.scalar({ default: null }),
  gid: p.scalar({ default: null }),
  groups: p.strings({ default: null, split: ',', doc: 'more groups: a list or text with commas' }),
  home: p.string({ default: null }),
  shell: p.string({ default: null }),
  unique: p.bool({ default: true, doc: 'refuse an id that is in use' }),
  system: p.bool({ default: false }),
  fullname: p.string({ default: '' }),
  roomnumber: p.string({ default: '' }),
  workphone: p.string({ default: '' }),
  homephone: p.string({ default: '' }),
  other: p.string({ default: '' }),
  createhome: p.bool({ default: true }),
  loginclass: p.string({ default: null, doc: 'OpenBSD only' }),
  nologinit: p.bool({ default: false, doc: 'do not enter the user into lastlog and faillog' }),
  root,
  usergroup: p.oneOf(['bool', 'string'], { default: null, doc: 'whether to create a group of the same name' }),
};

const writing = {
  add: fn({
    doc: 'Creates a user.',
    examples: ["salt '*' user.add name <uid> <gid> <groups> <home> <shell>"],
    params: newUserParams,
    async run(args, ctx) {
      const { retcode } = await runTool(ctx, 'useradd', [...addOptions(args), '--', args.name]);
      if (retcode !== 0) return false;
      if (args.groups !== null && textList(args.groups).length > 0)
        await changeGroups(args.name, args.groups, false, args.root, ctx);
      for (const key of gecosKeys) if (args[key]) await changeGecos(args.name, key, args[key], args.root, ctx);
      return true;
    },
  }),
  delete: fn({
    doc: 'Removes a user; with remove also the home.',
    examples: ["salt '*' user.delete name remove=True force=True"],
    params: { name, remove: p.bool({ default: false }), force: p.bool({ default: false }), root },
    async run(args, ctx) {
      const options = [...(args.remove ? ['-r'] : []), ...(args.force ? ['-f'] : []), ...rootOptions(args.root)];
      const { retcode, stderr } = await runTool(ctx, 'userdel', [...options, '--', args.name]);
      // Debian's userdel fails when there is no mail spool to remove, although the user is gone.
      const noMail =
        retcode === 12 && dictGet(ctx.grains, 'os_family') === 'Debian' && /var\/(spool\/)?mail/.test(stderr);
      return retcode === 0 || noMail;
    },
  }),
  rename: fn({
    doc: 'Changes the name of a user.',
    examples: ["salt '*' user.rename name new_name"],
    params: { name, new_name: p.string(), root },
    async run(args, ctx) {
      if (find(args.new_name, args.root)) throw commandError(`User '${args.new_name}' already exists`);
      const user = find(args.name, args.root);
      if (!user) throw commandError(`User '${args.name}' does not exist`);
      await runTool(ctx, 'usermod', [...rootOptions(args.root), '-l', args.new_name, '--', args.name]);
      return find(args.new_name, args.root) !== undefined;
    },
  }),
  chuid: fn({
    doc: 'Changes the id of a user.',
    examples: ["salt '*' user.chuid foo 4376"],
    params: { name, uid: p.int(), root },
    run: (args, ctx) => change(args.name, args.root, ['-u', String(args.uid)], (user) => user.uid === args.uid, ctx),
  }),
  chgid: fn({
    doc: 'Changes the primary group of a user (by id).',
    examples: ["salt '*' user.chgid foo 4376"],
    params: { name, gid: p.scalar({ nullable: true }), root },
    run(args, ctx) {
      const gid = typeof args.gid === 'number' ? args.gid : (groupByName(pyStr(args.gid))?.gid ?? Number(args.gid));
      return change(args.name, args.root, ['-g', pyStr(args.gid)], (user) => user.gid === gid, ctx);
    },
  }),
  chshell: fn({
    doc: 'Changes the shell of a user.',
    examples: ["salt '*' user.chshell foo /bin/zsh"],
    params: { name, shell: p.string(), root },
    run: (args, ctx) => change(args.name, args.root, ['-s', args.shell], (user) => user.shell === args.shell, ctx),
  }),
  chhome: fn({
    doc: 'Changes the home of a user; with persist the files are moved.',
    examples: ["salt '*' user.chhome foo /home/users/foo persist=True"],
    params: { name, home: p.string(), persist: p.bool({ default: false }), root },
    run: (args, ctx) =>
      change(
        args.name,
        args.root,
        [...(args.persist ? ['-m'] : []), '-d', args.home],
        (user) => user.home === args.home,
        ctx,
      ),
  }),
  chgroups: fn({
    doc: 'Changes the groups of a user; with append the present ones are kept.',
    examples: ["salt '*' user.chgroups foo wheel,root", "salt '*' user.chgroups foo wheel append=True"],
    params: { name, groups: p.strings({ split: ',' }), append: p.bool({ default: false }), root },
    run: (args, ctx) => changeGroups(args.name, args.groups, args.append, args.root, ctx),
  }),
  chfullname: gecosFunction('fullname', 'full name'),
  chroomnumber: gecosFunction('roomnumber', 'room number'),
  chworkphone: gecosFunction('workphone', 'phone number at work'),
  chhomephone: gecosFunction('homephone', 'phone number at home'),
  chother: gecosFunction('other', 'last field of the description'),
  chloginclass: fn({
    doc: 'OpenBSD only: False here.',
    examples: ["salt '*' user.chloginclass foo staff"],
    params: { name, loginclass: p.string(), root },
    run: () => false,
  }),
};

export default defineModule({
  name: 'useradd',
  virtualName: 'user',
  doc: 'Users of the machine.',
  available: () => process.platform === 'linux' || 'useradd: only Linux is supported',
  reads: ['info', 'getent', 'list_users', 'list_groups', 'primary_group', 'get_loginclass'],
  functions: { ...reading, ...writing },
});
