// `pkg.removed` and `pkg.purged`: packages that must not be installed.
import {
  type ArgsOf,
  dictGet,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
} from 'halite/sdk';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';
import { fulfills, versionsOf, type Wanted, wantedOf } from './versions.ts';

const params = {
  name: p.string({ doc: 'the package' }),
  version: p.scalar({ default: null, doc: 'only when this version is installed' }),
  pkgs: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'several packages' }),
  normalize: p.bool({ default: true, doc: 'omit the machine’s own architecture in names' }),
  ignore_epoch: p.scalar({ default: null, doc: 'compare versions without their epoch' }),
  kwargs: p.kwargs({ doc: 'options of the package manager' }),
};
export type RemoveArgs = ArgsOf<typeof params>;
type Action = 'remove' | 'purge';

async function requests(args: RemoveArgs, ctx: StateContext): Promise<Wanted> {
  if (args.pkgs) return wantedOf(args.pkgs, args.normalize, ctx);
  const wanted: Wanted = new Map();
  const version = args.version === null ? null : pyStr(args.version);
  for (const name of args.name.split(',')) {
    const known =
      args.normalize && (await hasFunction(ctx, 'pkg.normalize_name'))
        ? pyStr(await ctx.call('pkg.normalize_name', name))
        : name;
    wanted.set(known, version);
  }
  return wanted;
}

/** The requested packages that are installed in a matching version. */
async function installedTargets(
  wanted: Wanted,
  args: RemoveArgs,
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<{ targets: string[]; versioned: boolean }> {
  const current = textKeyed(await ctx.callWith('pkg.list_pkgs', [], { ...kwargs, versions_as_list: true }));
  const targets: string[] = [];
  let versioned = false;
  for (const [name, version] of wanted) {
    const installed = versionsOf(current, name);
    if (installed.length === 0) continue;
    if (version === null) targets.push(name);
    else {
      versioned = true;
      if (await fulfills(installed, version, { ignoreEpoch: args.ignore_epoch }, ctx)) targets.push(name);
    }
  }
  return { targets, versioned };
}

const listed = (kwargs: PlainDict, removed: boolean, ctx: StateContext): Promise<PlainDict> =>
  ctx
    .callWith('pkg.list_pkgs', [], { ...kwargs, versions_as_list: true, ...(removed ? { removed: true } : {}) })
    .then(textKeyed);

/** Packages that are still installed after the removal. */
async function leftovers(action: Action, wanted: Wanted, kwargs: PlainDict, ctx: StateContext): Promise<string[]> {
  const now = await listed(kwargs, false, ctx);
  const byVersion = ['Suse', 'RedHat'].includes(pyStr(dictGet(ctx.grains, 'os_family') ?? ''));
  const failed: string[] = [];
  for (const [name, version] of wanted) {
    if (!(name in now)) continue;
    if (!byVersion || !version) failed.push(name);
    else if (versionsOf(now, name).includes(version)) failed.push(`${name}-${version}`);
  }
  if (action === 'purge') {
    const partly = await listed(kwargs, true, ctx);
    failed.push(...[...wanted.keys()].filter((name) => name in partly));
  }
  return failed.sort();
}

async function uninstall(action: Action, args: RemoveArgs, ctx: StateContext): Promise<StateResult> {
  const kwargs = newDict([...Object.entries(args.kwargs), ['saltenv', ctx.saltenv]]);
  const wanted = await requests(args, ctx);
  const found = await installedTargets(wanted, args, kwargs, ctx);
  const targets = [...found.targets];
  if (targets.length === 0 && action === 'remove') {
    return ctx.ok(
      `All specified packages${found.versioned ? ' (matching specified versions)' : ''} are already absent`,
    );
  }
  if (action === 'purge') {
    const partly = await listed(kwargs, true, ctx);
    targets.push(...[...wanted.keys()].filter((name) => name in partly));
  }
  targets.sort();
  if (targets.length === 0) return ctx.ok('None of the targeted packages are installed or partially installed');
  const planned = newDict(
    targets.map((name) => [
      name,
      newDict([
        ['new', `${action}d`],
        ['old', ''],
      ]),
    ]),
  );
  return ctx.change(planned, '', {
    test: `The following packages will be ${action}d: ${targets.join(', ')}.`,
    async apply() {
      const { name, pkgs, version } = args;
      const changes = textKeyed(
        await ctx.callWith(`pkg.${action}`, [name], { ...kwargs, pkgs, version, split_arch: false }),
      );
      const failed = await leftovers(action, wanted, kwargs, ctx);
      if (failed.length > 0)
        return ctx.fail(`The following packages failed to ${action}: ${failed.join(', ')}.`, { changes });
      const absent = [...wanted.keys()].filter((item) => !targets.includes(item)).sort();
      if (absent.length === 0) return ctx.ok(`All targeted packages were ${action}d.`, { changes });
      const gone = `The following packages were ${action}d: ${targets.join(', ')}.`;
      return ctx.ok(`The following packages were not installed: ${absent.join(', ')} ${gone}`, { changes });
    },
    failed: (error) => failedTo(action, error, ctx),
  });
}

async function runUninstall(action: Action, args: RemoveArgs, ctx: StateContext): Promise<StateResult> {
  try {
    return await uninstall(action, args, ctx);
  } catch (error) {
    if (!isExpected(error)) throw error;
    return failedTo(action, error, ctx);
  }
}

function failedTo(action: Action, error: unknown, ctx: StateContext): StateResult {
  const { message, changes, short } = failureOf(error);
  const doing = action === 'remove' ? 'removing' : 'purging';
  return ctx.fail(changes ? short : `An error was encountered while ${doing} package(s): ${message}`, {
    changes: changes ?? newDict(),
  });
}

export const removed = state({
  doc: 'Packages that must not be installed; their configuration is kept.',
  examples: ['vim:\n  pkg.removed'],
  params,
  run: (args, ctx) => runUninstall('remove', args, ctx),
});

export const purged = state({
  doc: 'Packages that must not be installed, nor their configuration.',
  examples: ['vim:\n  pkg.purged'],
  params,
  run: (args, ctx) => runUninstall('purge', args, ctx),
});
