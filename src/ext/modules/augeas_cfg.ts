// Execution module `augeas`: settings in configuration files as trees, with augtool.
import {
  type ArgsOf,
  defineModule,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dirName, isDirectory, isFile, joinPath } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, shellSplit } from 'halite/sdk/text';
import { methods } from '../shared/augeas/methods.ts';
import { command } from './shared/command.ts';

const counts: Readonly<Record<string, readonly number[]>> = {
  set: [1, 2],
  setm: [2, 3],
  move: [2],
  insert: [3],
  remove: [1],
};

/** Quotes one argument for augtool; a line break would start another command. */
function quoted(word: string): string {
  if (/[\n\r]/.test(word)) throw invocationError('Augeas commands must not contain line breaks');
  return `"${word.replace(/["\\]/g, '\\$&')}"`;
}

interface AugeasOutput {
  readonly stdout: string;
  /** Augtool's error message. */
  readonly problem: string | undefined;
}

/** The only file that the paths of a script refer to; undefined when there are several or none. */
function onlyFile(script: readonly string[]): string | undefined {
  const files = new Set<string>();
  for (const line of script) {
    for (const [, path = ''] of line.matchAll(/"\/files(\/[^"]*)"/g)) {
      let at = path;
      while (at !== '/' && !isFile(at)) at = dirName(at);
      files.add(at);
    }
  }
  const [file] = files;
  return files.size === 1 && file !== '/' ? file : undefined;
}

async function run(argv: readonly string[], script: readonly string[], ctx: ModuleContext): Promise<AugeasOutput> {
  const done = await command(ctx, ['augtool', ...argv], { stdin: `${script.join('\n')}\n`, ignore_retcode: true });
  const complaint = lines(`${done.stderr}\n${done.stdout}`)
    .filter((line) => line.startsWith('error: '))
    .join('\n');
  const problem = done.retcode !== 0 || complaint ? done.stderr.trim() || complaint || 'augtool failed' : undefined;
  return { stdout: done.stdout, problem };
}

/** Loading all files of the machine takes seconds, so only the needed file is loaded where possible (augtool 1.13 and later). */
async function augtool(
  script: readonly string[],
  loadPath: Value,
  ctx: ModuleContext,
  autoload = true,
): Promise<AugeasOutput> {
  const folders = typeof loadPath === 'string' ? loadPath.split(':').filter((one) => one.startsWith('/')) : [];
  const known = folders.filter(isDirectory);
  const include = known.length > 0 ? ['-I', known.join(':')] : [];
  if (!autoload) return run(['--noautoload', ...include], script, ctx);
  const file = onlyFile(script);
  if (file !== undefined) {
    const said = await run(['--noload', ...include], [`load-file ${quoted(file)}`, ...script], ctx);
    if (!/lens not found|unknown command/i.test(said.problem ?? '')) return said;
  }
  return run(include, script, ctx);
}

/** One change as an augtool command; throws when it is invalid. */
function translate(change: string, context: string | null): string | { problem: string } {
  const [name = '', ...rest] = change.split(' ');
  const argument = rest.join(' ');
  const invalid = { problem: `Invalid formatted command, see debug log for details: ${argument || change}` };
  if (rest.length === 0) return invalid;
  const method = methods[name];
  if (method === undefined) return { problem: `Command ${name} is not supported (yet)` };
  const words = shellSplit(argument);
  if (!counts[method]?.includes(words.length)) return invalid;
  const place = (path: string): string => {
    if (!context || path.startsWith(context)) return path;
    const inner = path.replace(/^\/+/, '');
    return inner === '' ? context : joinPath(context, inner);
  };
  const [first = '', second = '', third = ''] = words;
  if (method === 'insert') {
    if (second !== 'before' && second !== 'after') return invalid;
    return `ins ${quoted(first)} ${second} ${quoted(place(third))}`;
  }
  if (method === 'remove') return `rm ${quoted(place(first))}`;
  if (method === 'move') return `mv ${quoted(place(first))} ${quoted(second)}`;
  if (method === 'set')
    return `${words.length === 1 ? 'touch' : 'set'} ${[place(first), ...words.slice(1)].map(quoted).join(' ')}`;
  return `setm ${[place(first), ...words.slice(1)].map(quoted).join(' ')}`;
}

