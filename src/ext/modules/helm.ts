// Execution module `helm`: releases of applications on Kubernetes.
import {
  commandError,
  defineModule,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  type ModuleFunction,
  messageOf,
  needsPrograms,
  newDict,
  type Param,
  type PlainDict,
  p,
  pyStr,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { type Answer, command } from './shared/command.ts';

type Flags = Readonly<Record<string, Value>>;

const dashed = (name: string): string => (name.startsWith('--') ? name : `--${name}`);

/** Options with a value; `set` may be given several times. */
function valued(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const key = dashed(name);
    const values = key === '--set' && Array.isArray(value) ? value : [value];
    return values.flatMap((one) => [key, pyStr(one)]);
  });
}

interface Call {
  readonly words: readonly string[];
  readonly flags: Value;
  readonly kvflags: Flags;
}

async function helm({ words, flags, kvflags }: Call, ctx: ModuleContext): Promise<Answer> {
  const plain = (Array.isArray(flags) ? flags : []).map((flag) => dashed(pyStr(flag)));
  try {
    return await command(ctx, ['helm', ...words, ...plain, ...valued(kvflags)]);
  } catch (error) {
    ctx.log.error(messageOf(error));
    return { retcode: -1, stdout: '', stderr: messageOf(error) };
  }
}

/** The kind of answer: true, text, or data; otherwise helm's error message. */
const readers = {
  done: async (call: Call, ctx: ModuleContext): Promise<Value> => {
    const { retcode, stderr } = await helm(call, ctx);
    return retcode === 0 ? true : stderr;
  },
  text: async (call: Call, ctx: ModuleContext): Promise<Value> => {
    const { retcode, stdout, stderr } = await helm(call, ctx);
    return retcode === 0 ? stdout : stderr;
  },
  data: async (call: Call, ctx: ModuleContext): Promise<Value> => {
    const format = call.kvflags['output'] ?? call.kvflags['--output'];
    const kvflags = format === undefined ? { ...call.kvflags, output: 'json' } : call.kvflags;
    const { retcode, stdout, stderr } = await helm({ ...call, kvflags }, ctx);
    if (retcode !== 0) return stderr;
    return (format ?? 'json') === 'json' ? loadJson(stdout) : stdout;
  },
};

const docs: Readonly<Record<string, string>> = {
  values: 'file of values',
  version: 'version of the chart',
  namespace: 'the name space',
  set: 'value, or list of values, as name=value',
  output_dir: 'folder to write to',
};
const common = {
  flags: p.oneOf(['list', 'string'], { default: null, doc: 'list of options' }),
  kvflags: p.dict({ default: null, falsy: null, doc: 'options with a value' }),
};

const flagsOf = (value: Value): Flags => textKeyed(value);

/** Named arguments become options, where given. */
const merged = (kvflags: Value, extra: Flags): Flags => ({
  ...flagsOf(kvflags),
  ...Object.fromEntries(
    Object.entries(extra)
      .filter(([, value]) => isTruthy(value))
      .map(([name, value]) => [name.replaceAll('_', '-'), value]),
  ),
});

/** One command of helm: its words, its arguments in order, its options, and how it answers. */
function wrap(
  name: string,
  doc: string,
  answer: keyof typeof readers,
  needed: readonly string[] = [],
  options: readonly string[] = [],
): ModuleFunction {
  const params: Record<string, Param<Value>> = {};
  for (const argument of needed) params[argument] = p.scalar({ nullable: true, doc: `the ${argument}` });
  for (const option of options)
    params[option] = p.oneOf(['string', 'list', 'dict'], { default: null, falsy: null, doc: docs[option] ?? option });
  return fn({
    doc,
    examples: [`salt '*' helm.${name}${needed.map((argument) => ` ${argument}`).join('')}`],
    params: { ...params, ...common },
    run(given, ctx) {
      const args = given as Record<string, Value>;
      const words = [...name.split('_'), ...needed.map((argument) => pyStr(args[argument] ?? ''))];
      const extra = Object.fromEntries(options.map((option) => [option, args[option] ?? null]));
      return readers[answer](
        { words, flags: args['flags'] ?? null, kvflags: merged(args['kvflags'] ?? null, extra) },
        ctx,
      );
    },
  });
}

