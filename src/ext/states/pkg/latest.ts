// `pkg.latest` and `pkg.uptodate`: packages at their newest version.
import {
  type ArgsOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';
import { markFresh, wantsRefresh } from './refresh.ts';
import { wantedOf } from './versions.ts';

const params = {
  name: p.string({ doc: 'the package' }),
  refresh: p.scalar({ default: null, doc: 'refresh the package lists first; default: once per run' }),
  fromrepo: p.scalar({ default: null, doc: 'repository or release to install from' }),
  skip_verify: p.bool({ default: false, doc: 'allow unsigned packages' }),
  pkgs: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'several packages' }),
  watch_flags: p.ignored({ default: true, doc: 'Gentoo only' }),
  kwargs: p.kwargs({ doc: 'options of the package manager' }),
};
export type LatestArgs = ArgsOf<typeof params>;

const byName = (answer: Value, names: readonly string[]): PlainDict =>
  typeof answer === 'string' ? newDict([[names[0] ?? '', answer]]) : textKeyed(answer);
const sorted = (names: Iterable<string>): string => [...names].sort().join(', ');

interface Work {
  readonly args: LatestArgs;
  readonly kwargs: PlainDict;
  readonly targets: ReadonlyMap<string, string>;
  /** The packages that are already up to date. */
  readonly fine: string[];
  readonly current: PlainDict;
}

function announcement({ targets, fine, current }: Work): string {
  const comments = [`The following packages would be installed/upgraded: ${sorted(targets.keys())}`];
  if (fine.length > 10) comments.push(`${fine.length} packages are already up-to-date`);
  else if (fine.length > 0) {
    comments.push(
      `The following packages are already up-to-date: ${fine
        .toSorted()
        .map((name) => `${name} (${pyStr(current[name] ?? '')})`)
        .join(', ')}`,
    );
  }
  return comments.join('\n');
}

/** Whether the change of a package ended at the expected version. */
function arrived(change: Value | undefined, version: string): boolean {
  const made = textKeyed(change);
  if (Object.keys(made).length === 0) return false;
  const now = made['new'];
  return now === undefined || now === null || version === 'latest' || pyStr(now).split(',').includes(version);
}

function failedEntirely({ targets, fine }: Work): string {
  const names = [...targets.keys()];
  let comment = `Package ${names[0]} failed to update.`;
  if (names.length > 10) comment = `${names.length} targeted packages failed to update. See debug log for details.`;
  else if (names.length > 1)
    comment = `The following targeted packages failed to update. See debug log for details: (${sorted(names)}).`;
  if (fine.length > 10) return `${comment}${fine.length} packages were already up-to-date`;
  return fine.length > 0 ? `${comment} The following packages were already up-to-date: ${sorted(fine)}` : comment;
}

async function upgradeTargets(work: Work, ctx: StateContext): Promise<StateResult> {
  const { args, kwargs, targets, fine } = work;
  let changes: PlainDict;
  try {
    const order = { refresh: false, fromrepo: args.fromrepo, skip_verify: args.skip_verify, pkgs: [...targets.keys()] };
    changes = textKeyed(await ctx.callWith('pkg.install', [], { ...kwargs, ...order }));
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(`An error was encountered while installing package(s): ${failureOf(error).message}`);
  }
  if (Object.keys(changes).length === 0) return ctx.fail(failedEntirely(work));
  const failed = [...targets].filter(([name, version]) => !arrived(changes[name], version)).map(([name]) => name);
  const good = [...targets.keys()].filter((name) => !failed.includes(name));
  const comments: string[] = [];
  if (failed.length > 0) comments.push(`The following packages failed to update: ${sorted(failed)}`);
  if (good.length > 0) comments.push(`The following packages were successfully installed/upgraded: ${sorted(good)}`);
  if (fine.length > 10) comments.push(`${fine.length} packages were already up-to-date `);
  else if (fine.length > 0) comments.push(`The following packages were already up-to-date: ${sorted(fine)}`);
  return ctx.result({ changes, result: failed.length === 0, comment: comments.join(' ') });
}

