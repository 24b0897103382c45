// State module `augeas`: changes to configuration files as trees.
import { dirname } from 'node:path';
import {
  defineState,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateResult,
  state,
  textKeyed,
  withForecast,
} from 'halite/sdk';
import { isFile, readText } from 'halite/sdk/fs';
import { keepLines, shellSplit, unifiedDiff } from 'halite/sdk/text';
import { methods } from '../../shared/augeas/methods.ts';

class Wrong extends Error {}

/** The file that a path refers to; null when there is none. */
function fileOf(path: string): string | null {
  for (let at = path; at !== '/' && at !== '.'; at = dirname(at)) {
    if (isFile(at)) return at;
  }
  return null;
}

/** The path of a change. */
function pathOf(change: string): string {
  const space = change.indexOf(' ');
  const name = space < 0 ? change : change.slice(0, space);
  const invalid = `Invalid formatted command, see debug log for details: ${change}`;
  if (space < 0) throw new Wrong(invalid);
  const method = methods[name];
  if (method === undefined) throw new Wrong(`Command ${name} is not supported (yet)`);
  const words = shellSplit(change.slice(space + 1));
  if (method === 'insert' && words.length !== 3) throw new Wrong(invalid);
  const path = words[method === 'insert' ? 2 : 0];
  if (path === undefined) throw new Wrong(invalid);
  if (!path.startsWith('/files'))
    throw new Wrong(`Changes should be prefixed with /files if no context is provided, change: ${change}`);
  return path.replace(/^\/files|\/$/g, '');
}

/** Without a context all changes must have the same path. */
function fileOfChanges(changes: readonly string[]): string | null {
  let found: string | undefined;
  for (const path of changes.map(pathOf)) {
    if (found !== undefined && found !== path)
      throw new Wrong(`Changes should be made to one file at a time, detected changes to ${found} and ${path}`);
    found = path;
  }
  return found === undefined ? null : fileOf(found);
}

const change = state({
  doc: 'Changes to a file, as augtool commands.',
  examples: [
    'redis:\n  augeas.change:\n    - context: /files/etc/redis/redis.conf\n    - changes:\n      - set bind 0.0.0.0',
  ],
  params: {
    name: p.string({ doc: 'any name' }),
    context: p.string({ default: null, doc: 'prefix of all paths' }),
    changes: p.oneOf(['list', 'string'], { default: null, doc: 'list of set, setm, mv, ins and rm' }),
    lens: p.string({ default: null, doc: 'the lens, for a file without a standard name' }),
    load_path: p.oneOf(['list', 'string'], { default: null, doc: 'list of folders of further lenses' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run(args, ctx) {
    const { context, lens } = args;
    if (!Array.isArray(args.changes) || args.changes.length === 0)
      return ctx.fail("'changes' must be specified as a list");
    if (args.load_path !== null && !Array.isArray(args.load_path))
      return ctx.fail("'load_path' must be specified as a list");
    const commands = args.changes.map(pyStr);
    const load_path = args.load_path === null ? null : args.load_path.map(pyStr).join(':');
    let file: string | null;
    try {
      file = context === null ? fileOfChanges(commands) : context.replace(/^\/files|\/$/g, '');
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      return ctx.fail(`Error: ${error.message}`);
    }
    const before = (file && isFile(file) && readText(file)) || '';
    // The function has a test mode of its own.
    const call = { context, lens, commands, load_path, ...(ctx.test ? { test: true } : {}) };
    const said = textKeyed(await ctx.callWith('augeas.execute', [], call));
    if (said['retval'] !== true) return ctx.fail(`Error: ${pyStr(said['error'] ?? null)}`);
    const where = context ? ` in file "${context}":\n` : '';
    return withForecast(
      ctx,
      () =>
        said['changed'] === false
          ? ctx.ok('No changes made')
          : ctx.result({ result: null, comment: `Executing commands${where}${commands.join('\n')}` }),
      () => {
        const saved = (what: PlainDict): StateResult => ctx.ok('Changes have been saved', { changes: what });
        if (!file || !isFile(file)) return saved(newDict([['updates', commands]]));
        const diff = unifiedDiff(keepLines(before), keepLines(readText(file) ?? ''), { context: 0 });
        return diff ? saved(newDict([['diff', diff]])) : ctx.ok('No changes made');
      },
    );
  },
});

export default defineState({
  name: 'augeas',
  doc: 'Changes to configuration files as trees.',
  available: needsFunction('augeas.execute', 'augeas module could not be loaded'),
  functions: { change },
});
