// `pkg.installed`: packages that must be installed, on request with a version.
import {
  dictEntries,
  isDict,
  newDict,
  type PlainDict,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { failureOf, hasFunction, isExpected, readable } from '../shared/calls.ts';
import { applyHold, type HoldOutcome } from './hold.ts';
import { markFresh, wantsRefresh } from './refresh.ts';
import {
  findTargets,
  type InstallArgs,
  params,
  type Settled,
  type Targets,
  verify,
  type WantedPackage,
} from './targets.ts';
import { fulfills, installList, spelled, versionsOf, type Wanted } from './versions.ts';

const entry = (): PlainDict =>
  newDict([
    ['new', 'installed'],
    ['old', ''],
  ]);
const count = (number: number, verb: string, ending: string): string =>
  `${number} targeted package${number > 1 ? 's' : ''} ${number > 1 ? 'were' : 'was'} ${verb}${ending}`;

/** Nothing to install; holds are still set. */
async function settle(request: WantedPackage, settled: Settled, ctx: StateContext): Promise<StateResult> {
  const { args } = request;
  const changes = newDict();
  let { result, comment } = settled as { result: boolean | null; comment: string };
  if (args.kwargs['hold'] !== undefined && (await hasFunction(ctx, 'pkg.hold'))) {
    let hold: HoldOutcome;
    try {
      hold = await applyHold(
        args.kwargs['hold'],
        newDict([
          ['name', args.name],
          ['pkgs', request.pkgs],
          ['sources', request.sources],
        ]),
        ctx,
      );
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(failureOf(error).message);
    }
    if (hold.problem) return ctx.fail(hold.problem);
    for (const item of [...hold.changed, ...hold.same, ...hold.failed]) {
      comment += `.\n${pyStr(item['comment'] ?? '')}`;
      result = item['result'] as boolean | null;
      if (hold.changed.includes(item)) changes[pyStr(item['name'] ?? '')] = item['changes'] ?? newDict();
    }
  }
  return ctx.result({ result, comment, changes, ...warned(settled.warnings) });
}

const warned = (warnings: string[]): PlainDict => (warnings.length > 0 ? newDict([['warnings', warnings]]) : newDict());

/** What would be done, with the texts of Salt's test mode. */
function announce(request: WantedPackage, targets: Targets, ctx: StateContext): StateResult {
  const { install, unpurge, reinstall, altered } = targets;
  const comment: string[] = [];
  const changes = newDict();
  const named = (name: string, list: Wanted): string => (request.sources ? name : spelled(name, list));
  if (install.size > 0) {
    for (const name of install.keys()) changes[name] = entry();
    comment.push(`The following packages would be installed/updated: ${[...install.keys()].join(', ')}`);
  }
  if (unpurge.length > 0) {
    comment.push(
      `The following packages would have their selection status changed from 'purge' to 'install': ${unpurge.join(', ')}`,
    );
    for (const name of unpurge) changes[name] = entry();
  }
  if (reinstall.size > 0 && request.args.reinstall) {
    const list = [...reinstall.keys()].map((name) => named(name, reinstall));
    for (const name of list) changes[name] = entry();
    comment.push(`The following packages would be reinstalled: ${list.join(', ')}`);
  } else {
    for (const name of reinstall.keys()) {
      comment.push(
        `Package '${named(name, reinstall)}' would be reinstalled because the following files have been altered:`,
      );
      comment.push(readable(altered[name] ?? null));
      changes[name] = newDict();
    }
  }
  return ctx.result({ result: null, comment: comment.join('\n'), changes, ...warned(targets.warnings) });
}

/** The packages that are now installed as requested, and those that are not. */
async function check(request: WantedPackage, desired: Wanted): Promise<{ fine: string[]; failed: string[] }> {
  const { args, kwargs, ctx } = request;
  const now = textKeyed(await ctx.callWith('pkg.list_pkgs', [], { ...kwargs, versions_as_list: true }));
  const provides = kwargs['resolve_capabilities'] && (await hasFunction(ctx, 'pkg.list_provides'));
  const provided = provides ? textKeyed(await ctx.callWith('pkg.list_provides', [], kwargs)) : {};
  const [fine, failed]: [string[], string[]] = [[], []];
  for (const [name, version] of desired) {
    const bare = name.split('=')[0] as string;
    let versions = versionsOf(now, bare);
    if (versions.length === 0 && (await hasFunction(ctx, 'pkg.normalize_name'))) {
      versions = versionsOf(now, pyStr(await ctx.call('pkg.normalize_name', bare)));
    }
    const provider = provided[bare];
    if (versions.length === 0 && Array.isArray(provider)) versions = versionsOf(now, pyStr(provider[0] ?? ''));
    const any =
      !version || version === 'latest' || (version.endsWith('*') && versions[0]?.startsWith(version.slice(0, -1)));
    const ok =
      versions.length > 0 && (any || (await fulfills(versions, version, { ignoreEpoch: args.ignore_epoch }, ctx)));
    (ok ? fine : failed).push(name);
  }
  return { fine, failed };
}

interface Report {
  comment: string[];
  changes: PlainDict;
  result: boolean;
}

/** Merges holds into the changes of the same package. */
function reportHolds(hold: HoldOutcome, report: Report): void {
  for (const item of hold.changed) {
    const name = pyStr(item['name'] ?? '');
    const made = textKeyed(item['changes']);
    const known = report.changes[name];
    report.comment.push(pyStr(item['comment'] ?? ''));
    const joined = (key: string): string =>
      [pyStr(textKeyed(known)[key] ?? ''), pyStr(made[key] ?? '')].filter(Boolean).join('\n');
    report.changes[name] =
      known === undefined
        ? newDict([['new', pyStr(made['new'] ?? '')]])
        : newDict([
            ['new', joined('new')],
            ['old', joined('old')],
          ]);
  }
}

/** The outcome for reinstalled packages. */
async function reportReinstalled(
  request: WantedPackage,
  targets: Targets,
  answer: PlainDict,
  report: Report,
): Promise<void> {
  for (const name of targets.reinstall.keys()) {
    let failed = !(name in answer);
    if (!request.args.reinstall) {
      const altered = await verify(request, name);
      failed = Object.keys(textKeyed(altered)).length > 0;
      if (failed) targets.altered[name] = altered;
    }
    const shown = request.sources ? name : spelled(name, targets.desired);
    const files = targets.altered[name];
    const text = failed ? `Reinstall was not successful for package ${shown}.` : `Package ${shown} was reinstalled.`;
    const more = failed ? ' The following files could not be remediated:' : ' The following files were remediated:';
    report.comment.push(
      files === undefined ? text : `${text}${more}`,
      ...(files === undefined ? [] : [readable(files)]),
    );
    if (failed) report.result = false;
  }
}

async function reportInstalled(
  request: WantedPackage,
  targets: Targets,
  hold: HoldOutcome | undefined,
  report: Report,
): Promise<void> {
  const { desired, install, reinstall } = targets;
  const { sources } = request;
  const { fine, failed } = sources
    ? {
        fine: [...desired.keys()].filter((name) => !install.has(name) || name in report.changes),
        failed: [...install.keys()].filter((name) => !(name in report.changes)),
      }
    : await check(request, desired);
  const shown = (names: string[]): string => names.map((name) => (sources ? name : spelled(name, desired))).join(', ');
  const modified = fine.filter((name) => install.has(name));
  const same = fine.filter((name) => !install.has(name) && !reinstall.has(name));
  const bad = failed.filter((name) => install.has(name));
  if (modified.length > 0) {
    const summary = shown(modified);
    report.comment.push(
      summary.length < 20
        ? `The following packages were installed/updated: ${summary}`
        : count(modified.length, 'installed/updated', '.'),
    );
  }
  if (hold) reportHolds(hold, report);
  if (same.length > 0) {
    report.comment.push(
      same.length <= 20
        ? `The following packages were already installed: ${shown(same)}`
        : count(same.length, 'already installed', ''),
    );
  }
  for (const item of hold?.same ?? []) report.comment.push(pyStr(item['comment'] ?? ''));
  if (bad.length > 0) {
    report.comment.unshift(`The following packages failed to install/update: ${shown(bad)}`);
    report.result = false;
  }
  for (const item of hold?.failed ?? []) report.comment.push(pyStr(item['comment'] ?? ''));
  if (hold && hold.failed.length > 0) report.result = false;
}

/** The packages to install. */
function orderOf(request: WantedPackage, targets: Targets): { pkgs: Value; sources: Value } {
  if (request.pkgs)
    return { pkgs: [...installList(targets.install), ...installList(targets.reinstall)], sources: null };
  const named = (item: Value): string => (isDict(item) ? pyStr(dictEntries(item)[0]?.[0] ?? '') : '');
  const list = Array.isArray(request.sources) ? request.sources : [request.sources];
  const of = (wanted: Wanted): Value[] => list.filter((item) => wanted.has(named(item)));
  return { pkgs: null, sources: [...of(targets.install), ...of(targets.reinstall)] };
}

async function install(request: WantedPackage, targets: Targets, ctx: StateContext): Promise<StateResult> {
  const { args, kwargs } = request;
  const report: Report = { comment: [], changes: newDict(), result: true };
  const warnings = warned(targets.warnings);
  let answer = newDict();
  if (targets.install.size > 0 || targets.reinstall.size > 0) {
    const { fromrepo, skip_verify, normalize, update_holds, ignore_epoch } = args;
    const refresh = request.refresh && !targets.refreshed;
    const order = {
      ...orderOf(request, targets),
      refresh,
      version: null,
      reinstall: targets.reinstall.size > 0,
      split_arch: false,
    };
    try {
      const made = await ctx.callWith('pkg.install', [], {
        ...kwargs,
        ...order,
        fromrepo,
        skip_verify,
        normalize,
        update_holds,
        ignore_epoch,
      });
      if (typeof made === 'string') report.comment.push(made);
      else answer = textKeyed(made);
    } catch (error) {
      if (!isExpected(error)) throw error;
      const { message, changes, short } = failureOf(error);
      const comment = changes ? short : `An error was encountered while installing package(s): ${message}`;
      return ctx.fail(comment, { changes: changes ?? newDict(), ...warnings });
    }
    if (request.refresh) markFresh(ctx);
    Object.assign(report.changes, answer);
  }
  let hold: HoldOutcome | undefined;
  if (args.kwargs['hold'] !== undefined && (await hasFunction(ctx, 'pkg.hold'))) {
    try {
      hold = await applyHold(
        args.kwargs['hold'],
        newDict([
          ['name', args.name],
          ['pkgs', [...targets.desired.keys()]],
        ]),
        ctx,
      );
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail([...report.comment, failureOf(error).message].join('\n'), {
        changes: report.changes,
        ...warnings,
      });
    }
    if (hold.problem) return ctx.fail(hold.problem, warnings);
  }
  if (targets.unpurge.length > 0)
    report.changes['purge_desired'] = await ctx.call('lowpkg.unpurge', ...targets.unpurge);
  await reportInstalled(request, targets, hold, report);
  await reportReinstalled(request, targets, answer, report);
  return ctx.result({
    result: report.result,
    comment: report.comment.join('\n'),
    changes: report.changes,
    ...warnings,
  });
}

async function runInstalled(args: InstallArgs, ctx: StateContext): Promise<StateResult> {
  if (Array.isArray(args.pkgs) && args.pkgs.length === 0) return ctx.ok('No packages to install provided');
  const alone = !args.pkgs && !args.sources;
  let pkgs: Value = alone ? [args.version ? newDict([[args.name, args.version]]) : args.name] : args.pkgs;
  let refresh = wantsRefresh(args.refresh, ctx);
  const kwargs = newDict([
    ...Object.entries(args.kwargs),
    ['saltenv', ctx.saltenv],
    ['allow_updates', args.allow_updates],
  ]);
  if (pkgs && (await hasFunction(ctx, 'pkg.resolve_capabilities'))) {
    pkgs = await ctx.callWith('pkg.resolve_capabilities', [pkgs], { ...kwargs, refresh });
    refresh = false;
  }
  const verifies = Array.isArray(args.pkg_verify) || args.pkg_verify === true;
  if (verifies && !(await hasFunction(ctx, 'pkg.verify'))) return ctx.fail('pkg.verify not implemented');
  const request: WantedPackage = {
    args: { ...args, pkg_verify: verifies ? args.pkg_verify : false },
    pkgs,
    sources: args.sources,
    refresh,
    kwargs,
    ctx,
  };
  const targets = await findTargets(request);
  if ('result' in targets) return settle(request, targets, ctx);
  if (targets.unpurge.length > 0 && !(await hasFunction(ctx, 'lowpkg.unpurge')))
    return ctx.fail('lowpkg.unpurge not implemented', warned(targets.warnings));
  return withForecast(
    ctx,
    () => announce(request, targets, ctx),
    () => install(request, targets, ctx),
  );
}

export const installed = state({
  doc: 'Packages that must be installed, at a certain version on request.',
  examples: ["web:\n  pkg.installed:\n    - pkgs:\n      - nginx: '>=1.18'\n      - curl"],
  params,
  run: runInstalled,
});
