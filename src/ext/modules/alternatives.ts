// Execution module `alternatives`: chooses which of several programs a name refers to.

import { defineModule, dictGet, fn, type ModuleContext, p, pyStr, type Value } from 'halite/sdk';
import { isDirectory, readlinkSync, readText } from 'halite/sdk/fs';
import { askTool, runTool } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

const family = (ctx: ModuleContext): string => pyStr(dictGet(ctx.grains, 'os_family') ?? '');
const tool = (ctx: ModuleContext): string => (family(ctx) === 'RedHat' ? 'alternatives' : 'update-alternatives');

function current(name: string): string | undefined {
  try {
    return readlinkSync(`/etc/alternatives/${name}`);
  } catch {
    return undefined;
  }
}

async function change(ctx: ModuleContext, args: string[], errorsOnlyWithText = false): Promise<string> {
  const { retcode, stdout, stderr } = await runTool(ctx, tool(ctx), args);
  return (retcode > 0 && (!errorsOnlyWithText || stderr !== '') ? stderr : stdout).trimEnd();
}

async function display(name: string, ctx: ModuleContext): Promise<{ ok: boolean; text: string }> {
  const { retcode, stdout, stderr } = await askTool(ctx, tool(ctx), ['--display', name]);
  const failed = retcode > 0 && stderr !== '';
  return { ok: !failed, text: (failed ? stderr : stdout).trimEnd() };
}

async function showLink(name: string, ctx: ModuleContext): Promise<Value> {
  const folder =
    family(ctx) === 'RedHat'
      ? '/var/lib/alternatives'
      : family(ctx) === 'Suse'
        ? '/var/lib/rpm/alternatives'
        : undefined;
  if (folder) return lines(readText(`${folder}/${name}`) ?? '')[1] ?? false;
  const { retcode, stdout } = await askTool(ctx, tool(ctx), ['--query', name]);
  return (retcode === 0 ? /^Link:\s*(.*)$/m.exec(stdout)?.[1] : undefined) ?? false;
}

const name = p.string({ doc: 'the name' });
const path = p.path({ doc: 'the program' });

export default defineModule({
  name: 'alternatives',
  doc: 'Which of several programs a name refers to.',
  available: () =>
    isDirectory('/etc/alternatives') || 'Cannot load alternatives module: /etc/alternatives dir not found',
  reads: ['display', 'show_link', 'show_current', 'check_exists', 'check_installed'],
  functions: {
    display: fn({
      doc: 'Details of a name.',
      examples: ["salt '*' alternatives.display editor"],
      outputter: 'txt',
      params: { name },
      run: async (args, ctx) => (await display(args.name, ctx)).text,
    }),
    show_link: fn({
      doc: 'The path of the link of a name, or False.',
      examples: ["salt '*' alternatives.show_link editor"],
      params: { name },
      run: (args, ctx) => showLink(args.name, ctx),
    }),
    show_current: fn({
      doc: 'The program that a name refers to, or False.',
      examples: ["salt '*' alternatives.show_current editor"],
      params: { name },
      run: (args) => current(args.name) ?? false,
    }),
    check_exists: fn({
      doc: 'Whether a program is an alternative of a name.',
      examples: ["salt '*' alternatives.check_exists name path"],
      params: { name, path },
      async run(args, ctx) {
        const { ok, text } = await display(args.name, ctx);
        return ok && lines(text).some((line) => line.startsWith(args.path));
      },
    }),
    check_installed: fn({
      doc: 'Whether a name refers to a program now.',
      examples: ["salt '*' alternatives.check_installed name path"],
      params: { name, path },
      run: (args) => current(args.name) === args.path,
    }),
    install: fn({
      doc: 'Adds a program to the alternatives of a name.',
      examples: ["salt '*' alternatives.install editor /usr/bin/editor /usr/bin/emacs23 50"],
      outputter: 'txt',
      params: { name, link: p.path(), path, priority: p.string() },
      run: (args, ctx) => change(ctx, ['--install', args.link, args.name, args.path, args.priority], true),
    }),
    remove: fn({
      doc: 'Removes a program from the alternatives of a name.',
      examples: ["salt '*' alternatives.remove name path"],
      outputter: 'txt',
      params: { name, path },
      run: (args, ctx) => change(ctx, ['--remove', args.name, args.path]),
    }),
    auto: fn({
      doc: 'Sets automatic mode: the program with the highest priority is chosen.',
      examples: ["salt '*' alternatives.auto name"],
      params: { name },
      run: (args, ctx) => change(ctx, ['--auto', args.name]),
    }),
    set: fn({
      doc: 'Chooses a program manually.',
      examples: ["salt '*' alternatives.set name path"],
      params: { name, path },
      run: (args, ctx) => change(ctx, ['--set', args.name, args.path]),
    }),
  },
});
