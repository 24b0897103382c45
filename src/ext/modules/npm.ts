// Execution module `npm`: packages of Node.js.
import { tmpdir } from 'node:os';
import {
  commandError,
  defineModule,
  fn,
  invocationError,
  isDict,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { userByName, which } from 'halite/sdk/system';

interface Result {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Call {
  readonly runas: Value;
  readonly env: Value;
  readonly cwd?: Value;
  /** A failure of npm does not make the job fail. */
  readonly lenient?: boolean;
}

async function npm(args: readonly string[], { runas, env, cwd, lenient }: Call, ctx: ModuleContext): Promise<Result> {
  const vars = newDict(isDict(env) ? Object.entries(env) : []);
  const account = runas ? userByName(pyStr(runas)) : undefined;
  // npm runs scripts of packages as this user.
  if (account && account.uid !== 0) Object.assign(vars, { SUDO_UID: String(account.uid), SUDO_USER: '' });
  return (await ctx.callWith('cmd.run_all', [['npm', ...args]], {
    cwd: cwd ?? null,
    runas,
    env: vars,
    python_shell: false,
    ignore_retcode: lenient ?? false,
  })) as unknown as Result;
}

/** The first JSON value in a text; npm prints other text around it. */
function firstJson(text: string): Value | undefined {
  const lines = text.split('\n');
  for (let i = 0; i < lines.length; i++) {
    if (!/^\s*[[{]/.test(lines[i] ?? '')) continue;
    for (let end = lines.length; end > i; end--) {
      if (!/[\]}]\s*$/.test(lines[end - 1] ?? '')) continue;
      try {
        return loadJson(lines.slice(i, end).join('\n'));
      } catch {
        // A shorter part may be valid JSON.
      }
    }
  }
  return undefined;
}

const runas = p.string({ default: null, doc: 'run as this user' });
const env = p.dict({ default: null, falsy: null, doc: 'environment variables' });
const dir = p.string({ default: null, falsy: null, doc: 'the project; without it packages are global' });
const path = p.string({ default: null, falsy: null, doc: 'part of the cache' });

export default defineModule({
  name: 'npm',
  doc: 'Packages of Node.js.',
  available: () =>
    which('npm') !== null || 'npm execution module could not be loaded because the npm binary could not be located',
  reads: ['list', 'cache_list', 'cache_path'],
  functions: {
    install: fn({
      doc: 'Installs packages, or the dependencies of the project.',
      examples: ["salt '*' npm.install coffee-script", "salt '*' npm.install dir=/srv/app"],
      params: {
        pkg: p.string({ default: null, falsy: null, doc: 'one package' }),
        pkgs: p.list({ default: null, doc: 'several packages' }),
        dir,
        runas,
        registry: p.string({ default: null, falsy: null, doc: 'address of the registry' }),
        env,
        dry_run: p.bool({ default: false, doc: 'only report what would be done' }),
        silent: p.bool({ default: true, doc: 'no log of npm' }),
      },
      reads: ({ dry_run }) => dry_run,
      async run(args, ctx) {
        const pkgs = args.pkg ? [args.pkg] : Array.isArray(args.pkgs) ? args.pkgs.map(pyStr) : [];
        const words = [
          'install',
          '--json',
          ...(args.silent ? ['--silent'] : []),
          ...(args.dir ? [] : ['--global']),
          ...(args.registry ? [`--registry=${args.registry}`] : []),
          ...(args.dry_run ? ['--dry-run'] : []),
          '--',
          ...pkgs,
        ];
        const done = await npm(words, { runas: args.runas, env: args.env, cwd: args.dir || tmpdir() }, ctx);
        if (done.retcode !== 0) throw commandError(done.stderr);
        const said = done.stdout || done.stderr;
        return firstJson(said) ?? said;
      },
    }),
    uninstall: fn({
      doc: 'Removes a package; whether that worked.',
      examples: ["salt '*' npm.uninstall coffee-script"],
      params: { pkg: p.string({ doc: 'the package' }), dir, runas, env },
      async run(args, ctx) {
        const words = ['uninstall', ...(args.dir ? [] : ['--global']), '--', args.pkg];
        const done = await npm(words, { runas: args.runas, env: args.env, cwd: args.dir }, ctx);
        if (done.retcode !== 0) ctx.log.error(done.stderr);
        return done.retcode === 0;
      },
    }),
    list: fn({
      doc: 'Installed packages and their details.',
      examples: ["salt '*' npm.list"],
      params: {
        pkg: p.string({ default: null, falsy: null, doc: 'only this package' }),
        dir,
        runas,
        env,
        depth: p.oneOf(['int', 'float', 'string'], { default: null, doc: 'how many levels of dependencies' }),
      },
      async run(args, ctx) {
        if (args.depth !== null && typeof args.depth !== 'number')
          throw invocationError(`Error: depth ${args.depth} must be a number`);
        const words = [
          'list',
          '--json',
          '--silent',
          ...(args.dir ? [] : ['--global']),
          ...(args.depth === null ? [] : [`--depth=${Math.trunc(args.depth)}`]),
          ...(args.pkg ? [args.pkg] : []),
        ];
        const done = await npm(words, { runas: args.runas, env: args.env, cwd: args.dir, lenient: true }, ctx);
        if (done.retcode !== 0 && done.stderr !== '') throw commandError(done.stderr);
        const data = loadJson(done.stdout);
        return (isDict(data) && !(data instanceof Map) ? data['dependencies'] : undefined) ?? newDict();
      },
    }),
    cache_clean: fn({
      doc: 'Empties the cache; whether that worked.',
      examples: ["salt '*' npm.cache_clean force=True"],
      params: { path, runas, env, force: p.bool({ default: false, doc: 'required by newer versions of npm' }) },
      async run(args, ctx) {
        const words = ['cache', 'clean', ...(args.path ? [args.path] : []), ...(args.force ? ['--force'] : [])];
        const done = await npm(words, { runas: args.runas, env: args.env, lenient: true }, ctx);
        if (done.retcode !== 0) ctx.log.error(done.stderr);
        return done.retcode === 0;
      },
    }),
    cache_list: fn({
      doc: 'What is in the cache.',
      examples: ["salt '*' npm.cache_list"],
      params: { path, runas, env },
      async run(args, ctx) {
        const words = ['cache', 'ls', ...(args.path ? [args.path] : [])];
        const done = await npm(words, { runas: args.runas, env: args.env, lenient: true }, ctx);
        if (done.retcode !== 0 && done.stderr !== '') throw commandError(done.stderr);
        return done.stdout;
      },
    }),
    cache_path: fn({
      doc: 'Where the cache is.',
      examples: ["salt '*' npm.cache_path"],
      params: { runas, env },
      async run(args, ctx) {
        const done = await npm(['config', 'get', 'cache'], { runas: args.runas, env: args.env, lenient: true }, ctx);
        return done.stdout || done.stderr;
      },
    }),
  },
});
