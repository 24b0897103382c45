// State module `virtualenv`: virtual environments of Python, and the packages in them.
import {
  defineState,
  messageOf,
  newDict,
  onlyReads,
  type PlainDict,
  p,
  pyStr,
  pythonError,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { dirName, joinPath, pathExists } from 'halite/sdk/fs';
import { isAtLeast, knowsWheelOption } from '../../shared/pip/command.ts';
import { hasFunction } from '../shared/calls.ts';

const no = (doc: string) => p.bool({ default: false, doc });

const params = {
  name: p.path({ doc: 'where' }),
  venv_bin: p.scalar({ default: null, doc: 'the program: virtualenv, or venv for the one of Python' }),
  requirements: p.oneOf(['string', 'list'], { default: null, doc: 'files of requirements' }),
  system_site_packages: no('with the packages of the system'),
  distribute: no('old versions only'),
  use_wheel: no('prefer wheels (pip up to 9.0.3)'),
  clear: no('remove what is there first'),
  python: p.scalar({ default: null, doc: 'which Python' }),
  extra_search_dir: p.oneOf(['list', 'string'], { default: null, doc: 'folders with packages' }),
  never_download: p.scalar({ default: null, doc: 'without network access' }),
  prompt: p.scalar({ default: null, doc: 'text before the prompt' }),
  user: p.scalar({ default: null, doc: 'run as this user' }),
  cwd: p.scalar({ default: null, doc: 'run pip in this folder' }),
  index_url: p.scalar({ default: null, doc: 'address of the index' }),
  extra_index_url: p.scalar({ default: null, doc: 'address of another index' }),
  pre_releases: no('with versions that are not released yet'),
  no_deps: no('without dependencies'),
  pip_download: p.scalar({ default: null, doc: 'only download, to this folder' }),
  pip_download_cache: p.scalar({ default: null, doc: 'folder for downloads' }),
  pip_exists_action: p.scalar({ default: null, doc: 'when a path exists: s, i, w or b' }),
  pip_ignore_installed: no('as if nothing were there'),
  proxy: p.scalar({ default: null, doc: 'proxy to use' }),
  use_vt: no('no effect: output arrives as it comes'),
  env_vars: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'environment variables for pip' }),
  no_use_wheel: no('no wheels (pip up to 9.0.3)'),
  pip_upgrade: no('packages to their newest version'),
  pip_pkgs: p.oneOf(['list', 'string'], { default: null, doc: 'packages to install' }),
  pip_no_cache_dir: no('pip without cache'),
  pip_cache_dir: p.scalar({ default: null, doc: "folder of pip's cache" }),
  process_dependency_links: no('follow links of dependencies'),
  no_binary: p.oneOf(['list', 'string'], { default: null, doc: 'build these from source' }),
  kwargs: p.kwargs({ doc: 'passed on to virtualenv.create and pip.install' }),
};
type Args = Readonly<PlainDict>;

/** Names of arguments here → of pip.install. */
const pipNames: Readonly<Record<string, string>> = {
  pip_pkgs: 'pkgs',
  process_dependency_links: 'process_dependency_links',
  use_wheel: 'use_wheel',
  no_use_wheel: 'no_use_wheel',
  no_binary: 'no_binary',
  user: 'user',
  index_url: 'index_url',
  extra_index_url: 'extra_index_url',
  pip_download: 'download',
  pip_download_cache: 'download_cache',
  pre_releases: 'pre_releases',
  pip_exists_action: 'exists_action',
  pip_ignore_installed: 'ignore_installed',
  pip_upgrade: 'upgrade',
  no_deps: 'no_deps',
  proxy: 'proxy',
  use_vt: 'use_vt',
  env_vars: 'env_vars',
  pip_no_cache_dir: 'no_cache_dir',
  pip_cache_dir: 'cache_dir',
};
const createNames = [
  'venv_bin',
  'system_site_packages',
  'distribute',
  'clear',
  'python',
  'extra_search_dir',
  'never_download',
  'prompt',
  'user',
  'use_vt',
];

interface Progress {
  readonly changes: PlainDict;
  comment: string;
  failed: boolean;
}

const pythonVersion = async (python: string, ctx: StateContext): Promise<string> =>
  pyStr(await onlyReads(() => ctx.call('cmd.run_stderr', `${python} -V`))).replace(/^\n+|\n+$/g, '');

async function create(args: Args, name: string, python: string, done: Progress, ctx: StateContext): Promise<void> {
  let made: PlainDict;
  try {
    const options = createNames.map((key): [string, Value] => [key, args[key] ?? null]);
    const kwargs = newDict([...options, ...Object.entries(textKeyed(args['kwargs']))]);
    made = textKeyed(await ctx.callWith('virtualenv.create', [name], kwargs));
  } catch (error) {
    Object.assign(done, { failed: true, comment: `Failed to create virtualenv: ${messageOf(error)}` });
    return;
  }
  if (made['retcode'] !== 0) {
    const comment = `${pyStr(made['stdout'] ?? '')}${pyStr(made['stderr'] ?? '')}`;
    Object.assign(done, { failed: true, comment });
    return;
  }
  done.changes['new'] = await pythonVersion(python, ctx);
  done.comment = args['clear'] ? 'Cleared existing virtualenv' : 'Created new virtualenv';
}

