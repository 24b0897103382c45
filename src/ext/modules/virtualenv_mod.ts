// Execution module `virtualenv`: virtual environments of Python.
import {
  type ArgsOf,
  commandError,
  defineModule,
  dictGet,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { joinPath, pathExists } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';

interface Result {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = async (command: string[], kwargs: PlainDict, ctx: ModuleContext): Promise<Result> =>
  (await ctx.callWith('cmd.run_all', [command], { python_shell: false, ...kwargs })) as unknown as Result;
const given = (value: Value): string => (value === null ? '' : pyStr(value).trim());

/** The program: the given one, from pillar or options, the first that is installed, or Python's own `venv`. */
function toolOf(venvBin: string | null, ctx: ModuleContext): string {
  const wanted = venvBin ?? dictGet(ctx.pillar, 'venv_bin') ?? ctx.opts['venv_bin'] ?? null;
  if (wanted) return pyStr(wanted);
  return ['virtualenv3', 'virtualenv'].find((name) => which(name)) ?? 'venv';
}

async function versionOf(tool: string, user: Value, ctx: ModuleContext): Promise<number[]> {
  const { retcode, stdout } = await run([tool, '--version'], { runas: user, redirect_stderr: true }, ctx);
  const found = stdout.split(/\s+/).find((word) => /^\d.\d*/.test(word));
  if (retcode > 0 || found === undefined)
    throw commandError(`Unable to get the virtualenv version output using '${tool} --version': ${stdout}`);
  return found
    .replace(/(rc|\+ds).*$/, '')
    .split('.')
    .map(Number);
}

type CreateArgs = ArgsOf<typeof createParams>;

/** Options only `virtualenv` has. */
async function virtualenvOptions(tool: string, args: CreateArgs, ctx: ModuleContext): Promise<string[]> {
  for (const option of ['upgrade', 'symlinks'] as const)
    if (args[option] !== null)
      throw commandError(`The \`${option}\`(\`--${option}\`) option is not supported by '${tool}'`);
  const [major = 0, minor = 0] = await versionOf(tool, args.user, ctx);
  const before = (a: number, b: number): boolean => major < a || (major === a && minor < b);
  const python = given(args.python);
  if (python !== '' && !which(python)) throw commandError(`Cannot find requested python (${python}).`);
  const folders = Array.isArray(args.extra_search_dir)
    ? args.extra_search_dir.map(pyStr)
    : given(args.extra_search_dir)
        .split(',')
        .filter((entry) => entry !== '');
  const prompt = given(args.prompt);
  return [
    ...(args.distribute && before(1, 10) ? ['--distribute'] : []),
    ...(python === '' ? [] : [`--python=${python}`]),
    ...folders.map((folder) => `--extra-search-dir=${folder.trim()}`),
    ...(args.never_download === true && (before(1, 10) || !before(14, 0)) ? ['--never-download'] : []),
    ...(prompt === '' ? [] : [`--prompt='${prompt}'`]),
  ];
}

/** Options of Python's own `venv`. */
function venvOptions(tool: string, args: CreateArgs): string[] {
  const wrong = (['python', 'extra_search_dir', 'never_download', 'prompt'] as const).find((name) =>
    name === 'never_download' ? args[name] !== null : given(args[name]) !== '',
  );
  if (wrong)
    throw commandError(`The \`${wrong}\`(\`--${wrong.replaceAll('_', '-')}\`) option is not supported by '${tool}'`);
  return [...(args.upgrade === true ? ['--upgrade'] : []), ...(args.symlinks === true ? ['--symlinks'] : [])];
}

/** Installs pip from Python's own archive, without network access. */
const addPip = (path: string, user: string | null, ctx: ModuleContext): Promise<Result> =>
  run([joinPath(path, 'bin/python'), '-m', 'ensurepip'], { runas: user, cwd: path, env: { VIRTUAL_ENV: path } }, ctx);

function pythonIn(venv: string): string {
  const path = joinPath(venv, 'bin', 'python');
  if (!pathExists(path)) throw commandError(`Path '${venv}' does not appear to be a virtualenv: '${path}' not found.`);
  return path;
}

/** Runs a line of Python in an environment; texts go in as arguments, never as code. */
async function ask(venv: string, code: string, words: string[], ctx: ModuleContext): Promise<string> {
  const { retcode, stdout, stderr } = await run([pythonIn(venv), '-c', code, ...words], newDict(), ctx);
  if (retcode !== 0) throw commandError(`${stdout}\n${stderr}`);
  return stdout;
}

const venv = p.path({ doc: 'the environment' });
const no = (doc: string) => p.bool({ default: false, doc });
const text = (value: string | null, name: string): string => {
  if (value === null) throw invocationError(`${name} is needed`);
  return pyStr(value);
};

const createParams = {
  path: p.path({ doc: 'where' }),
  venv_bin: p.string({ default: null, doc: 'the program: virtualenv, or venv for the one of Python' }),
  system_site_packages: no('with the packages of the system'),
  distribute: no('old versions only'),
  clear: no('remove what is there first'),
  python: p.string({ default: null, doc: 'which Python' }),
  extra_search_dir: p.oneOf(['list', 'string'], { default: null, doc: 'folders with packages' }),
  never_download: p.bool({ default: null, doc: 'without network access' }),
  prompt: p.string({ default: null, doc: 'text before the prompt' }),
  pip: no('install pip if it is not there'),
  symlinks: p.bool({ default: null, doc: 'link instead of copying (venv)' }),
  upgrade: p.bool({ default: null, doc: 'upgrade to the current Python (venv)' }),
  user: p.string({ default: null, doc: 'run as this user' }),
  use_vt: no('no effect: output arrives as it comes'),
  saltenv: p.string({ default: 'base', doc: 'environment of files on the file server' }),
  kwargs: p.kwargs({ doc: 'passed on to cmd.run_all' }),
};

const create = fn({
  doc: 'Creates an environment; returns the answer of cmd.run_all.',
  examples: ["salt '*' virtualenv.create /srv/app/venv"],
  params: createParams,
  async run(args, ctx) {
    const tool = toolOf(args.venv_bin, ctx);
    const own = tool === 'venv' ? [which('python3') ?? 'python3', '-m', 'venv'] : [tool];
    const options =
      tool.includes('venv') && !tool.includes('virtualenv')
        ? venvOptions(tool, args)
        : await virtualenvOptions(tool, args, ctx);
    const command = [
      ...own,
      ...options,
      ...(args.clear ? ['--clear'] : []),
      ...(args.system_site_packages ? ['--system-site-packages'] : []),
      args.path,
    ];
    const made = await run(command, { runas: args.user, ...args.kwargs }, ctx);
    if (made.retcode !== 0 || !args.pip || pathExists(joinPath(args.path, 'bin/pip'))) return made as unknown as Value;
    const done = await addPip(args.path, args.user, ctx);
    return {
      ...made,
      retcode: done.retcode,
      stdout: `${made.stdout}\n${done.stdout}`.trim(),
      stderr: `${made.stderr}\n${done.stderr}`.trim(),
    } as unknown as Value;
  },
});

const resourceParams = {
  venv,
  package: p.string({ default: null, doc: 'the package' }),
  resource: p.string({ default: null, doc: 'the file in it' }),
};

const ofResource = (doc: string, example: string, call: string) =>
  fn({
    doc,
    examples: [`salt '*' virtualenv.${example} /srv/app/venv flask app.py`],
    params: resourceParams,
    run: (args, ctx) =>
      ask(
        args.venv,
        `import sys, pkg_resources; print(pkg_resources.${call}(sys.argv[1], sys.argv[2]))`,
        [text(args.package, 'package'), text(args.resource, 'resource')],
        ctx,
      ),
  });

export default defineModule({
  name: 'virtualenv_mod',
  virtualName: 'virtualenv',
  doc: 'Virtual environments of Python.',
  reads: ['virtualenv_ver', 'get_site_packages', 'get_distribution_path', 'get_resource_path', 'get_resource_content'],
  functions: {
    create,
    virtualenv_ver: fn({
      doc: 'The version of virtualenv as a list of numbers.',
      examples: ["salt '*' virtualenv.virtualenv_ver virtualenv"],
      params: {
        venv_bin: p.string({ doc: 'the program' }),
        user: p.string({ default: null, doc: 'run as this user' }),
        kwargs: p.kwargs(),
      },
      run: (args, ctx) => versionOf(args.venv_bin, args.user, ctx),
    }),
    get_site_packages: fn({
      doc: "The folder of an environment's packages.",
      examples: ["salt '*' virtualenv.get_site_packages /srv/app/venv"],
      params: { venv },
      run: (args, ctx) => ask(args.venv, 'import sysconfig; print(sysconfig.get_path("purelib"))', [], ctx),
    }),
    get_distribution_path: fn({
      doc: 'The folder of a package in an environment.',
      examples: ["salt '*' virtualenv.get_distribution_path /srv/app/venv flask"],
      params: { venv, distribution: p.string({ doc: 'the package' }) },
      run: (args, ctx) =>
        ask(
          args.venv,
          'import sys, pkg_resources; print(pkg_resources.get_distribution(sys.argv[1]).location)',
          [args.distribution],
          ctx,
        ),
    }),
    get_resource_path: ofResource('The path of a file of a package.', 'get_resource_path', 'resource_filename'),
    get_resource_content: ofResource('The content of a file of a package.', 'get_resource_content', 'resource_string'),
  },
});
