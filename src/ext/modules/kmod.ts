// Execution module `kmod`: modules of the kernel.

import { release } from 'node:os';
import { basename, join } from 'node:path';
import { defineModule, dictHas, fn, type ModuleContext, newDict, type PlainDict, p } from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { pathExists, readdirSync, readText } from 'halite/sdk/fs';
import { askTool, runTool } from 'halite/sdk/system';
import { lines, pyEscape, words } from 'halite/sdk/text';

const confFile = (ctx: ModuleContext): string =>
  dictHas(ctx.grains, 'systemd') ? '/etc/modules-load.d/salt_managed.conf' : '/etc/modules';

async function lsmod(
  ctx: ModuleContext,
): Promise<{ module: string; size: string; depcount: string; deps: string[] }[]> {
  const { stdout } = await askTool(ctx, 'lsmod', []);
  return lines(stdout).flatMap((line) => {
    const [module = '', size = '', depcount, deps] = words(line);
    return depcount === undefined || module === 'Module'
      ? []
      : [{ module, size, depcount, deps: deps ? deps.split(',') : [] }];
  });
}

function available(): string[] {
  const folder = join('/lib/modules', release());
  const builtin = lines(readText(join(folder, 'modules.builtin')) ?? '').map((line) =>
    basename(line).replace(/\.ko.*$/, ''),
  );
  let files: string[] = [];
  try {
    files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.ko'));
  } catch {
    // A kernel without modules.
  }
  const loadable = files
    .map((file) => basename(file))
    .filter((file) => file.includes('.ko'))
    .map((file) => file.slice(0, file.indexOf('.ko')).replaceAll('-', '_'));
  return [...builtin, ...loadable].sort(compareText);
}

async function loaded(ctx: ModuleContext): Promise<string[]> {
  return [...new Set((await lsmod(ctx)).map((row) => row.module))].sort(compareText);
}

function persistent(ctx: ModuleContext): string[] {
  const rows = lines(readText(confFile(ctx)) ?? '')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return [...new Set(rows.map((line) => words(line)[0] ?? ''))].sort(compareText);
}

async function keep(mod: string, ctx: ModuleContext): Promise<string[]> {
  const conf = confFile(ctx);
  if (!pathExists(conf)) await ctx.call('file.touch', conf);
  const name = words(mod)[0];
  if (!name || persistent(ctx).includes(name) || !available().includes(name)) return [];
  const escaped = pyEscape(mod);
  const off = await ctx.callWith('file.search', [conf, `^#[\t ]*${escaped}[\t ]*$`], { multiline: true });
  await (off ? ctx.call('file.uncomment', conf, escaped) : ctx.call('file.append', conf, mod));
  return [name];
}

async function forget(mod: string, comment: boolean, ctx: ModuleContext): Promise<string[]> {
  const name = words(mod)[0];
  if (!name || !persistent(ctx).includes(name)) return [];
  const pattern = `^[\t ]*${pyEscape(mod)}[\t ]?`;
  await (comment
    ? ctx.call('file.comment', confFile(ctx), pattern)
    : ctx.callWith('file.replace', [confFile(ctx), `${pattern}.*\n?`, ''], { backup: false }));
  return [name];
}

const mod = p.string({ doc: 'the module' });

export default defineModule({
  name: 'kmod',
  doc: 'Modules of the kernel.',
  available: () => process.platform === 'linux' || 'kmod: only Linux is supported',
  reads: ['available', 'check_available', 'lsmod', 'mod_list', 'is_loaded'],
  functions: {
    available: fn({
      doc: 'All modules that can be loaded, sorted.',
      examples: ["salt '*' kmod.available"],
      run: available,
    }),
    check_available: fn({
      doc: 'Whether a module can be loaded.',
      examples: ["salt '*' kmod.check_available kvm"],
      params: { mod },
      run: (args) => available().includes(args.mod),
    }),
    lsmod: fn({
      doc: 'Loaded modules with size and users.',
      examples: ["salt '*' kmod.lsmod"],
      run: async (_, ctx) =>
        (await lsmod(ctx)).map(
          ({ size, module, depcount, deps }): PlainDict => newDict(Object.entries({ size, module, depcount, deps })),
        ),
    }),
    mod_list: fn({
      doc: 'Names of loaded modules, or of those loaded at boot.',
      examples: ["salt '*' kmod.mod_list"],
      params: { only_persist: p.bool({ default: false, doc: 'those loaded at boot' }) },
      run: async (args, ctx) => (args.only_persist ? persistent(ctx) : loaded(ctx)),
    }),
    is_loaded: fn({
      doc: 'Whether a module is loaded.',
      examples: ["salt '*' kmod.is_loaded kvm"],
      params: { mod },
      run: async (args, ctx) => (await loaded(ctx)).includes(args.mod),
    }),
    load: fn({
      doc: 'Loads a module; returns the newly loaded modules.',
      examples: ["salt '*' kmod.load kvm"],
      params: { mod, persist: p.bool({ default: false, doc: 'also at every boot' }) },
      async run(args, ctx) {
        const before = await loaded(ctx);
        const { retcode, stderr } = await runTool(ctx, 'modprobe', ['--', ...words(args.mod)]);
        if (retcode !== 0) return `Error loading module ${args.mod}: ${stderr.trim()}`;
        const made = (await loaded(ctx)).filter((name) => !before.includes(name));
        return [...new Set([...made, ...(args.persist ? await keep(args.mod, ctx) : [])])].sort(compareText);
      },
    }),
    remove: fn({
      doc: 'Unloads a module; returns the unloaded modules.',
      examples: ["salt '*' kmod.remove kvm"],
      params: {
        mod,
        persist: p.bool({ default: false, doc: 'also remove it from boot' }),
        comment: p.bool({ default: true, doc: 'comment the line out instead of removing it' }),
      },
      async run(args, ctx) {
        const before = await loaded(ctx);
        const { retcode, stderr } = await runTool(ctx, 'rmmod', ['--', args.mod]);
        if (retcode !== 0) return `Error removing module ${args.mod}: ${stderr.trim()}`;
        const now = await loaded(ctx);
        const gone = before.filter((name) => !now.includes(name));
        return [...new Set([...gone, ...(args.persist ? await forget(args.mod, args.comment, ctx) : [])])].sort(
          compareText,
        );
      },
    }),
  },
});
