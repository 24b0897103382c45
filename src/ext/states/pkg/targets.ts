// Decides what must be installed, changed or reinstalled for a request.

import {
  type ArgsOf,
  dictGet,
  isDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';
import { conditionsOf, fulfills, sourcesOf, versionsOf, type Wanted, wantedOf } from './versions.ts';

export const params = {
  name: p.string({ doc: 'the package' }),
  version: p.scalar({ default: null, doc: 'version, glob or conditions like `>=1.2,<2`; `latest` for the newest' }),
  refresh: p.scalar({ default: null, doc: 'refresh the package lists first; default: once per run' }),
  fromrepo: p.scalar({ default: null, doc: 'repository or release to install from' }),
  skip_verify: p.bool({ default: false, doc: 'allow unsigned packages' }),
  skip_suggestions: p.bool({ default: false, doc: 'do not check whether the package exists' }),
  pkgs: p.oneOf(['list', 'dict', 'string'], {
    default: null,
    doc: 'several packages, each with its version on request',
  }),
  sources: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'package files by package name' }),
  allow_updates: p.bool({ default: false, doc: 'accept a newer version' }),
  pkg_verify: p.oneOf(['bool', 'list', 'string'], {
    default: false,
    doc: 'reinstall when files of the package were changed',
  }),
  normalize: p.bool({ default: true, doc: 'omit the machine’s own architecture in names' }),
  ignore_epoch: p.scalar({ default: null, doc: 'compare versions without their epoch' }),
  reinstall: p.bool({ default: false, doc: 'always reinstall' }),
  update_holds: p.bool({ default: false, doc: 'also packages that are held' }),
  kwargs: p.kwargs({ doc: 'options of the package manager: hold, install_recommends, cache_valid_time, …' }),
};
export type InstallArgs = ArgsOf<typeof params>;

/** A request, with all arguments for the package manager. */
export interface WantedPackage {
  readonly args: InstallArgs;
  readonly pkgs: Value;
  readonly sources: Value;
  readonly refresh: boolean;
  readonly kwargs: PlainDict;
  readonly ctx: StateContext;
}

export interface Targets {
  readonly desired: Wanted;
  readonly install: Wanted;
  readonly unpurge: string[];
  readonly reinstall: Wanted;
  /** Changed files by package. */
  readonly altered: PlainDict;
  readonly warnings: string[];
  /** The package lists were refreshed in between. */
  readonly refreshed: boolean;
}

/** Nothing to do, or nothing that can be done. */
export interface Settled {
  readonly result: boolean;
  readonly comment: string;
  readonly warnings: string[];
}

const verifyOption = (pkgVerify: Value, key: string): Value => {
  for (const item of Array.isArray(pkgVerify) ? pkgVerify : []) if (isDict(item)) return dictGet(item, key) ?? [];
  return [];
};

/** Files of a package that were changed after the installation. */
export function verify(request: WantedPackage, name: string): Promise<Value> {
  const { args, kwargs, ctx } = request;
  const options = {
    ignore_types: verifyOption(args.pkg_verify, 'ignore_types'),
    verify_options: verifyOption(args.pkg_verify, 'verify_options'),
  };
  return ctx.callWith('pkg.verify', [name], { ...kwargs, ...options });
}

/** Salt's message about packages that the package database does not have. */
async function unknownPackages(
  request: WantedPackage,
  desired: Wanted,
  current: PlainDict,
): Promise<string | undefined> {
  const { args, kwargs, ctx } = request;
  if (args.skip_suggestions || !(await hasFunction(ctx, 'pkg.check_db'))) return undefined;
  const missing: string[] = [];
  for (const [name, version] of desired) {
    const versions = versionsOf(current, name);
    const fine =
      versions.length > 0 &&
      (version === null || (await fulfills(versions, version, { ignoreEpoch: args.ignore_epoch }, ctx)));
    if (!fine) missing.push(name);
  }
  if (missing.length === 0) return undefined;
  const known = textKeyed(await ctx.callWith('pkg.check_db', missing, { ...kwargs, fromrepo: args.fromrepo }));
  const lost = Object.entries(known).filter(([, about]) => textKeyed(about)['found'] === false);
  const suggestions = (about: Value): Value[] => (textKeyed(about)['suggestions'] as Value[] | undefined) ?? [];
  const without = lost.filter(([, about]) => suggestions(about).length === 0).map(([name]) => name);
  const comments: string[] = [];
  if (without.length > 0) {
    const about = 'The following package(s) were not found, and no possible matches were found in the package db';
    comments.push(`${about}: ${without.sort().join(', ')}`);
  }
  for (const [name, about] of lost) {
    if (suggestions(about).length > 0)
      comments.push(`Package '${name}' not found (possible matches: ${suggestions(about).map(pyStr).join(', ')})`);
  }
  if (comments.length > 1) comments.push('');
  return comments.length > 0 ? comments.join('. ').trimEnd() : undefined;
}

/** The versions that `latest` means. */
async function resolveLatest(request: WantedPackage, desired: Wanted, current: PlainDict): Promise<boolean> {
  const names = [...desired].filter(([, version]) => version === 'latest').map(([name]) => name);
  if (names.length === 0) return false;
  const answer = await request.ctx.callWith('pkg.latest_version', names, {
    ...request.kwargs,
    refresh: request.refresh,
  });
  const found = names.length === 1 ? { [names[0] as string]: answer } : textKeyed(answer);
  for (const name of names) {
    const newest = found[name];
    desired.set(name, newest ? pyStr(newest) : (versionsOf(current, name).at(-1) ?? null));
  }
  return request.refresh;
}