type Changes = ArgsOf<typeof changesParams>;

async function execute(args: Changes, ctx: ModuleContext): Promise<PlainDict> {
  const failed = (error: string): PlainDict => newDict(Object.entries({ retval: false, error }));
  const script: string[] = [];
  const alone = Boolean(args.lens && args.context);
  if (args.lens && args.context) {
    const file = args.context.replace(/^\/files/, '');
    script.push(`transform ${args.lens} incl ${file}`, 'load');
  }
  for (const change of (Array.isArray(args.commands) ? args.commands : []).map(pyStr)) {
    const line = translate(change, args.context);
    if (typeof line !== 'string') return failed(line.problem);
    script.push(line);
  }
  if (args.test) script.push('set /augeas/save noop');
  const { stdout, problem } = await augtool(
    [...script, 'save', 'match /augeas/events/saved'],
    args.load_path,
    ctx,
    !alone,
  );
  if (problem !== undefined) {
    const hint = args.lens && !args.lens.endsWith('.lns');
    const more = `\nLenses are normally configured as "name.lns". Did you mean "${args.lens}.lns"?`;
    return failed(`${problem}${hint ? more : ''}`);
  }
  const changed = /^\/augeas\/events\/saved/m.test(stdout);
  return newDict(Object.entries(args.test ? { retval: true, changed } : { retval: true }));
}

/** `path = value`, `path (none)` or `path (o)` → the value; undefined where there is no such node. */
function valueIn(line: string): string | null | undefined {
  if (line.endsWith(' (o)')) return undefined;
  if (line.endsWith(' (none)') || line.endsWith(' = (none)')) return null;
  const at = line.indexOf(' = ');
  return at < 0 ? undefined : line.slice(at + 3);
}

/** Nodes that match one of several paths, with their values. One call for all paths, because reading all files is slow. */
async function matches(paths: readonly string[], loadPath: Value, ctx: ModuleContext): Promise<PlainDict> {
  const script = paths.map((path) => `match ${quoted(path)}`);
  const { stdout, problem } = await augtool(script, loadPath, ctx);
  if (problem !== undefined) return newDict();
  const rows = lines(stdout).filter((line) => line.startsWith('/'));
  return newDict(rows.map((line) => [line.replace(/ (= .*|\(none\)|\(o\))$/, ''), valueIn(line) ?? null]));
}

const path = p.string({ doc: 'the node' });
const load_path = p.oneOf(['string', 'list'], {
  default: null,
  doc: 'folders of additional lenses, separated by colons',
});

const setvalue = fn({
  doc: 'Sets nodes: path and value in turn, below `prefix=` where given.',
  examples: ["salt '*' augeas.setvalue prefix=/files/etc/hosts 0/canonical localhost"],
  params: { args: p.rest({ doc: 'path, value, …; prefix=, load_path=' }) },
  async run({ args }, ctx) {
    const option = (name: string): string | null => {
      const given = args.map(pyStr).filter((arg) => arg.startsWith(`${name}=`));
      if (given.length > 1) throw invocationError(`Only one '${name}=' value is permitted`);
      return given[0]?.slice(name.length + 1) ?? null;
    };
    const [prefix, folders] = [option('prefix'), option('load_path')];
    const pairs = args.map(pyStr).filter((arg) => !arg.startsWith('prefix=') && !arg.startsWith('load_path='));
    if (pairs.length % 2 !== 0) throw invocationError('Uneven number of path/value arguments');
    const script: string[] = [];
    for (let at = 0; at < pairs.length; at += 2) {
      const node = pairs[at] ?? '';
      const full = prefix ? joinPath(prefix.replace(/\/+$/, ''), node.replace(/^\/+/, '')) : node;
      script.push(`set ${quoted(full)} ${quoted(pairs[at + 1] ?? '')}`);
    }
    const { problem } = await augtool([...script, 'save'], folders, ctx);
    return newDict(Object.entries(problem === undefined ? { retval: true } : { retval: false, error: problem }));
  },
});

