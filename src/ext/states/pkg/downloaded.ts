// `pkg.downloaded`, `pkg.patch_installed`, `pkg.patch_downloaded` and `pkg.group_installed`: for some package managers only.
import {
  listTexts,
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
import { fulfills, spelled, versionsOf, type Wanted, wantedOf } from './versions.ts';

/** Calls the package manager; a failure becomes a result with the changes made until then. */
async function attempt(order: PlainDict, failed: string, ctx: StateContext): Promise<PlainDict | StateResult> {
  try {
    return textKeyed(await ctx.callWith('pkg.install', [], order));
  } catch (error) {
    if (!isExpected(error)) throw error;
    const { message, changes, short } = failureOf(error);
    return ctx.fail(changes ? short : `${failed}: ${message}`, { changes: changes ?? newDict() });
  }
}
const isFailure = (answer: PlainDict | StateResult): answer is StateResult =>
  answer['result'] === false && typeof answer['comment'] === 'string';

async function toFetch(
  wanted: Wanted,
  ignoreEpoch: Value,
  kwargs: PlainDict,
  ctx: StateContext,
): Promise<{ targets: Wanted; versioned: boolean }> {
  const now = textKeyed(await ctx.callWith('pkg.list_downloaded', [], kwargs));
  const targets: Wanted = new Map();
  let versioned = false;
  for (const [name, version] of wanted) {
    const versions = versionsOf(now, name);
    if (versions.length === 0) targets.set(name, version);
    else if (version) {
      versioned = true;
      if (!(await fulfills(versions, version, { ignoreEpoch }, ctx))) targets.set(name, version);
    }
  }
  return { targets, versioned };
}

export const downloaded = state({
  doc: 'Packages fetched but not installed.',
  examples: ['zsh:\n  pkg.downloaded:\n    - version: 5.8*'],
  params: {
    name: p.string({ doc: 'the package' }),
    version: p.scalar({ default: null, doc: 'version, or conditions' }),
    pkgs: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'several packages' }),
    fromrepo: p.scalar({ default: null, doc: 'repository to fetch from' }),
    ignore_epoch: p.scalar({ default: null, doc: 'compare versions without their epoch' }),
    kwargs: p.kwargs({ doc: 'options of the package manager' }),
  },
  async run({ name, version, pkgs, fromrepo, ignore_epoch, kwargs }, ctx) {
    if (!(await hasFunction(ctx, 'pkg.list_downloaded')))
      return ctx.fail('The pkg.downloaded state is not available on this platform');
    if (Array.isArray(pkgs) && pkgs.length === 0) return ctx.ok('No packages to download provided');
    const list = pkgs || [version ? newDict([[name, version]]) : name];
    const wanted = await wantedOf(list, true, ctx);
    const { targets, versioned } = await toFetch(wanted, ignore_epoch, kwargs, ctx);
    if (targets.size === 0)
      return ctx.ok(
        `All specified packages${versioned ? ' (matching specified versions)' : ''} are already downloaded`,
      );
    return ctx.change(newDict(), '', {
      test: `The following packages would be downloaded: ${[...targets.keys()].join(', ')}`,
      async apply() {
        const order = newDict([
          ...Object.entries(kwargs),
          ['name', name],
          ['pkgs', list],
          ['downloadonly', true],
          ['fromrepo', fromrepo],
          ['ignore_epoch', ignore_epoch],
        ]);
        const changes = await attempt(order, 'An error was encountered while downloading package(s)', ctx);
        if (isFailure(changes)) return changes;
        const left = (await toFetch(targets, ignore_epoch, kwargs, ctx)).targets;
        if (left.size > 0)
          return ctx.fail(
            `The following packages failed to download: ${[...left.keys()].map((item) => spelled(item, targets)).join(', ')}`,
            { changes },
          );
        const comment = Object.keys(changes).length > 0 ? '' : `Packages downloaded: ${[...targets.keys()].join(', ')}`;
        return ctx.ok(comment, { changes });
      },
    });
  },
});

interface PatchArgs {
  readonly name: string;
  readonly advisory_ids: Value;
  readonly kwargs: PlainDict;
}

