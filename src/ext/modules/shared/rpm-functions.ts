// Functions of `pkg` that yum, dnf and zypper share; what differs is how the tool is called.
import {
  type ArgsOf,
  cleanKwargs,
  commandError,
  dictEntries,
  fn,
  HaliteError,
  invocationError,
  isDict,
  isTrue,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { askTool } from 'halite/sdk/system';
import { lines, matchesGlob, words } from 'halite/sdk/text';
import { changes, versionTexts } from '../aptpkg/dpkg.ts';
import { compareRpm, fitsRpm, installedRpms, type RpmPackage } from './rpm.ts';

/** A package manager. */
export interface RpmDriver {
  refresh(ctx: ModuleContext): Promise<Value>;
  /** Available versions in the repositories. */
  offered(names: readonly string[], options: PlainDict, ctx: ModuleContext): Promise<RpmPackage[]>;
  upgrades(options: PlainDict, ctx: ModuleContext): Promise<RpmPackage[]>;
  /** The command line that installs, removes or upgrades. */
  install(targets: readonly string[], options: PlainDict): string[];
  downgrade(targets: readonly string[], options: PlainDict): string[];
  remove(names: readonly string[], options: PlainDict): string[];
  upgrade(options: PlainDict): string[];
  /** A package at a version. */
  word(name: string, version: string): string;
  run(args: readonly string[], ctx: ModuleContext): Promise<{ retcode: number; stderr: string; stdout: string }>;
}

const listFrom = (value: Value): Value[] => {
  const read = typeof value === 'string' ? loadYaml(value) : value;
  return Array.isArray(read) ? read : read === null ? [] : [read];
};

/** Requested names and versions: one name, several with commas, or `pkgs`. */
function wanted(name: string | null, pkgs: Value, version: Value | undefined): Map<string, string | null> {
  if (pkgs === null)
    return new Map(
      (name ?? '')
        .split(',')
        .filter(Boolean)
        .map((one) => [one.trim(), version ? pyStr(version) : null]),
    );
  return new Map(
    listFrom(pkgs).flatMap((item): [string, string | null][] =>
      isDict(item)
        ? dictEntries(item).map(([key, value]) => [pyStr(key), value === null ? null : pyStr(value)])
        : [[pyStr(item), null]],
    ),
  );
}

function failed(message: string, errors: string[], done: PlainDict): HaliteError {
  const info = newDict([
    ['errors', errors],
    ['changes', done],
  ]);
  return new HaliteError('call.failed', `${message}. ${errors.join('\n')}`, { details: { info } });
}

async function fileOf(source: string, ctx: ModuleContext): Promise<string> {
  return /^(salt|https?|ftp|swift|s3):/i.test(source) ? pyStr(await ctx.call('cp.cache_file', source)) : source;
}

type InstallArgs = ArgsOf<typeof installParams>;

/** Packages to install and packages to downgrade. */
async function plan(driver: RpmDriver, args: InstallArgs, old: Map<string, string[]>, ctx: ModuleContext) {
  const [up, down, errors]: [string[], string[], string[]] = [[], [], []];
  if (args.sources !== null) {
    for (const item of listFrom(args.sources)) {
      if (!isDict(item)) throw commandError('Input must be a list of 1-element dicts');
      for (const [, source] of dictEntries(item)) up.push(await fileOf(pyStr(source), ctx));
    }
    return { up, down, errors };
  }
  for (const [name, condition] of wanted(args.name, args.pkgs, args.kwargs['version'])) {
    let version = condition?.replace(/^==?/, '') ?? null;
    if (version !== null && /^[<>]|[*?]/.test(version)) {
      const fits = (one: RpmPackage): boolean =>
        /[*?]/.test(version as string)
          ? matchesGlob(one.version, version as string)
          : fitsRpm(one.version, version as string);
      const offered = (await driver.offered([name], args.kwargs, ctx)).filter((one) => one.name === name && fits(one));
      const best = offered
        .map((one) => one.version)
        .sort(compareRpm)
        .at(-1);
      if (best === undefined) {
        errors.push(`No version matching '${name}${version}' could be found`);
        continue;
      }
      version = best;
    }
    const present = old.get(name)?.at(-1);
    if (version === null || version === 'latest') up.push(name);
    else if (present !== undefined && compareRpm(version, present) < 0) down.push(driver.word(name, version));
    else up.push(driver.word(name, version));
  }
  return { up, down, errors };
}

async function install(driver: RpmDriver, args: InstallArgs, ctx: ModuleContext): Promise<PlainDict> {
  if (args.pkgs !== null && args.sources !== null)
    throw invocationError('Only one of "pkgs" and "sources" can be used.');
  if (isTrue(args.refresh)) await driver.refresh(ctx);
  const old = await installedRpms(ctx);
  const { up, down, errors } = await plan(driver, args, old, ctx);
  for (const command of [
    ...(up.length > 0 ? [driver.install(up, args.kwargs)] : []),
    ...(down.length > 0 ? [driver.downgrade(down, args.kwargs)] : []),
  ]) {
    const said = await driver.run(command, ctx);
    if (said.retcode !== 0) errors.push((said.stderr || said.stdout).trim());
  }
  const done = changes(versionTexts(old), versionTexts(await installedRpms(ctx)));
  if (errors.length > 0) throw failed('Error occurred installing package(s)', errors, done);
  return done;
}

async function remove(driver: RpmDriver, name: string | null, pkgs: Value, options: PlainDict, ctx: ModuleContext) {
  const old = await installedRpms(ctx);
  const targets = [...wanted(name, pkgs, undefined).keys()].filter((one) => old.has(one));
  if (targets.length === 0) return newDict();
  const said = await driver.run(driver.remove(targets, options), ctx);
  const done = changes(versionTexts(old), versionTexts(await installedRpms(ctx)));
  if (said.retcode !== 0)
    throw failed('Error occurred removing package(s)', [(said.stderr || said.stdout).trim()], done);
  return done;
}

async function latest(
  driver: RpmDriver,
  names: readonly string[],
  options: PlainDict,
  ctx: ModuleContext,
): Promise<Value> {
  if (names.length === 0) return '';
  if (isTrue(options['refresh'] ?? true)) await driver.refresh(ctx);
  const installed = await installedRpms(ctx);
  const offered = await driver.offered(names, options, ctx);
  const found = newDict(
    names.map((name) => {
      const best = offered
        .filter((one) => one.name === name)
        .map((one) => one.version)
        .sort(compareRpm)
        .at(-1);
      const present = installed.get(name)?.at(-1);
      return [name, best !== undefined && (present === undefined || compareRpm(present, best) < 0) ? best : ''];
    }),
  );
  return names.length === 1 ? (found[names[0] as string] ?? '') : found;
}

const names = p.rest({ doc: 'packages' });
const kwargs = p.kwargs({ doc: 'refresh, fromrepo, enablerepo, disablerepo, version, …' });
const texts = (values: readonly Value[]): string[] => values.map(pyStr);

const reading = (driver: RpmDriver) => ({
  list_pkgs: fn({
    doc: 'Installed packages and their versions.',
    examples: ["salt '*' pkg.list_pkgs"],
    params: { versions_as_list: p.isTrue({ default: false, doc: 'each as list' }), kwargs },
    async run(args, ctx) {
      if (isTrue(args.kwargs['removed'] ?? false) || isTrue(args.kwargs['purge_desired'] ?? false)) return newDict();
      const all = await installedRpms(ctx);
      return args.versions_as_list ? newDict([...all] as [string, Value][]) : versionTexts(all);
    },
  }),
  version: fn({
    doc: 'The installed version of a package, or empty text; a dictionary for several packages or a glob.',
    examples: ["salt '*' pkg.version <package name>"],
    params: { names, kwargs },
    async run(args, ctx) {
      const all = await installedRpms(ctx);
      const asked = texts(args.names);
      const hits = asked.flatMap((name) =>
        name.includes('*') ? [...all.keys()].filter((one) => matchesGlob(one, name)) : [name],
      );
      const found = newDict(hits.map((name) => [name, (all.get(name) ?? []).join(',')]));
      return asked.length === 1 && !asked[0]?.includes('*') ? (found[asked[0] as string] ?? '') : found;
    },
  }),
  latest_version: fn({
    doc: 'The version that would be installed; empty text when the package is up to date.',
    examples: ["salt '*' pkg.latest_version <package name>"],
    params: { names, kwargs },
    run: (args, ctx) => latest(driver, texts(args.names), cleanKwargs(args.kwargs), ctx),
  }),
  upgrade_available: fn({
    doc: 'Whether there is a newer version of a package.',
    examples: ["salt '*' pkg.upgrade_available <package name>"],
    params: { name: p.string({ doc: 'the package' }), kwargs },
    run: async (args, ctx) => (await latest(driver, [args.name], cleanKwargs(args.kwargs), ctx)) !== '',
  }),
  list_upgrades: fn({
    doc: 'Packages with a newer version, and that version.',
    examples: ["salt '*' pkg.list_upgrades"],
    params: { refresh: p.isTrue({ default: true, doc: 'fetch the lists first' }), kwargs },
    async run(args, ctx) {
      if (args.refresh) await driver.refresh(ctx);
      return newDict(
        (await driver.upgrades(cleanKwargs(args.kwargs), ctx)).map(({ name, version }) => [name, version]),
      );
    },
  }),
  list_repo_pkgs: fn({
    doc: 'Available versions in the repositories, by package.',
    examples: ["salt '*' pkg.list_repo_pkgs foo bar"],
    params: { args: names, kwargs },
    async run(args, ctx) {
      const found = newDict();
      for (const { name, version } of await driver.offered(texts(args.args), cleanKwargs(args.kwargs), ctx))
        found[name] = [version, ...((found[name] as Value[] | undefined) ?? [])];
      return found;
    },
  }),
  version_cmp: fn({
    doc: 'Compares two versions: -1, 0 or 1.',
    examples: ["salt '*' pkg.version_cmp '0.2-001' '0.2.0.1-002'"],
    params: {
      pkg1: p.string({ doc: 'one version' }),
      pkg2: p.string({ doc: 'the other' }),
      ignore_epoch: p.bool({ default: false, doc: 'without the epoch' }),
      kwargs,
    },
    inline: true,
    run(args) {
      const bare = (version: string): string => (args.ignore_epoch ? version.replace(/^[^:]*:/, '') : version);
      return compareRpm(bare(args.pkg1), bare(args.pkg2));
    },
  }),
  owner: fn({
    doc: 'The package a file belongs to, or empty text.',
    examples: ["salt '*' pkg.owner /usr/bin/apachectl"],
    params: { paths: p.rest({ doc: 'files' }), kwargs },
    async run(args, ctx) {
      const found = newDict();
      for (const path of texts(args.paths)) {
        const { retcode, stdout } = await askTool(ctx, 'rpm', ['-qf', '--queryformat', '%{name}', path]);
        found[path] = retcode === 0 ? stdout.trim() : '';
      }
      const values = Object.values(found);
      return values.length === 0 ? '' : values.length === 1 ? (values[0] as Value) : found;
    },
  }),
  file_list: fn({
    doc: 'Files of installed packages.',
    examples: ["salt '*' pkg.file_list httpd postfix"],
    params: { packages: names, kwargs },
    async run(args, ctx) {
      const { retcode, stdout, stderr } = await askTool(ctx, 'rpm', ['-ql', '--', ...texts(args.packages)]);
      return newDict([
        ['errors', retcode === 0 ? [] : lines(stderr)],
        ['files', [...new Set(lines(stdout))].sort()],
      ]);
    },
  }),
  normalize_name: fn({
    doc: 'A package name without the machine’s own architecture.',
    examples: ["salt '*' pkg.normalize_name zsh.x86_64"],
    params: { name: p.string({ doc: 'the name' }) },
    inline: true,
    run: (args, ctx) =>
      args.name.replace(new RegExp(`\\.(?:noarch|${pyStr((ctx.grains as PlainDict)['osarch'] ?? 'x86_64')})$`), ''),
  }),
});

const installParams = {
  name: p.string({ default: null, doc: 'one package, or several with commas' }),
  refresh: p.isTrue({ default: false, doc: 'fetch the lists first' }),
  pkgs: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'list of names, or of names with versions' }),
  sources: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'list of names with package files' }),
  kwargs,
};

