// Installing, removing and upgrading packages.
import {
  asNumber,
  commandError,
  dictEntries,
  invocationError,
  isDict,
  isTrue,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { parseEnv } from '../cmd/environment.ts';
import { callApt, candidateOf, failedWith, offeredVersions, refreshDb } from './apt.ts';
import { changes, installedVersions, packageFileInfo, readPackages, selections, versionTexts } from './dpkg.ts';
import { normalizeName } from './names.ts';
import { compareVersions, newestFitting } from './versions.ts';

/** A package to install: by name from a repository, or from a file. */
interface Target {
  readonly name: string;
  readonly version: string | null;
  readonly file?: string;
}

export interface InstallArgs {
  readonly name: string | null;
  readonly refresh: Value;
  readonly fromrepo: string | null;
  readonly skip_verify: boolean;
  readonly debconf: string | null;
  readonly pkgs: Value;
  readonly sources: Value;
  readonly reinstall: boolean;
  readonly downloadonly: boolean;
  readonly ignore_epoch: boolean;
  readonly normalize: boolean;
  readonly kwargs: PlainDict;
}

const listFrom = (value: Value): Value[] => {
  const read = typeof value === 'string' ? loadYaml(value) : value;
  return Array.isArray(read) ? read : read === null ? [] : [read];
};

/** Names and versions of `pkgs`: texts, or one-key dictionaries of name and version. */
export function packagesOf(pkgs: Value, normalize: (name: string) => string): Map<string, string | null> {
  const list = listFrom(pkgs);
  const found = new Map<string, string | null>();
  for (const item of list) {
    if (!isDict(item)) found.set(normalize(pyStr(item)), null);
    else
      for (const [name, version] of dictEntries(item))
        found.set(normalize(pyStr(name)), version === null ? null : pyStr(version));
  }
  if (found.size !== list.length) {
    throw invocationError(
      `You are passing a list of packages that contains duplicated packages names: ${pyStr(list)}. This cannot be processed. In case you are targeting different versions of the same package, please target them individually`,
    );
  }
  return found;
}

async function sourceTargets(sources: Value, saltenv: string, ctx: ModuleContext): Promise<Target[]> {
  const targets: Target[] = [];
  for (const item of listFrom(sources)) {
    if (!isDict(item)) throw commandError('Input must be a list of 1-element dicts');
    for (const [name, source] of dictEntries(item)) {
      const address = pyStr(source);
      const remote = /^(salt|file|https?|ftp|swift|s3):/i.test(address);
      if (!remote && !address.startsWith('/')) {
        throw invocationError(
          `Path ${address} for package ${pyStr(name)} is either not absolute or an invalid protocol`,
        );
      }
      const file = remote ? pyStr(await ctx.call('cp.cache_file', address, saltenv)) : address;
      const info = await packageFileInfo(file, ctx);
      targets.push({ name: info.name, version: info.version, file });
    }
  }
  return targets;
}

async function targetsOf(args: InstallArgs, ctx: ModuleContext): Promise<Target[]> {
  const given = (value: Value): boolean => value !== null && (!Array.isArray(value) || value.length > 0);
  if (given(args.pkgs) && given(args.sources)) throw commandError('Only one of "pkgs" and "sources" can be used.');
  const clean = (name: string): string =>
    args.normalize && args.kwargs['split_arch'] !== false ? normalizeName(name, ctx.grains) : name;
  if (given(args.pkgs)) return [...packagesOf(args.pkgs, clean)].map(([name, version]) => ({ name, version }));
  if (given(args.sources)) return sourceTargets(args.sources, pyStr(args.kwargs['saltenv'] ?? 'base'), ctx);
  const version = args.kwargs['version'];
  return (args.name ?? '')
    .split(',')
    .filter(Boolean)
    .map((name) => ({ name: clean(name), version: version ? pyStr(version) : null }));
}

/** The package lists are refreshed on request, unless the requested version is already known. */
async function needsRefresh(args: InstallArgs, targets: readonly Target[], ctx: ModuleContext): Promise<boolean> {
  if (!isTrue(args.refresh)) return false;
  for (const target of targets) {
    if (target.version === null || (await candidateOf(target.name, null, ctx)) !== target.version) return true;
  }
  return false;
}

function aptOptions(args: InstallArgs): string[] {
  const { kwargs } = args;
  const repository = args.fromrepo ?? (kwargs['repo'] ? pyStr(kwargs['repo']) : null);
  const conf = kwargs['force_conf_new'] ? ['--force-confnew'] : ['--force-confold', '--force-confdef'];
  return [
    ...['apt-get', '-q', '-y'],
    ...(kwargs['force_yes'] ? ['--force-yes'] : []),
    ...conf.flatMap((option) => ['-o', `DPkg::Options::=${option}`]),
    ...('install_recommends' in kwargs
      ? [kwargs['install_recommends'] ? '--install-recommends' : '--no-install-recommends']
      : []),
    ...(kwargs['only_upgrade'] ? ['--only-upgrade'] : []),
    ...(args.skip_verify ? ['--allow-unauthenticated'] : []),
    ...(repository && !args.sources ? ['-t', repository] : []),
    ...(args.downloadonly ? ['--download-only'] : []),
  ];
}

interface Plan {
  readonly install: string[];
  readonly downgrade: string[];
  readonly reinstall: Map<string, string>;
  readonly errors: string[];
}

async function planOf(
  args: InstallArgs,
  targets: readonly Target[],
  old: PlainDict,
  ctx: ModuleContext,
): Promise<Plan> {
  const plan: Plan = { install: [], downgrade: [], reinstall: new Map(), errors: [] };
  const compared = targets.filter((target) => /^[<>]/.test(target.version ?? '')).map((target) => target.name);
  const offered = compared.length > 0 ? await offeredVersions(compared, ctx) : new Map<string, string[]>();
  for (const target of targets) {
    const present = pyStr(old[target.name] ?? '');
    let version = target.version?.replace(/^=+/, '') ?? null;
    if (version !== null && compared.includes(target.name)) {
      const candidates = offered.get(target.name) ?? [];
      const found = newestFitting(version, candidates, args.ignore_epoch);
      if (found === undefined) {
        const list = candidates.length > 0 ? candidates.join(', ') : 'None';
        plan.errors.push(`No version matching '${target.name}${version}' could be found (available: ${list})`);
        continue;
      }
      version = found;
    }
    const word = target.file ?? (version === null ? target.name : `${target.name}=${version}`);
    if (args.reinstall && present && (version === null || compareVersions(version, present) === 0))
      plan.reinstall.set(target.name, word);
    else if (version === null || !present || compareVersions(version, present) >= 0) plan.install.push(word);
    else plan.downgrade.push(word);
  }
  return plan;
}

function commandsOf(args: InstallArgs, plan: Plan): string[][] {
  const base = aptOptions(args);
  return [
    ...(plan.install.length > 0 ? [[...base, 'install', '--', ...plan.install]] : []),
    ...(plan.downgrade.length > 0 ? [[...base, '--allow-downgrades', 'install', '--', ...plan.downgrade]] : []),
    ...(plan.reinstall.size > 0
      ? [[...base, ...(args.sources ? [] : ['--reinstall']), 'install', '--', ...plan.reinstall.values()]]
      : []),
  ];
}

export async function install(args: InstallArgs, ctx: ModuleContext): Promise<PlainDict> {
  if (args.debconf) await ctx.call('debconf.set_file', args.debconf);
  const targets = await targetsOf(args, ctx);
  if (targets.length === 0) return newDict();
  const refresh = await needsRefresh(args, targets, ctx);
  const old = await installedVersions(ctx);
  const plan = await planOf(args, targets, old, ctx);
  const commands = commandsOf(args, plan);
  let result = newDict();
  if (commands.length > 0) {
    if (refresh) await refreshDb(ctx, asNumber(args.kwargs['cache_valid_time'] ?? 0) ?? 0);
    const held = (await selections(null, ctx)).get('hold') ?? [];
    const names = [...plan.install, ...plan.downgrade, ...plan.reinstall.keys()].map(
      (word) => word.split('=')[0] ?? word,
    );
    const unheld = held.filter((name) => names.includes(name));
    if (unheld.length > 0) await ctx.callWith('pkg.unhold', [], newDict([['pkgs', unheld]]));
    const env = parseEnv(args.kwargs['env']);
    for (const command of commands) {
      const { retcode, stderr } = await callApt(ctx, command, { scope: true, env });
      if (retcode !== 0 && stderr) plan.errors.push(stderr.trim());
    }
    const now = await installedVersions(ctx);
    result = changes(old, now);
    for (const name of plan.reinstall.keys())
      result[name] ??= newDict([
        ['old', old[name] ?? ''],
        ['new', now[name] ?? ''],
      ]);
    if (unheld.length > 0) await ctx.callWith('pkg.hold', [], newDict([['pkgs', unheld]]));
  }
  if (plan.errors.length > 0) {
    throw failedWith(
      'Problem encountered installing package(s)',
      newDict([
        ['errors', plan.errors],
        ['changes', result],
      ]),
    );
  }
  return result;
}

export interface RemoveArgs {
  readonly name: string | null;
  readonly pkgs: Value;
  readonly kwargs: PlainDict;
}

export async function uninstall(action: 'remove' | 'purge', args: RemoveArgs, ctx: ModuleContext): Promise<PlainDict> {
  const clean = (name: string): string => normalizeName(name, ctx.grains);
  const wanted =
    args.pkgs === null
      ? (args.name ?? '').split(',').filter(Boolean).map(clean)
      : [...packagesOf(args.pkgs, clean).keys()];
  const before = await readPackages(ctx);
  const old = versionTexts(new Map([...before.purgeDesired, ...before.installed]));
  const targets = wanted.filter((name) => name in old || (action === 'purge' && before.removed.has(name)));
  if (targets.length === 0) return newDict();
  const env = parseEnv(args.kwargs['env']);
  const { retcode, stderr } = await callApt(ctx, ['apt-get', '-q', '-y', action, '--', ...targets], {
    scope: true,
    env,
  });
  const after = await readPackages(ctx);
  const done = changes(old, versionTexts(new Map([...after.purgeDesired, ...after.installed])));
  const result =
    action === 'purge'
      ? newDict([
          ['removed', changes(versionTexts(before.removed), versionTexts(after.removed))],
          ['installed', done],
        ])
      : done;
  if (retcode !== 0 && stderr) {
    throw failedWith(
      'Problem encountered removing package(s)',
      newDict([
        ['errors', [stderr.trim()]],
        ['changes', result],
      ]),
    );
  }
  return result;
}

export async function upgrade(distUpgrade: boolean, kwargs: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const old = await installedVersions(ctx);
  const conf = kwargs['force_conf_new'] ? ['--force-confnew'] : ['--force-confold', '--force-confdef'];
  const command = [
    ...['apt-get', '-q', '-y'],
    ...conf.flatMap((option) => ['-o', `DPkg::Options::=${option}`]),
    ...(kwargs['force_yes'] ? ['--force-yes'] : []),
    ...(kwargs['skip_verify'] ? ['--allow-unauthenticated'] : []),
    ...(kwargs['download_only'] || kwargs['downloadonly'] ? ['--download-only'] : []),
    ...(kwargs['allow_downgrades'] ? ['--allow-downgrades'] : []),
    distUpgrade ? 'dist-upgrade' : 'upgrade',
  ];
  const { pid, retcode, stdout, stderr } = await callApt(ctx, command, { scope: true });
  const result = changes(old, await installedVersions(ctx));
  if (retcode !== 0) {
    const details = newDict([
      ['pid', pid],
      ['retcode', retcode],
      ['stdout', stdout.trimEnd()],
      ['stderr', stderr.trimEnd()],
    ]);
    throw failedWith(
      'Problem encountered upgrading packages',
      newDict([
        ['changes', result],
        ['result', details],
      ]),
    );
  }
  return result;
}
