// Execution module `aliases`: the table of mail aliases.

import { dirname, join } from 'node:path';
import { defineModule, fn, invocationError, type ModuleContext, newDict, p, pyStr, type Value } from 'halite/sdk';
import { chmodSync, chownSync, readText, renameSync, statSync, writeFileSync } from 'halite/sdk/fs';
import { askTool, which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

interface Line {
  readonly alias: string;
  readonly target: string;
  /** With the comment lines before it. */
  readonly comment: string;
}

async function fileOf(ctx: ModuleContext): Promise<string> {
  return pyStr((await ctx.call('config.option', 'aliases.file')) || '/etc/aliases');
}

export function parseAliases(text: string): Line[] {
  return lines(text).map((line) => {
    const match = /^([^:#]*)\s*:?\s*([^#]*?)(\s+#.*|$)/.exec(line);
    return match
      ? { alias: match[1] ?? '', target: match[2] ?? '', comment: match[3] ?? '' }
      : { alias: '', target: '', comment: line.trim() };
  });
}

const read = async (ctx: ModuleContext): Promise<Line[]> => parseAliases(readText(await fileOf(ctx)) ?? '');

async function write(rows: readonly Line[], ctx: ModuleContext): Promise<true> {
  const file = await fileOf(ctx);
  const text = rows.map(({ alias, target, comment }) =>
    alias && target ? `${alias}: ${target}${comment}\n` : `${comment}\n`,
  );
  const fresh = join(dirname(file), `.aliases.${process.pid}`);
  writeFileSync(fresh, text.join(''), { mode: 0o644 });
  const before = statSync(file, { throwIfNoEntry: false });
  if (before) {
    chmodSync(fresh, before.mode & 0o7777);
    chownSync(fresh, before.uid, before.gid);
  }
  renameSync(fresh, file);
  if (which('newaliases')) await askTool(ctx, 'newaliases', []);
  return true;
}

const targetText = (target: Value): string => (Array.isArray(target) ? target.map(pyStr).join(', ') : pyStr(target));
const targetOf = async (alias: string, ctx: ModuleContext): Promise<string> =>
  (await read(ctx)).findLast((line) => line.alias === alias)?.target ?? '';

const alias = p.string({ doc: 'the alias' });
const target = p.oneOf(['string', 'list'], { doc: 'the recipients: text or a list' });

export default defineModule({
  name: 'aliases',
  doc: 'The table of mail aliases.',
  reads: ['list_aliases', 'get_target', 'has_target'],
  functions: {
    list_aliases: fn({
      doc: 'All aliases with their targets.',
      examples: ["salt '*' aliases.list_aliases"],
      outputter: 'yaml',
      run: async (_, ctx) =>
        newDict((await read(ctx)).filter((line) => line.alias).map((line) => [line.alias, line.target])),
    }),
    get_target: fn({
      doc: 'The target of an alias, or empty text.',
      examples: ["salt '*' aliases.get_target root"],
      outputter: 'txt',
      params: { alias },
      run: (args, ctx) => targetOf(args.alias, ctx),
    }),
    has_target: fn({
      doc: 'Whether an alias has exactly this target.',
      examples: ["salt '*' aliases.has_target root ops@example.com"],
      outputter: 'txt',
      params: { alias, target },
      async run(args, ctx) {
        if (args.target === '') throw invocationError('target can not be an empty string');
        const found = (await read(ctx)).findLast((line) => line.alias === args.alias);
        return found !== undefined && found.target === targetText(args.target);
      },
    }),
    set_target: fn({
      doc: 'Sets the target of an alias.',
      examples: ["salt '*' aliases.set_target root ops@example.com"],
      outputter: 'txt',
      params: { alias, target },
      async run(args, ctx) {
        if (args.alias === '') throw invocationError('alias can not be an empty string');
        if (args.target === '') throw invocationError('target can not be an empty string');
        const wanted = targetText(args.target);
        if ((await targetOf(args.alias, ctx)) === wanted) return true;
        const rows = await read(ctx);
        const first = rows.findIndex((line) => line.alias === args.alias);
        const others = rows.filter((line, at) => at === first || line.alias !== args.alias);
        const set = { alias: args.alias, target: wanted, comment: rows[first]?.comment ?? '' };
        return write(first < 0 ? [...rows, set] : others.map((line) => (line.alias === args.alias ? set : line)), ctx);
      },
    }),
    rm_alias: fn({
      doc: 'Removes an alias.',
      examples: ["salt '*' aliases.rm_alias root"],
      outputter: 'txt',
      params: { alias },
      async run(args, ctx) {
        if (!(await targetOf(args.alias, ctx))) return true;
        return write(
          (await read(ctx)).filter((line) => line.alias !== args.alias),
          ctx,
        );
      },
    }),
  },
});