async function optionProblem(args: Args, name: string, ctx: StateContext): Promise<string | undefined> {
  if (!args['use_wheel'] && !args['no_use_wheel'] && !args['no_binary']) return undefined;
  const version = pyStr(await ctx.callWith('pip.version', [], newDict([['bin_env', name]])));
  for (const option of ['use_wheel', 'no_use_wheel'])
    if (args[option] && !knowsWheelOption(version))
      return `The '${option}' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected was ${version}.`;
  if (args['no_binary'] && !isAtLeast(version, '7.0.0'))
    return `The 'no_binary' option is only supported in pip 7.0.0 and newer. The version of pip detected was ${version}.`;
  return undefined;
}

const frozen = async (kwargs: PlainDict, ctx: StateContext): Promise<string[]> => {
  const list = await ctx.callWith('pip.freeze', [], kwargs);
  return Array.isArray(list) ? list.map(pyStr) : [];
};

/** The working folder of pip: the folder of a relative requirements file. */
function workFolder(requirements: Value, cwd: Value): Value {
  if (!requirements) return cwd;
  const first = Array.isArray(requirements) ? pyStr(requirements[0] ?? '') : undefined;
  if (typeof requirements !== 'string' && first === undefined)
    throw pythonError('TypeError', 'pip requirements must be either a string or a list');
  const file = first ?? pyStr(requirements).split(',')[0] ?? '';
  return file.startsWith('/') ? cwd : dirName(joinPath(process.cwd(), file));
}

async function packages(
  args: Args,
  requirements: Value,
  name: string,
  done: Progress,
  ctx: StateContext,
): Promise<void> {
  let before: string[];
  try {
    before = await frozen(
      newDict([
        ['bin_env', name],
        ['user', args['user'] ?? null],
        ['use_vt', args['use_vt'] ?? false],
      ]),
      ctx,
    );
  } catch (error) {
    Object.assign(done, { failed: true, comment: messageOf(error) });
    return;
  }
  const options = Object.entries(pipNames).map(([key, item]): [string, Value] => [item, args[key] ?? null]);
  const kwargs = newDict([
    ...options,
    ['requirements', requirements],
    ['bin_env', name],
    ['cwd', workFolder(requirements, args['cwd'] ?? null)],
    ...Object.entries(textKeyed(args['kwargs'])),
  ]);
  const answer = textKeyed(await ctx.callWith('pip.install', [], kwargs));
  if (answer['retcode'] !== 0) {
    done.failed = true;
    done.comment = [done.comment, answer['stdout'] ?? '', answer['stderr'] ?? ''].map(pyStr).join('\n');
  }
  const after = await frozen(newDict([['bin_env', name]]), ctx);
  const added = after.filter((item) => !before.includes(item));
  const gone = before.filter((item) => !after.includes(item));
  if (added.length > 0 || gone.length > 0)
    done.changes['packages'] = newDict([
      ['new', added.length > 0 ? added : ''],
      ['old', gone.length > 0 ? gone : ''],
    ]);
}

async function run(args: Args, ctx: StateContext): Promise<StateResult> {
  const name = pyStr(args['name'] ?? '');
  if (!(await hasFunction(ctx, 'virtualenv.create'))) return ctx.fail('Virtualenv was not detected on this system');
  const python = joinPath(name, 'bin', 'python');
  const exists = pathExists(python);
  let requirements = args['requirements'] ?? null;
  if (typeof requirements === 'string' && requirements.startsWith('salt://')) {
    const cached = await ctx.call('cp.cache_file', requirements, ctx.saltenv);
    if (!cached) return ctx.fail(`pip requirements file '${requirements}' not found`);
    requirements = cached;
  }
  const done: Progress = { changes: newDict(), comment: 'virtualenv exists', failed: false };
  const clearing = exists && Boolean(args['clear']);
  if (clearing) {
    done.changes['cleared_packages'] = await frozen(newDict([['bin_env', name]]), ctx);
    done.changes['old'] = await pythonVersion(python, ctx);
  }
  // Applied, packages may still be installed into it; under test nobody asks which.
  if (ctx.test && exists && !clearing) return ctx.ok(`Virtualenv ${name} is already created`);
  return ctx.change(done.changes, '', {
    test: `Virtualenv ${name} is set to be ${clearing ? 'cleared' : 'created'}`,
    async apply() {
      if (!exists || clearing) await create(args, name, python, done, ctx);
      const problem = done.failed ? undefined : await optionProblem(args, name, ctx);
      if (problem !== undefined) Object.assign(done, { failed: true, comment: problem });
      else if (!done.failed && (requirements || args['pip_pkgs'])) await packages(args, requirements, name, done, ctx);
      return ctx.result({ result: !done.failed, comment: done.comment, changes: done.changes });
    },
  });
}

const managed = state({
  doc: 'A virtual environment that must exist, with packages.',
  examples: ['/srv/app/venv:\n  virtualenv.managed:\n    - requirements: salt://app/requirements.txt'],
  params,
  run: (args, ctx) => run(args, ctx),
});

export default defineState({
  name: 'virtualenv',
  doc: 'Virtual environments of Python, and the packages in them.',
  functions: { managed, manage: managed },
});