interface Repositories {
  readonly present: Value;
  readonly absent: Value;
  readonly prune: boolean;
  readonly namespace: Value;
  readonly flags: Value;
  readonly kvflags: Value;
}

async function manage(args: Repositories, ctx: ModuleContext): Promise<PlainDict> {
  const { namespace, flags } = args;
  const kvflags = merged(args.kvflags, { namespace });
  const listed = await readers.data({ words: ['repo', 'list'], flags, kvflags }, ctx);
  const left = (Array.isArray(listed) ? listed : []) as PlainDict[];
  const outcome = { present: [], added: [], absent: [], removed: [], failed: [] } as Record<string, Value[]>;
  for (const repository of Array.isArray(args.present) ? args.present : []) {
    if (!isDict(repository) || !flagsOf(repository)['name'] || !flagsOf(repository)['url'])
      throw commandError(
        "Parameter present have to be formatted like [{'name': '<myRepoName>', 'url': '<myRepoUrl>'}]",
      );
    const { name = '', url = '' } = flagsOf(repository);
    const at = left.findIndex((known) => known['name'] === name && known['url'] === url);
    if (at >= 0) left.splice(at, 1);
    const words = ['repo', 'add', pyStr(name), pyStr(url)];
    const added = at >= 0 || (await readers.done({ words, flags, kvflags }, ctx)) === true;
    outcome[at >= 0 ? 'present' : added ? 'added' : 'failed']?.push(repository);
  }
  const unwanted = (Array.isArray(args.absent) ? args.absent : []).map(pyStr);
  for (const repository of left) {
    if (args.prune) unwanted.push(pyStr(repository['name'] ?? ''));
    else if (!unwanted.includes(pyStr(repository['name'] ?? ''))) outcome['present']?.push(repository);
  }
  for (const name of unwanted) {
    const call = { words: ['repo', 'remove', name], flags: null, kvflags: merged(null, { namespace }) };
    outcome[(await readers.done(call, ctx)) === true ? 'removed' : 'absent']?.push(name);
  }
  return newDict(Object.entries(outcome));
}

const repo_manage = fn({
  doc: 'Adds and removes chart repositories; returns which were unchanged, added, removed or failed.',
  examples: ["salt '*' helm.repo_manage present=\"[{name: stable, url: 'https://charts.example.com'}]\""],
  params: {
    present: p.oneOf(['list', 'string'], { default: null, doc: 'list of name and url' }),
    absent: p.oneOf(['list', 'string'], { default: null, doc: 'list of names' }),
    prune: p.bool({ default: false, doc: 'remove those not named' }),
    namespace: p.string({ default: null, doc: 'the namespace' }),
    ...common,
  },
  run: manage,
});

