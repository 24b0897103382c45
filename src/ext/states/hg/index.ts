// State module `hg`: repositories of Mercurial.
import {
  type ArgsOf,
  defineState,
  messageOf,
  newDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
} from 'halite/sdk';
import { isDirectory, readdirSync, rmSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { isExpected } from '../shared/calls.ts';

const params = {
  name: p.string({ doc: 'address of the repository' }),
  rev: p.scalar({ default: null, doc: 'the revision; the newest otherwise' }),
  target: p.scalar({ default: null, doc: 'the folder' }),
  clean: p.bool({ default: false, doc: 'discard local changes' }),
  user: p.scalar({ default: null, doc: 'run as this user' }),
  identity: p.scalar({ default: null, doc: 'private key for SSH' }),
  force: p.bool({ default: false, doc: 'replace a folder that is not a repository' }),
  opts: p.scalar({ default: false, nullable: true, doc: 'further options, in one text' }),
  update_head: p.bool({ default: true, doc: 'update the folder to the revision' }),
};
type Args = ArgsOf<typeof params> & { target: string };

async function update(args: Args, ctx: StateContext): Promise<StateResult> {
  const { target, user, identity, opts, name } = args;
  const current = async (): Promise<string> =>
    pyStr(await ctx.callWith('hg.revision', [target], newDict(Object.entries({ user, rev: '.' }))));
  const before = await current();
  if (!before) return ctx.fail(`Seems that ${target} is not a valid hg repo`);
  return ctx.change(newDict(), '', {
    test: `Repository ${target} update is probably required (current revision is ${before})`,
    async apply() {
      const pulled = pyStr(await ctx.callWith('hg.pull', [target], { user, identity, opts, repository: name }));
      if (!args.update_head)
        return ctx.ok(
          pulled.includes('no changes found')
            ? 'No changes found and update_head=False so will skip updating.'
            : 'Update is probably required but update_head=False so we will skip updating.',
        );
      await ctx.callWith('hg.update', [target, args.rev || 'tip'], { force: args.clean, user });
      const after = await current();
      if (before !== after)
        return ctx.ok(`Repository ${target} updated.`, { changes: newDict([['revision', `${before} => ${after}`]]) });
      return pulled.includes('error:') ? ctx.fail(`An error was thrown by hg:\n${pulled}`) : ctx.ok('');
    },
  });
}

async function clone(args: Args, ctx: StateContext): Promise<StateResult> {
  const { target, user, identity, opts, name } = args;
  const inTheWay = isDirectory(target);
  if (inTheWay && readdirSync(target).length > 0 && !args.force) return ctx.fail('Directory exists, and is not empty');
  return ctx.change(newDict(), '', {
    test: `Repository ${name} is about to be cloned to ${target}`,
    async apply() {
      if (inTheWay) rmSync(target, { recursive: true, force: true });
      const said = await ctx.callWith('hg.clone', [target, name], { user, identity, opts });
      if (!isDirectory(target)) return ctx.fail(pyStr(said));
      if (args.rev) await ctx.callWith('hg.update', [target, args.rev], { user });
      const revision = await ctx.callWith('hg.revision', [target], { user });
      const changes = newDict(Object.entries({ new: name, revision }));
      return ctx.ok(`Repository ${name} cloned to ${target}`, { changes });
    },
  });
}

const latest = state({
  doc: 'A repository that must exist, at the newest or a given revision.',
  examples: ['https://hg.example.com/code:\n  hg.latest:\n    - target: /srv/code'],
  params,
  async run(args, ctx) {
    if (!args.target) return ctx.fail('"target option is required');
    const given = { ...args, target: pyStr(args.target) };
    try {
      return await (isDirectory(`${given.target}/.hg`) ? update(given, ctx) : clone(given, ctx));
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(messageOf(error));
    }
  },
});

export default defineState({
  name: 'hg',
  doc: 'Repositories of Mercurial.',
  available: () => which('hg') !== null || 'Command hg not found',
  functions: { latest },
});
