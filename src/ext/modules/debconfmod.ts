// Execution module `debconf`: answers to the questions Debian packages ask when they are installed.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defineModule,
  dictGet,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { mkdtempSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { askTool, which } from 'halite/sdk/system';

/** Package → [question, type, value]. */
async function selections(ctx: ModuleContext, empty: boolean): Promise<Map<string, string[][]>> {
  const { stdout } = await askTool(ctx, 'debconf-get-selections', []);
  const found = new Map<string, string[][]>();
  for (const match of stdout.matchAll(/^([^#\s]\S+)[\t ]+(\S+)[\t ]+(\S+)[\t ]+([^\n]*)$/gm)) {
    const [, name = '', question = '', type = '', value = ''] = match;
    if (!empty && value === '') continue;
    const list = found.get(name);
    if (list) list.push([question, type, value]);
    else found.set(name, [[question, type, value]]);
  }
  return found;
}

const apply = (path: string, ctx: ModuleContext) => askTool(ctx, 'debconf-set-selections', [path]);

/** Answers are passed in a file, because they may contain passwords, which must not appear in the process list. */
async function applyText(text: string, ctx: ModuleContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-debconf-'));
  try {
    const path = join(folder, 'answers');
    writeFileSync(path, text, { mode: 0o600 });
    await apply(path, ctx);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export default defineModule({
  name: 'debconfmod',
  virtualName: 'debconf',
  doc: 'Answers to the questions Debian packages ask.',
  available: ({ grains }) => {
    if (dictGet(grains, 'os_family') !== 'Debian')
      return 'The debconfmod module could not be loaded: unsupported OS family';
    return (
      which('debconf-get-selections') !== null ||
      'The debconfmod module could not be loaded: debconf-utils is not installed.'
    );
  },
  reads: ['get_selections', 'show'],
  functions: {
    get_selections: fn({
      doc: 'All answers, by package.',
      examples: ["salt '*' debconf.get_selections"],
      params: { fetchempty: p.bool({ default: true, doc: 'also questions without answer' }) },
      run: async (args, ctx) => newDict([...(await selections(ctx, args.fetchempty))] as [string, Value][]),
    }),
    show: fn({
      doc: 'The answers for a package, or None.',
      examples: ["salt '*' debconf.show <package name>"],
      params: { name: p.string() },
      run: async (args, ctx) => (await selections(ctx, true)).get(args.name) ?? null,
    }),
    set: fn({
      doc: 'Sets an answer.',
      examples: ["salt '*' debconf.set <package> <question> <type> <value> [<value> ...]"],
      params: { package: p.string(), question: p.string(), type: p.string(), value: p.scalar(), extra: p.rest() },
      async run(args, ctx) {
        const value = [args.value, ...args.extra].map(pyStr).join(' ');
        if ([args.package, args.question, args.type, value].some((part) => part.includes('\n')))
          throw invocationError('An answer is one line');
        await applyText(`${args.package} ${args.question} ${args.type} ${value}\n`, ctx);
        return true;
      },
    }),
    set_file: fn({
      doc: 'Sets the answers of a file.',
      examples: ["salt '*' debconf.set_file salt://pathto/pkg.selections"],
      params: { path: p.string(), saltenv: p.string({ default: 'base' }), kwargs: p.kwargs() },
      async run(args, ctx) {
        const path = await ctx.files.cacheFile(args.path, { saltenv: args.saltenv });
        if (!path) return false;
        await apply(path, ctx);
        return true;
      },
    }),
    set_template: fn({
      doc: 'Sets the answers of a file that is rendered first.',
      examples: ["salt '*' debconf.set_template salt://pathto/pkg.selections.jinja jinja None None"],
      params: {
        path: p.string(),
        template: p.string(),
        context: p.dict({ nullable: true }),
        defaults: p.dict({ nullable: true }),
        saltenv: p.string({ default: 'base' }),
        kwargs: p.kwargs(),
      },
      async run({ path, template, context, defaults, saltenv }, ctx) {
        const made = await ctx.callWith('cp.get_template', [path, ''], { template, saltenv, context, defaults });
        if (typeof made !== 'string' || made === '') return false;
        await apply(made, ctx);
        return true;
      },
    }),
  },
});