export default defineModule({
  name: 'helm',
  doc: 'Releases of applications on Kubernetes.',
  available: needsPrograms(['helm'], () => 'The helm execution module cannot be loaded: helm unavailable.'),
  reads: [
    'dependency_list',
    'env',
    'get_all',
    'get_hooks',
    'get_manifest',
    'get_notes',
    'get_values',
    'help',
    'history',
    'lint',
    'list',
    'plugin_list',
    'repo_list',
    'search_hub',
    'search_repo',
    'show_all',
    'show_chart',
    'show_readme',
    'show_values',
    'status',
    'verify',
    'version',
  ],
  functions: {
    completion: wrap('completion', 'Completion code for a shell.', 'text', ['shell']),
    create: wrap('create', 'Begins a chart.', 'done', ['name']),
    dependency_build: wrap('dependency_build', 'Fetches what a chart has locked.', 'done', ['chart']),
    dependency_list: wrap('dependency_list', 'What a chart needs.', 'text', ['chart']),
    dependency_update: wrap('dependency_update', 'Renews what a chart needs.', 'done', ['chart']),
    env: wrap('env', 'Settings of helm.', 'text'),
    get_all: wrap('get_all', 'Everything about a release.', 'text', ['release']),
    get_hooks: wrap('get_hooks', 'Hooks of a release.', 'text', ['release']),
    get_manifest: wrap('get_manifest', 'Manifest of a release.', 'text', ['release']),
    get_notes: wrap('get_notes', 'Notes of a release.', 'text', ['release']),
    get_values: wrap('get_values', 'Values of a release.', 'data', ['release']),
    help: wrap('help', 'Help on a command.', 'text', ['command']),
    history: wrap('history', 'Revisions of a release.', 'data', ['release']),
    install: wrap(
      'install',
      'Installs a chart.',
      'done',
      ['release', 'chart'],
      ['values', 'version', 'namespace', 'set'],
    ),
    lint: wrap('lint', 'Checks a chart.', 'done', ['path'], ['values', 'namespace', 'set']),
    list: wrap('list', 'Releases.', 'data', [], ['namespace']),
    package: wrap('package', 'Packs a chart.', 'done', ['chart']),
    plugin_install: wrap('plugin_install', 'Installs a plugin.', 'done', ['path']),
    plugin_list: wrap('plugin_list', 'Plugins.', 'text'),
    plugin_uninstall: wrap('plugin_uninstall', 'Removes a plugin.', 'done', ['plugin']),
    plugin_update: wrap('plugin_update', 'Renews a plugin.', 'done', ['plugin']),
    pull: wrap('pull', 'Fetches a chart.', 'done', ['pkg']),
    repo_add: wrap('repo_add', 'Adds a repository of charts.', 'done', ['name', 'url'], ['namespace']),
    repo_index: wrap('repo_index', 'Writes the index of a folder of charts.', 'done', ['directory'], ['namespace']),
    repo_list: wrap('repo_list', 'Repositories of charts.', 'data', [], ['namespace']),
    repo_remove: wrap('repo_remove', 'Removes a repository of charts.', 'done', ['name'], ['namespace']),
    repo_update: wrap('repo_update', 'Renews what is known of repositories.', 'done', [], ['namespace']),
    repo_manage,
    rollback: wrap('rollback', 'Goes back to a revision.', 'done', ['release', 'revision'], ['namespace']),
    search_hub: wrap('search_hub', 'Looks for charts in the hub.', 'data', ['keyword']),
    search_repo: wrap('search_repo', 'Looks for charts in repositories.', 'data', ['keyword']),
    show_all: wrap('show_all', 'Everything about a chart.', 'text', ['chart']),
    show_chart: wrap('show_chart', 'What a chart is.', 'text', ['chart']),
    show_readme: wrap('show_readme', 'What a chart says of itself.', 'text', ['chart']),
    show_values: wrap('show_values', 'Values of a chart.', 'text', ['chart']),
    status: wrap('status', 'State of a release.', 'data', ['release'], ['namespace']),
    template: wrap('template', 'Renders a chart.', 'text', ['name', 'chart'], ['values', 'output_dir', 'set']),
    test: wrap('test', 'Runs the tests of a release.', 'text', ['release']),
    uninstall: wrap('uninstall', 'Removes a release.', 'done', ['release'], ['namespace']),
    upgrade: wrap(
      'upgrade',
      'Renews a release.',
      'done',
      ['release', 'chart'],
      ['values', 'version', 'namespace', 'set'],
    ),
    verify: wrap('verify', 'Checks the signature of a chart.', 'done', ['path']),
    version: wrap('version', 'The version of helm.', 'text'),
  },
});