async function patches(args: PatchArgs, downloadOnly: Value, ctx: StateContext): Promise<StateResult> {
  const { name, advisory_ids: ids, kwargs } = args;
  if (Array.isArray(ids) && ids.length === 0) return ctx.ok('No advisory ids provided');
  const now = textKeyed(await ctx.callWith('pkg.list_installed_patches', [], kwargs));
  const targets = (Array.isArray(ids) ? ids.map(pyStr) : [name]).filter(
    (id) => Object.keys(textKeyed(now[id])).length === 0,
  );
  if (targets.length === 0)
    return ctx.ok(
      ids ? 'All specified advisory patches are already installed' : `Advisory patch ${name} is already installed`,
    );
  return ctx.change(newDict(), '', {
    test: `The following advisory patches would be downloaded: ${targets.join(', ')}`,
    async apply() {
      const order = newDict([
        ...Object.entries(kwargs),
        ['name', name],
        ['advisory_ids', ids],
        ['downloadonly', downloadOnly],
      ]);
      const changes = await attempt(order, 'An error was encountered while downloading package(s)', ctx);
      if (isFailure(changes)) return changes;
      const status = downloadOnly ? 'downloaded' : 'installed';
      const comment =
        Object.keys(changes).length > 0 ? '' : `Advisory patch is not needed or related packages are already ${status}`;
      return ctx.ok(comment, { changes });
    },
  });
}

const patchParams = {
  name: p.string({ doc: 'the advisory' }),
  advisory_ids: p.oneOf(['list', 'string'], { default: null, doc: 'several advisories' }),
  downloadonly: p.scalar({ default: null, doc: 'fetch without installing' }),
  kwargs: p.kwargs({ doc: 'options of the package manager' }),
};

export const patch_installed = state({
  doc: 'Patches of advisories (SUSE, Red Hat).',
  params: patchParams,
  async run(args, ctx) {
    if (!(await hasFunction(ctx, 'pkg.list_patches')))
      return ctx.fail('The pkg.patch_installed state is not available on this platform');
    return patches(args, args.downloadonly, ctx);
  },
});

export const patch_downloaded = state({
  doc: 'Patches of advisories, fetched but not installed (SUSE, Red Hat).',
  params: patchParams,
  async run(args, ctx) {
    if (!(await hasFunction(ctx, 'pkg.list_patches')))
      return ctx.fail('The pkg.patch_downloaded state is not available on this platform');
    return patches(args, true, ctx);
  },
});

export const group_installed = state({
  doc: 'A group of packages (Red Hat, Arch).',
  params: {
    name: p.string({ doc: 'the group' }),
    skip: p.oneOf(['list', 'string'], { default: null, doc: 'packages of the group to leave out' }),
    include: p.oneOf(['list', 'string'], { default: null, doc: 'packages to add' }),
    kwargs: p.kwargs({ doc: 'options of the package manager' }),
  },
  async run({ name, skip, include, kwargs }, ctx) {
    if (!(await hasFunction(ctx, 'pkg.group_diff')))
      return ctx.fail('pkg.group_install not available for this platform');
    if (skip !== null && !Array.isArray(skip)) return ctx.fail('skip must be formatted as a list');
    if (include !== null && !Array.isArray(include)) return ctx.fail('include must be formatted as a list');
    let diff: PlainDict;
    try {
      diff = textKeyed(await ctx.callWith('pkg.group_diff', [name], kwargs));
    } catch (error) {
      return ctx.fail(
        `An error was encountered while installing/updating group '${name}': ${failureOf(error).message}.`,
      );
    }
    const part = (kind: string, status: string): string[] => listTexts(textKeyed(diff[kind])[status]);
    const needed = part('mandatory', 'not installed');
    const refused = [...part('mandatory', 'installed'), ...needed].filter((item) => listTexts(skip).includes(item));
    if (refused.length > 0)
      return ctx.fail(`The following mandatory packages cannot be skipped: ${refused.join(', ')}`);
    const targets = [
      ...needed,
      ...part('default', 'not installed').filter((item) => !listTexts(skip).includes(item)),
      ...listTexts(include),
    ];
    if (targets.length === 0) return ctx.ok(`Group '${name}' is already installed`);
    const partly = ['mandatory', 'default', 'optional'].some((kind) => part(kind, 'installed').length > 0);
    return ctx.change(newDict(), '', {
      test: partly ? `Group '${name}' is partially installed and will be updated` : `Group '${name}' will be installed`,
      async apply() {
        const order = newDict([...Object.entries(kwargs), ['pkgs', targets]]);
        const changes = await attempt(order, `An error was encountered while installing/updating group '${name}'`, ctx);
        if (isFailure(changes)) return changes;
        const now = textKeyed(await ctx.callWith('pkg.list_pkgs', [], kwargs));
        const failed = [...needed, ...listTexts(include)].filter((item) => !(item in now));
        if (failed.length > 0)
          return ctx.fail(`Failed to install the following packages: ${failed.join(', ')}`, { changes });
        return ctx.ok(`Group '${name}' was ${partly ? 'updated' : 'installed'}`, { changes });
      },
    });
  },
});
