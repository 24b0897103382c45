// Execution module `group`: groups of the machine, with groupadd and related tools.
import { defineModule, fn, newDict, type PlainDict, p, pyInt, pyStr, textList } from 'halite/sdk';
import { allGroups, type Group, groupByName, runTool } from 'halite/sdk/system';

const describe = (group: Group): PlainDict =>
  newDict([
    ['name', group.name],
    ['passwd', group.passwd],
    ['gid', group.gid],
    ['members', [...group.members]],
  ]);

const name = p.string({ doc: 'the group' });
const root = p.string({ default: null, doc: 'folder of another system' });
const rootOptions = (folder: string | null): string[] => (folder === null ? [] : ['-R', folder]);
const gpasswdRoot = (folder: string | null): string[] => (folder === null ? [] : ['--root', folder]);

export default defineModule({
  name: 'groupadd',
  virtualName: 'group',
  doc: 'Groups of the machine.',
  available: () => process.platform === 'linux' || 'groupadd: only Linux is supported',
  reads: ['info', 'getent'],
  functions: {
    info: fn({
      doc: 'Everything about a group; empty when there is none.',
      examples: ["salt '*' group.info foo"],
      params: { name, root },
      run(args) {
        const group = groupByName(args.name, args.root ?? '');
        return group ? describe(group) : newDict();
      },
    }),
    getent: fn({
      doc: 'Everything about all groups.',
      examples: ["salt '*' group.getent"],
      params: { refresh: p.bool({ default: false, doc: 'accepted' }), root },
      run: (args) => allGroups(args.root ?? '').map(describe),
    }),
    add: fn({
      doc: 'Creates a group.',
      examples: ["salt '*' group.add foo 3456"],
      params: {
        name,
        gid: p.int({ default: null }),
        system: p.bool({ default: false }),
        root,
        non_unique: p.bool({ default: false, doc: 'allow an id that is in use' }),
      },
      async run(args, ctx) {
        const id = args.gid ? ['-g', pyStr(args.gid), ...(args.non_unique ? ['-o'] : [])] : [];
        const options = [...id, ...(args.system ? ['-r'] : []), ...rootOptions(args.root)];
        return (await runTool(ctx, 'groupadd', [...options, '--', args.name])).retcode === 0;
      },
    }),
    delete: fn({
      doc: 'Removes a group.',
      examples: ["salt '*' group.delete foo"],
      params: { name, root },
      run: async (args, ctx) =>
        (await runTool(ctx, 'groupdel', [...rootOptions(args.root), '--', args.name])).retcode === 0,
    }),
    chgid: fn({
      doc: 'Changes the id of a group.',
      examples: ["salt '*' group.chgid foo 4376"],
      params: { name, gid: p.int(), root, non_unique: p.bool({ default: false }) },
      async run(args, ctx) {
        const folder = args.root ?? '';
        const gid = pyInt(args.gid);
        const group = groupByName(args.name, folder);
        if (!group) return false;
        if (group.gid === gid) return true;
        const unique = args.non_unique ? ['-o'] : [];
        await runTool(ctx, 'groupmod', [...rootOptions(args.root), ...unique, '-g', String(gid), '--', args.name]);
        return groupByName(args.name, folder)?.gid === gid;
      },
    }),
    adduser: fn({
      doc: 'Adds a user to a group.',
      examples: ["salt '*' group.adduser foo bar"],
      params: { name, username: p.string(), root },
      run: async (args, ctx) =>
        (await runTool(ctx, 'gpasswd', [...gpasswdRoot(args.root), '--add', args.username, '--', args.name]))
          .retcode === 0,
    }),
    deluser: fn({
      doc: 'Removes a user from a group.',
      examples: ["salt '*' group.deluser foo bar"],
      params: { name, username: p.string(), root },
      async run(args, ctx) {
        if (!groupByName(args.name)?.members.includes(args.username)) return true;
        const options = [...gpasswdRoot(args.root), '--del', args.username, '--', args.name];
        return (await runTool(ctx, 'gpasswd', options)).retcode === 0;
      },
    }),
    members: fn({
      doc: 'Replaces the members of a group.',
      examples: ["salt '*' group.members foo 'user1,user2,user3,...'"],
      params: { name, members_list: p.strings({ split: ',', doc: 'list, or text with commas' }), root },
      async run(args, ctx) {
        const list = textList(args.members_list).join(',');
        return (
          (await runTool(ctx, 'gpasswd', [...gpasswdRoot(args.root), '--members', list, '--', args.name])).retcode === 0
        );
      },
    }),
  },
});
