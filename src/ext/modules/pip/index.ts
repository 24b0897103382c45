// Execution module `pip`: Python packages.
import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { envVars, forgetVersion, pipVersion, runPip, useVt, type Where, where } from '../../shared/pip/command.ts';
import { installParams } from '../../shared/pip/params.ts';
import { install, uninstall } from './install.ts';
import { allVersions, freeze, listFrozen, listInstalled, listUpgrades } from './list.ts';

const saltenv = p.string({ default: 'base', doc: 'environment of files on the file server' });
const kwargs = p.kwargs({ doc: 'passed on to cmd.run_all' });
const prefix = p.string({ default: null, falsy: null, doc: 'only names that begin like this' });
const text = (value: string | null): string | null => (value ? pyStr(value) : null);

function differences(old: PlainDict, now: PlainDict): PlainDict {
  const changed = newDict();
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)]))
    if (old[name] !== now[name])
      changed[name] = newDict([
        ['new', now[name] ?? ''],
        ['old', old[name] ?? ''],
      ]);
  return changed;
}

async function upgradeAll(at: Where, ctx: ModuleContext): Promise<Value> {
  const old = await listInstalled(null, at, null, newDict(), ctx);
  let comment = '';
  let fine = true;
  for (const name of Object.keys(await listUpgrades(at, ctx))) {
    const done = await runPip(['install', '-U', '--disable-pip-version-check', name], at, ctx);
    if (done.retcode !== 0) fine = false;
    comment += done.stderr;
  }
  forgetVersion(at.bin_env, ctx);
  return newDict([
    ['changes', differences(old, await listInstalled(null, at, null, newDict(), ctx))],
    ['result', fine],
    ['comment', comment],
  ]);
}

export default defineModule({
  name: 'pip',
  doc: 'Python packages.',
  reads: [
    'freeze',
    'list_freeze_parse',
    'list',
    'version',
    'list_upgrades',
    'is_installed',
    'upgrade_available',
    'list_all_versions',
  ],
  functions: {
    install: fn({
      doc: 'Installs packages; returns the answer of cmd.run_all.',
      examples: [
        "salt '*' pip.install flask,jinja2",
        "salt '*' pip.install requirements=/srv/app/requirements.txt bin_env=/srv/app/venv",
      ],
      params: {
        pkgs: p.strings({ default: null, split: ',', falsy: null, doc: 'names with commas, or a list' }),
        ...installParams,
        kwargs,
      },
      run: ({ kwargs: more, ...args }, ctx) => install(args, more, ctx),
    }),
    uninstall: fn({
      doc: 'Removes packages; returns the answer of cmd.run_all.',
      examples: ["salt '*' pip.uninstall flask,jinja2"],
      params: {
        pkgs: p.strings({ default: null, split: ',', falsy: null, doc: 'names with commas, or a list' }),
        requirements: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'files of requirements' }),
        bin_env: where.bin_env,
        log: p.string({ default: null, falsy: null, doc: 'write a log there' }),
        proxy: p.string({ default: null, falsy: null, doc: 'proxy to use' }),
        timeout: p.string({ default: null, falsy: null, doc: 'seconds to wait' }),
        user: where.user,
        cwd: where.cwd,
        saltenv,
        use_vt: useVt,
        extra_args: p.oneOf(['list', 'dict', 'string'], { default: null, falsy: null, doc: 'further options of pip' }),
      },
      run: (args, ctx) => uninstall(args, ctx),
    }),
    freeze: fn({
      doc: 'Installed packages as lines of a requirements file.',
      examples: ["salt '*' pip.freeze bin_env=/srv/app/venv"],
      params: { ...where, use_vt: useVt, env_vars: envVars, kwargs },
      run: (args, ctx) => freeze(args, args.env_vars, args.kwargs, ctx),
    }),
    list_freeze_parse: fn({
      doc: 'Installed packages and versions, read from `pip freeze`.',
      examples: ["salt '*' pip.list_freeze_parse flask"],
      params: { prefix, ...where, env_vars: envVars, kwargs },
      run: (args, ctx) => listFrozen(text(args.prefix), args, args.env_vars, args.kwargs, ctx),
    }),
    list: fn({
      doc: 'Installed packages and versions.',
      examples: ["salt '*' pip.list flask"],
      params: { prefix, ...where, env_vars: envVars, kwargs },
      run: (args, ctx) => listInstalled(text(args.prefix), args, args.env_vars, args.kwargs, ctx),
    }),
    version: fn({
      doc: 'The version of pip.',
      examples: ["salt '*' pip.version"],
      params: { bin_env: where.bin_env, cwd: where.cwd, user: where.user },
      run: (args, ctx) => pipVersion(args, ctx),
    }),
    list_upgrades: fn({
      doc: 'Packages with a newer version, and that version.',
      examples: ["salt '*' pip.list_upgrades"],
      params: where,
      run: (args, ctx) => listUpgrades(args, ctx),
    }),
    is_installed: fn({
      doc: 'Whether a package is installed.',
      examples: ["salt '*' pip.is_installed flask"],
      params: { pkgname: p.string({ doc: 'the package' }), ...where },
      async run(args, ctx) {
        const found = await listInstalled(args.pkgname, args, null, newDict(), ctx);
        return Object.keys(found).some((name) => name.toLowerCase() === args.pkgname.toLowerCase());
      },
    }),
    upgrade_available: fn({
      doc: 'Whether there is a newer version of a package.',
      examples: ["salt '*' pip.upgrade_available flask"],
      params: { pkg: p.string({ doc: 'the package' }), ...where },
      run: async (args, ctx) => Object.hasOwn(await listUpgrades(args, ctx), args.pkg),
    }),
    upgrade: fn({
      doc: 'Upgrades every package to its newest version.',
      examples: ["salt '*' pip.upgrade"],
      params: { ...where, use_vt: useVt },
      run: (args, ctx) => upgradeAll(args, ctx),
    }),
    list_all_versions: fn({
      doc: 'All available versions of a package, in ascending order.',
      examples: ["salt '*' pip.list_all_versions flask"],
      params: {
        pkg: p.string({ doc: 'the package' }),
        bin_env: where.bin_env,
        include_alpha: p.bool({ default: false, doc: 'with alpha versions' }),
        include_beta: p.bool({ default: false, doc: 'with beta versions' }),
        include_rc: p.bool({ default: false, doc: 'with release candidates' }),
        user: where.user,
        cwd: where.cwd,
        index_url: p.string({ default: null, falsy: null, doc: 'address of the index' }),
        extra_index_url: p.string({ default: null, falsy: null, doc: 'address of another index' }),
      },
      run: (args, ctx) =>
        allVersions(
          args.pkg,
          {
            alpha: args.include_alpha,
            beta: args.include_beta,
            rc: args.include_rc,
            index: text(args.index_url),
            extraIndex: text(args.extra_index_url),
          },
          args,
          ctx,
        ),
    }),
  },
});