async function runLatest(args: LatestArgs, ctx: StateContext): Promise<StateResult> {
  if (args.kwargs['sources']) return ctx.fail('The "sources" parameter is not supported.');
  if (Array.isArray(args.pkgs) && args.pkgs.length === 0) return ctx.ok('No packages to install provided');
  const names = args.pkgs ? [...(await wantedOf(args.pkgs, true, ctx)).keys()] : [args.name];
  const refresh = wantsRefresh(args.refresh, ctx);
  const kwargs = newDict([...Object.entries(args.kwargs), ['saltenv', ctx.saltenv]]);
  let newest: PlainDict;
  try {
    newest = byName(
      await ctx.callWith('pkg.latest_version', names, { ...kwargs, fromrepo: args.fromrepo, refresh }),
      names,
    );
    if (refresh) markFresh(ctx);
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(
      `An error was encountered while checking the newest available version of package(s): ${failureOf(error).message}`,
    );
  }
  const current = byName(await ctx.callWith('pkg.version', names, kwargs), names);
  const unknown = names
    .filter((name) => !newest[name] && !current[name])
    .map((name) => `No information found for '${name}'.`);
  if (unknown.length > 0) return ctx.fail(unknown.join(' '));
  const targets = new Map(names.filter((name) => newest[name]).map((name) => [name, pyStr(newest[name] ?? '')]));
  if (targets.size === 0) {
    if (names.length > 10) return ctx.ok(`All ${names.length} packages are up-to-date.`);
    return ctx.ok(
      names.length > 1
        ? `All packages are up-to-date (${sorted(names)}).`
        : `Package ${names[0]} is already up-to-date`,
    );
  }
  const fine = args.pkgs ? names.filter((name) => !targets.has(name)) : [];
  const work: Work = { args, kwargs, targets, fine, current };
  return ctx.change(newDict(), '', { test: announcement(work), apply: () => upgradeTargets(work, ctx) });
}

export const latest = state({
  doc: 'Packages at the newest version the repositories have.',
  examples: ['openssl:\n  pkg.latest'],
  params,
  run: runLatest,
});

export const uptodate = state({
  doc: 'All packages, or some of them, at their newest version.',
  examples: ['everything:\n  pkg.uptodate:\n    - refresh: true'],
  params: {
    name: p.string({ doc: 'any name' }),
    refresh: p.scalar({ default: false, nullable: true, doc: 'refresh the package lists first' }),
    pkgs: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'only these packages' }),
    kwargs: p.kwargs({ doc: 'options of the package manager: dist_upgrade, …' }),
  },
  async run({ refresh, pkgs, kwargs }, ctx) {
    if (!(await hasFunction(ctx, 'pkg.list_upgrades'))) return ctx.fail('State pkg.uptodate is not available');
    if (typeof refresh !== 'boolean') return ctx.fail('refresh must be either True or False');
    const only = Array.isArray(pkgs) ? pkgs.map(pyStr) : undefined;
    const expected = newDict();
    try {
      const upgrades = textKeyed(await ctx.callWith('pkg.list_upgrades', [], { ...kwargs, refresh }));
      for (const [name, version] of Object.entries(upgrades)) {
        if (only && !only.includes(name)) continue;
        expected[name] = newDict([
          ['new', version],
          ['old', await ctx.callWith('pkg.version', [name], kwargs)],
        ]);
      }
    } catch (error) {
      return ctx.fail(failureOf(error).message);
    }
    if (Object.keys(expected).length === 0) return ctx.ok('System is already up-to-date');
    return ctx.change(expected, 'Upgrade ran successfully', {
      test: 'System update will be performed',
      async apply() {
        try {
          const changes = textKeyed(await ctx.callWith('pkg.upgrade', [], { ...kwargs, refresh, pkgs }));
          const missing = only ? Object.keys(expected).filter((name) => !(name in changes)) : [];
          if (missing.length > 0)
            return ctx.fail(`The following package(s) failed to update: ${missing.join(', ')}`, { changes });
          return ctx.ok('Upgrade ran successfully', { changes });
        } catch (error) {
          if (!isExpected(error)) throw error;
          const { message, changes, short } = failureOf(error);
          return ctx.fail(changes ? short : `An error was encountered while updating packages: ${message}`, {
            changes: changes ?? newDict(),
          });
        }
      },
    });
  },
});