/** The version in a package file; an error or warning when it is unknown. */
async function versionInFile(
  request: WantedPackage,
  file: string,
): Promise<{ version: string } | { problem: string } | { warning: string }> {
  const { ctx } = request;
  let path: string;
  try {
    path = file.startsWith('/') ? file : await ctx.files.cacheFile(file, { saltenv: ctx.saltenv });
  } catch (error) {
    return { problem: `Unable to cache ${file}: ${failureOf(error).message}` };
  }
  if (!path) return { problem: `Unable to cache ${file}: file not found` };
  if (!existsSync(path)) return { problem: `${file} does not exist on minion` };
  const info = await ctx.call('lowpkg.bin_pkg_info', path);
  return info === null
    ? { warning: `Failed to parse metadata for ${file}` }
    : { version: pyStr(textKeyed(info)['version'] ?? '') };
}

interface Sorting {
  readonly install: Wanted;
  readonly reinstall: Wanted;
  readonly altered: PlainDict;
  readonly problems: string[];
  readonly warnings: string[];
  versioned: boolean;
}

async function reinstallIfAltered(
  request: WantedPackage,
  name: string,
  version: string | null,
  sorting: Sorting,
): Promise<void> {
  try {
    const altered = await verify(request, name);
    if (Object.keys(textKeyed(altered)).length === 0) return;
    sorting.reinstall.set(name, version);
    sorting.altered[name] = altered;
  } catch (error) {
    if (!isExpected(error)) throw error;
    sorting.problems.push(failureOf(error).message);
  }
}

/** Decides about one package. */
async function sortOne(
  request: WantedPackage,
  name: string,
  version: string | null,
  installed: string[],
  sorting: Sorting,
): Promise<void> {
  const { args, sources, ctx } = request;
  if (installed.length === 0) return void sorting.install.set(name, version);
  if (args.reinstall) return void sorting.reinstall.set(name, version);
  let wanted = version;
  if (sources) {
    if (!(await hasFunction(ctx, 'lowpkg.bin_pkg_info'))) return;
    const inside = await versionInFile(request, version ?? '');
    if ('problem' in inside) return void sorting.problems.push(inside.problem);
    if ('warning' in inside) return void sorting.warnings.push(inside.warning);
    wanted = inside.version;
  }
  if (wanted === null) {
    if (args.pkg_verify) await reinstallIfAltered(request, name, version, sorting);
    return;
  }
  const options = { ignoreEpoch: args.ignore_epoch, allowUpdates: !sources && args.allow_updates };
  const fulfilled = await fulfills(installed, wanted, options, ctx);
  sorting.versioned = true;
  if (fulfilled) return;
  const exact = conditionsOf(version ?? '').some(({ operator }) => operator === '==');
  if (args.pkg_verify && exact) await reinstallIfAltered(request, name, version, sorting);
  else sorting.install.set(name, version);
}

/** All actions, or why there are none. */
export async function findTargets(request: WantedPackage): Promise<Targets | Settled> {
  const { args, pkgs, sources, kwargs, ctx } = request;
  const settled = (result: boolean, comment: string, warnings: string[] = []): Settled => ({
    result,
    comment,
    warnings,
  });
  if (pkgs && sources) return settled(false, 'Only one of "pkgs" and "sources" is permitted.');
  const capabilities = Boolean(kwargs['resolve_capabilities']) && (await hasFunction(ctx, 'pkg.list_provides'));
  const current = textKeyed(await ctx.callWith('pkg.list_pkgs', [], { ...kwargs, versions_as_list: true }));
  const provided = capabilities ? textKeyed(await ctx.callWith('pkg.list_provides', [], kwargs)) : {};
  const desired = pkgs ? await wantedOf(pkgs, false, ctx) : await sourcesOf(sources, args.normalize, ctx);
  if (!desired || desired.size === 0)
    return settled(false, `Invalidly formatted '${pkgs ? 'pkgs' : 'sources'}' parameter. See minion log.`);
  const purging = textKeyed(await ctx.callWith('pkg.list_pkgs', [], { ...kwargs, purge_desired: true }));
  const unpurge = [...desired.keys()].filter((name) => name in purging);
  if (!sources) {
    const unknown = await unknownPackages(request, desired, current);
    if (unknown) return settled(false, unknown);
  }
  const refreshed = sources ? false : await resolveLatest(request, desired, current);
  const sorting: Sorting = {
    install: new Map(),
    reinstall: new Map(),
    altered: {},
    problems: [],
    warnings: [],
    versioned: false,
  };
  for (const [name, version] of desired) {
    let installed = versionsOf(current, name);
    const provider = provided[name];
    if (installed.length === 0 && Array.isArray(provider)) installed = versionsOf(current, pyStr(provider[0] ?? ''));
    await sortOne(request, name, version, installed, sorting);
  }
  const { install, reinstall, altered, problems, warnings, versioned } = sorting;
  if (problems.length > 0) return settled(false, problems.join(' '));
  if (install.size > 0 || unpurge.length > 0 || reinstall.size > 0)
    return { desired, install, unpurge, reinstall, altered, warnings, refreshed };
  return settled(
    true,
    `All specified packages are already installed${versioned && !sources ? ' and are at the desired version' : ''}`,
    warnings,
  );
}