const changesParams = {
  context: p.string({ default: null, doc: 'prefix of all paths' }),
  lens: p.string({ default: null, doc: 'the lens, for a file without a standard name' }),
  commands: p.oneOf(['list', 'string'], { default: [], doc: 'list of commands' }),
  load_path,
  test: p.bool({ default: false, doc: 'do not save, only report whether there is something to save' }),
};

const functions = {
  execute: fn({
    doc: 'Runs commands (set, setm, mv, ins, rm) and saves.',
    reads: ({ test }) => test,
    examples: ["salt '*' augeas.execute /files/etc/redis/redis.conf commands='[\"set bind 0.0.0.0\"]'"],
    params: changesParams,
    run: execute,
  }),
  get: fn({
    doc: 'The value of a node.',
    examples: ["salt '*' augeas.get /files/etc/hosts/1/ ipaddr"],
    params: { path, value: p.string({ default: '', doc: 'node below' }), load_path },
    async run(args, ctx) {
      const below = args.value.replace(/^\/+|\/+$/g, '');
      const node = `${args.path.replace(/\/+$/, '')}${below ? `/${below}` : ''}`;
      const { stdout, problem } = await augtool([`get ${quoted(node)}`], args.load_path, ctx);
      if (problem !== undefined) return newDict([['error', problem]]);
      const found = valueIn(lines(stdout)[0] ?? '');
      return newDict([[node, found === undefined ? '' : found]]);
    },
  }),
  setvalue,
  match: fn({
    doc: 'Nodes that match a path, optionally with a value.',
    examples: ["salt '*' augeas.match /files/etc/services/service-name ssh"],
    params: { path, value: p.string({ default: '', doc: 'only with this value' }), load_path },
    async run(args, ctx) {
      const found = Object.entries(await matches([args.path], args.load_path, ctx));
      return newDict(args.value ? found.filter(([, value]) => value === args.value) : found);
    },
  }),
  remove: fn({
    doc: 'Removes nodes.',
    examples: ["salt '*' augeas.remove '/files/etc/sysctl.conf/net.ipv4.conf.all.log_martians'"],
    params: { path, load_path },
    async run(args, ctx) {
      const { stdout, problem } = await augtool([`rm ${quoted(args.path)}`, 'save'], args.load_path, ctx);
      const count = Number(/rm : .* (\d+)\s*$/m.exec(stdout)?.[1] ?? 0);
      return newDict(
        Object.entries(problem === undefined ? { retval: true, count } : { retval: false, error: problem, count }),
      );
    },
  }),
  ls: fn({
    doc: 'The nodes below a node; names with children end in a slash.',
    examples: ["salt '*' augeas.ls /files/etc/passwd"],
    params: { path, load_path },
    async run(args, ctx) {
      const base = `${args.path.replace(/\/+$/, '')}/`;
      const all = await matches([`${base}*`, `${base}*/*`], args.load_path, ctx);
      const depth = base.split('/').length;
      const parents = new Set(Object.keys(all).map((node) => node.slice(0, node.lastIndexOf('/'))));
      const found = newDict();
      for (const [node, value] of Object.entries(all)) {
        if (node.split('/').length !== depth) continue;
        found[`${node.startsWith(base) ? node.slice(base.length) : node}${parents.has(node) ? '/' : ''}`] = value;
      }
      return found;
    },
  }),
  tree: fn({
    doc: 'A node and everything below it.',
    examples: ["salt '*' augeas.tree /files/etc/"],
    params: { path, load_path },
    run(args, ctx) {
      const base = args.path.replace(/[/*]+$/, '');
      return matches([base, `${base}//*`], args.load_path, ctx);
    },
  }),
};

export default defineModule({
  name: 'augeas_cfg',
  virtualName: 'augeas',
  doc: 'Settings in configuration files as trees.',
  available: () => which('augtool') !== null || 'Cannot load augeas_cfg module: augtool is not installed',
  reads: ['get', 'match', 'ls', 'tree'],
  functions,
});