const writing = (driver: RpmDriver) => ({
  refresh_db: fn({
    doc: 'Fetches the lists of the repositories.',
    examples: ["salt '*' pkg.refresh_db"],
    params: { kwargs },
    run: (_args, ctx) => driver.refresh(ctx),
  }),
  install: fn({
    doc: 'Installs packages and returns what changed.',
    examples: ["salt '*' pkg.install <package name>", `salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-4.el9"}]'`],
    params: installParams,
    run: (args, ctx) => install(driver, { ...args, kwargs: cleanKwargs(args.kwargs) }, ctx),
  }),
  remove: fn({
    doc: 'Removes packages and returns what changed.',
    examples: ["salt '*' pkg.remove <package name>"],
    params: {
      name: p.string({ default: null, doc: 'the package' }),
      pkgs: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'several' }),
      kwargs,
    },
    run: (args, ctx) => remove(driver, args.name, args.pkgs, cleanKwargs(args.kwargs), ctx),
  }),
  purge: fn({
    doc: 'The same as remove.',
    examples: ["salt '*' pkg.purge <package name>"],
    params: {
      name: p.string({ default: null, doc: 'the package' }),
      pkgs: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'several' }),
      kwargs,
    },
    run: (args, ctx) => remove(driver, args.name, args.pkgs, cleanKwargs(args.kwargs), ctx),
  }),
  upgrade: fn({
    doc: 'Upgrades every package to its newest version and returns what changed.',
    examples: ["salt '*' pkg.upgrade"],
    params: { refresh: p.isTrue({ default: true, doc: 'fetch the lists first' }), kwargs },
    async run(args, ctx) {
      if (args.refresh) await driver.refresh(ctx);
      const old = await installedRpms(ctx);
      const said = await driver.run(driver.upgrade(cleanKwargs(args.kwargs)), ctx);
      const done = changes(versionTexts(old), versionTexts(await installedRpms(ctx)));
      if (said.retcode !== 0) throw failed('Problem encountered upgrading packages', [said.stderr.trim()], done);
      return done;
    },
  }),
});

export const rpmFunctions = (driver: RpmDriver) => ({ ...reading(driver), ...writing(driver) });

/** Columns separated by blanks. */
export const columns = (text: string): string[][] => lines(text).map(words);

/** Functions of `rpmFunctions` and `repoFunctions` that change nothing, and the list of locks. */
export const readingPackages: readonly string[] = [
  'version',
  'list_pkgs',
  'latest_version',
  'upgrade_available',
  'list_upgrades',
  'version_cmp',
  'list_repo_pkgs',
  'file_list',
  'owner',
  'normalize_name',
  'list_repos',
  'get_repo',
  'list_holds',
];
