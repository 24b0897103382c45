// Function `file.check_perms`: compares and sets owner, group and mode.
import { dictGet, fn, isDict, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { expandUser, normalizeMode } from 'halite/sdk/fs';
import { permsNeeded, setPerms } from '../../shared/file/perms.ts';
import { readSelinux } from '../../shared/file/selinux.ts';
import { fileStats } from '../../shared/file/stats.ts';
import { asState } from './as-state.ts';

export const selinuxParams = {
  seuser: p.scalar({ default: null, doc: 'SELinux user' }),
  serole: p.scalar({ default: null, doc: 'SELinux role' }),
  setype: p.scalar({ default: null, doc: 'SELinux type' }),
  serange: p.scalar({ default: null, doc: 'SELinux range' }),
};

type SelinuxArgs = { readonly [key in keyof typeof selinuxParams]: Value };
export const selinuxOf = ({ seuser, serole, setype, serange }: SelinuxArgs) =>
  readSelinux(newDict(Object.entries({ seuser, serole, setype, serange })));

/** The values of the file (`luser`, …) and those that differ from the request (`cuser`, …). */
function comparison(found: PlainDict, user: Value, group: Value, mode: string | null): PlainDict {
  const perms = newDict([
    ['luser', (typeof user === 'number' ? found['uid'] : found['user']) ?? null],
    ['lgroup', (typeof group === 'number' ? found['gid'] : found['group']) ?? null],
    ['lmode', found['mode'] ?? null],
  ]);
  if (user && user !== found['user'] && user !== found['uid']) perms['cuser'] = user;
  if (group && group !== found['group'] && group !== found['gid']) perms['cgroup'] = group;
  if (mode !== null && mode !== found['mode']) perms['cmode'] = mode;
  return perms;
}

/** The answer so far, if the caller passes one: changes are added to it, and its comment comes first. */
function answer(
  given: Value,
  name: string,
  changes: PlainDict,
  comments: readonly string[],
  result: boolean | null,
): PlainDict {
  const before = isDict(given) ? given : newDict();
  const said = pyStr(dictGet(before, 'comment') ?? '');
  const known = dictGet(before, 'changes');
  return newDict([
    ['name', dictGet(before, 'name') ?? name],
    ['changes', newDict([...(isDict(known) ? Object.entries(known) : []), ...Object.entries(changes)] as never)],
    ['comment', [...(said ? [said] : []), ...comments].join('; ')],
    ['result', result === true ? (dictGet(before, 'result') ?? true) : result],
  ]);
}

export const permsFunctions = {
  check_perms: fn({
    doc: 'Compares owner, group and mode of a file and sets what differs: returns the answer, and the present and requested values.',
    examples: ["salt '*' file.check_perms /etc/sudoers '{}' root root 400"],
    params: {
      name: p.path(),
      ret: p.dict({ nullable: true, doc: 'an answer to extend, or an empty map' }),
      user: p.oneOf(['int', 'string'], { nullable: true }),
      group: p.oneOf(['int', 'string'], { nullable: true }),
      mode: p.string({ nullable: true }),
      attrs: p.scalar({ default: null }),
      follow_symlinks: p.bool({ default: false }),
      ...selinuxParams,
    },
    async run(args, ctx): Promise<Value> {
      const name = expandUser(args.name);
      const mode = normalizeMode(args.mode);
      const found = fileStats(name, args.follow_symlinks);
      const perms = comparison(found, args.user, args.group, mode);
      const { user, group, attrs } = args;
      const request = { user, group, mode, attrs, follow: args.follow_symlinks, selinux: selinuxOf(args) };
      const state = asState(ctx, 'base', name);
      if (ctx.test) {
        delete perms['cmode'];
        const changes = await permsNeeded(name, request, state);
        return [answer(args.ret, name, changes, [], Object.keys(changes).length > 0 ? null : true), perms];
      }
      const done = await setPerms(name, request, state);
      return [answer(args.ret, name, done.changes, done.problems, done.ok), perms];
    },
  }),
};
