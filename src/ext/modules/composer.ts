// Execution module `composer`: dependencies of PHP projects.
import {
  type ArgsOf,
  commandError,
  defineModule,
  dictEntries,
  fn,
  invocationError,
  isDict,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { pathExists } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';

const tool = {
  composer: p.string({ default: null, falsy: null, doc: 'path of composer' }),
  php: p.string({ default: null, doc: 'path of php' }),
  runas: p.string({ default: null, doc: 'run as this user' }),
};
const quiet = p.bool({ default: false, doc: 'no output' });
const composer_home = p.string({ default: '/root', doc: 'folder of composer' });
const project = {
  directory: p.string({ doc: 'the project' }),
  ...tool,
  prefer_source: p.bool({ default: null, doc: 'fetch repositories' }),
  prefer_dist: p.bool({ default: null, doc: 'fetch packages' }),
  no_scripts: p.bool({ default: null, doc: 'run no scripts' }),
  no_plugins: p.bool({ default: null, doc: 'load no plugins' }),
  optimize: p.bool({ default: null, doc: 'optimise the autoloader' }),
  no_dev: p.bool({ default: null, doc: 'without development dependencies' }),
  quiet,
  composer_home,
  env: p.oneOf(['dict', 'list'], { default: null, doc: 'environment variables' }),
};
type Call = Partial<ArgsOf<typeof project>>;

const flags: readonly (readonly [keyof Call, string])[] = [
  ['quiet', '--quiet'],
  ['no_dev', '--no-dev'],
  ['prefer_source', '--prefer-source'],
  ['prefer_dist', '--prefer-dist'],
  ['no_scripts', '--no-scripts'],
  ['no_plugins', '--no-plugins'],
  ['optimize', '--optimize-autoloader'],
];

/** Variables as a dictionary, or as a list of dictionaries. */
const variables = (env: Value | undefined): [string, Value][] =>
  (Array.isArray(env) ? env : [env ?? null]).flatMap((part) =>
    isDict(part) ? dictEntries(part).map(([key, value]): [string, Value] => [pyStr(key), value]) : [],
  );

async function run(action: string, call: Call, extra: readonly string[], ctx: ModuleContext): Promise<Value> {
  const composer = call.composer ? call.composer : 'composer';
  const php = call.php ?? (call.composer ? 'php' : null);
  if (which(composer) === null)
    throw commandError(`'composer.${action}' is not available. Couldn't find '${composer}'.`);
  if (!call.directory && action !== 'selfupdate')
    throw invocationError(`The 'directory' argument is required for composer.${action}`);
  const argv = [
    ...(php ? [php] : []),
    ...[composer, action, '--no-interaction', '--no-ansi', ...extra],
    ...(call.directory ? ['--working-dir', call.directory] : []),
    ...flags.flatMap(([key, flag]) => (call[key] === true ? [flag] : [])),
  ];
  const env = newDict([...variables(call.env), ['COMPOSER_HOME', call.composer_home ?? '/root']]);
  const done = await ctx.callWith('cmd.run_all', [argv], { runas: call.runas ?? null, env, python_shell: false });
  const { retcode, stderr } = done as { retcode: number; stderr: string };
  if (retcode !== 0) throw commandError(stderr);
  return call.quiet === true ? true : done;
}

export default defineModule({
  name: 'composer',
  doc: 'Dependencies of PHP projects.',
  reads: ['did_composer_install'],
  functions: {
    did_composer_install: fn({
      doc: 'Whether the dependencies of a project are installed.',
      examples: ["salt '*' composer.did_composer_install /var/www/shop"],
      params: { dir: p.string({ doc: 'the project' }) },
      run: (args) => pathExists(`${args.dir}/vendor`),
    }),
    install: fn({
      doc: 'Installs the locked dependencies of a project.',
      examples: ["salt '*' composer.install /var/www/shop no_dev=True"],
      params: project,
      run: (args, ctx) => run('install', args, [], ctx),
    }),
    update: fn({
      doc: 'Updates the dependencies of a project.',
      examples: ["salt '*' composer.update /var/www/shop"],
      params: project,
      run: (args, ctx) => run('update', args, ['--no-progress'], ctx),
    }),
    selfupdate: fn({
      doc: 'Updates composer itself.',
      examples: ["salt '*' composer.selfupdate"],
      params: { ...tool, quiet, composer_home },
      run: (args, ctx) => run('selfupdate', args, ['--no-progress'], ctx),
    }),
  },
});
