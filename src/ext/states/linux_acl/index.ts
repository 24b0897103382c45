// State module `acl`: access lists of files.
import {
  defineState,
  messageOf,
  newDict,
  p,
  pyRepr,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { isExpected } from '../shared/calls.ts';
import {
  described,
  type Lists,
  lettersOf,
  listsOf,
  octalOf,
  pathsOf,
  permsAt,
  searched,
  setEntries,
} from './entries.ts';

const name = p.path({ doc: 'the file or folder' });
const acl_type = p.string({ doc: 'user, group, mask, or with `default:` in front' });
const acl_name = p.string({ default: '', doc: 'the user or group; empty for the owner' });
const acl_names = p.oneOf(['list', 'string'], { default: null, doc: 'the users or groups' });
const perms = p.string({ default: '', doc: 'permissions, as in rwx' });
const recurse = p.bool({ default: false, doc: 'and all below' });
const force = p.bool({ default: false, doc: 'remove all other entries first' });
const desired = 'Permissions are in the desired state';

/** Makes a change, or reports it under test; an error of the tool becomes the comment. */
function set(
  change: { changes: ReturnType<typeof newDict>; test: string; done: string; who: string },
  apply: () => Promise<void>,
  ctx: StateContext,
): Promise<StateResult> {
  return ctx.change(change.changes, change.done, {
    test: change.test,
    async apply() {
      try {
        await apply();
        return undefined;
      } catch (error) {
        if (!isExpected(error)) throw error;
        return ctx.fail(`Error updating permissions for ${change.who}: ${messageOf(error)}`);
      }
    },
  });
}

const present = state({
  doc: 'An entry in the access list of a file.',
  examples: ['/srv/shared:\n  acl.present:\n    - acl_type: user\n    - acl_name: larry\n    - perms: rwx'],
  params: { name, acl_type, acl_name, perms, recurse, force },
  async run({ name, acl_type: type, acl_name: who, perms, recurse, force }, ctx) {
    const lists = await listsOf(name, type, recurse, ctx);
    if (typeof lists === 'string') return ctx.fail(lists);
    const key = searched(lists, who);
    const now = permsAt(lists, name, key);
    const paths = recurse ? pathsOf(lists) : [name];
    if (now !== undefined && paths.every((path) => permsAt(lists, path, key) === octalOf(perms)))
      return ctx.ok(desired);
    const old = now === undefined ? undefined : lettersOf(now);
    const changes = newDict([
      ['new', described(who, type, perms)],
      ...(old === undefined ? [] : [['old', described(who, type, old)] as const]),
    ]);
    const texts =
      old === undefined
        ? { test: `New permissions will be applied for ${who}: ${perms}`, done: `Applied new permissions for ${who}` }
        : {
            test: `Updated permissions will be applied for ${who}: ${old} -> ${perms}`,
            done: `Updated permissions for ${who}`,
          };
    return set({ changes, ...texts, who }, () => setEntries(name, type, [who], perms, { recurse, force }, ctx), ctx);
  },
});

/** Removes entries of the given users or groups. */
function remove(lists: Lists, type: string, names: readonly string[], recurse: boolean, ctx: StateContext) {
  const held = names.filter((who) =>
    pathsOf(lists).some((path) => permsAt(lists, path, searched(lists, who)) !== undefined),
  );
  if (held.length === 0) return ctx.ok(desired);
  const old = held.map((who) => {
    const octal = permsAt(lists, lists.name, searched(lists, who));
    return described(who, type, octal === undefined ? '' : lettersOf(octal));
  });
  const changes = newDict([['old', (old.length === 1 ? old[0] : old) as Value]]);
  return ctx.change(changes, 'Removing permissions', {
    test: 'Removing permissions',
    async apply() {
      for (const who of held)
        await ctx.callWith('acl.delfacl', [type, who, lists.name], newDict([['recursive', recurse]]));
    },
  });
}

const absent = state({
  doc: 'An entry that must not be in the access list of a file.',
  examples: ['/srv/shared:\n  acl.absent:\n    - acl_type: user\n    - acl_name: larry'],
  params: { name, acl_type, acl_name, perms, recurse },
  async run({ name, acl_type: type, acl_name: who, recurse }, ctx) {
    const lists = await listsOf(name, type, recurse, ctx);
    return typeof lists === 'string' ? ctx.fail(lists) : remove(lists, type, [who], recurse, ctx);
  },
});

const nameList = (names: Value): string[] => (Array.isArray(names) ? names.map(pyStr) : names ? [pyStr(names)] : []);

const listPresent = state({
  doc: 'Entries for several users or groups.',
  examples: [
    '/srv/shared:\n  acl.list_present:\n    - acl_type: user\n    - acl_names: [larry, moe]\n    - perms: rwx',
  ],
  params: { name, acl_type, acl_names, perms, recurse, force },
  async run({ name, acl_type: type, acl_names: given, perms, recurse, force }, ctx) {
    const names = nameList(given);
    const lists = await listsOf(name, type, undefined, ctx);
    if (typeof lists === 'string') return ctx.fail(lists);
    const wanted = octalOf(perms);
    const differing = names.find((who) => permsAt(lists, name, who) !== wanted);
    if (differing === undefined) return ctx.ok(desired);
    const now = permsAt(lists, name, differing);
    const [all, shown] = [names.join(', '), pyRepr(names)];
    const changes = newDict([
      ['new', described(all, type, now === undefined ? perms : wanted)],
      ...(now === undefined ? [] : [['old', described(all, type, String(now))] as const]),
    ]);
    const texts =
      now === undefined
        ? { test: `New permissions will be applied for ${shown}: ${perms}`, done: `Applied new permissions for ${all}` }
        : {
            test: `Updated permissions will be applied for ${shown}: ${now} -> ${perms}`,
            done: `Updated permissions for ${shown}`,
          };
    return set(
      { changes, ...texts, who: shown },
      () => setEntries(name, type, names, perms, { recurse, force }, ctx),
      ctx,
    );
  },
});

const listAbsent = state({
  doc: 'Users or groups that must have no entry.',
  examples: ['/srv/shared:\n  acl.list_absent:\n    - acl_type: user\n    - acl_names: [larry, moe]'],
  params: { name, acl_type, acl_names, recurse },
  async run({ name, acl_type: type, acl_names: given, recurse }, ctx) {
    const lists = await listsOf(name, type, undefined, ctx);
    return typeof lists === 'string' ? ctx.fail(lists) : remove(lists, type, nameList(given), recurse, ctx);
  },
});

export default defineState({
  name: 'linux_acl',
  virtualName: 'acl',
  doc: 'Access lists of files.',
  available: () =>
    (which('getfacl') !== null && which('setfacl') !== null) ||
    'The linux_acl state cannot be loaded: the getfacl or setfacl binary is not in the path.',
  functions: { present, absent, list_present: listPresent, list_absent: listAbsent },
});
