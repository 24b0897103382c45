// `pkg.held`, `pkg.unheld` and the argument `hold`: packages kept at their version.
import {
  type ChangeSet,
  changeSet,
  dictEntries,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { hasFunction } from '../shared/calls.ts';

interface Locks {
  readonly locks: PlainDict;
  /** Locks have versions (zypper). */
  readonly versioned: boolean;
}

/** The held packages, from the function that the package manager has for it. */
async function locksNow(ctx: StateContext): Promise<Locks | undefined> {
  const locks = newDict();
  if (await hasFunction(ctx, 'pkg.list_locks'))
    return { locks: textKeyed(await ctx.call('pkg.list_locks')), versioned: true };
  if (await hasFunction(ctx, 'pkg.list_holds')) {
    const held = await ctx.callWith('pkg.list_holds', [], { full: true });
    for (const item of Array.isArray(held) ? held.map(pyStr) : []) {
      const match = /^(.+)-(\d+):(.*)\.\*/.exec(item);
      if (match)
        locks[match[1] as string] = newDict([['version', `${match[2] === '0' ? '' : `${match[2]}:`}${match[3]}`]]);
      else locks[item] = newDict();
    }
    return { locks, versioned: false };
  }
  if (!(await hasFunction(ctx, 'pkg.get_selections'))) return undefined;
  const selections = textKeyed(await ctx.callWith('pkg.get_selections', [], { state: 'hold' }));
  for (const item of (selections['hold'] as Value[] | undefined) ?? []) locks[pyStr(item)] = newDict();
  return { locks, versioned: false };
}

const noLocks =
  'No any function to get the list of held packages available.\nCheck if the package manager supports package locking.';

const versionOf = (lock: Value | undefined): string | null => {
  const version = textKeyed(lock)['version'];
  return version === undefined ? null : pyStr(version).replace(/^[= ]+/, '');
};
const done = (answer: PlainDict, name: string): boolean => Boolean(textKeyed(answer[name])['result']);
const isPackage = (lock: Value | undefined): boolean => (textKeyed(lock)['type'] ?? 'package') === 'package';

function pairsOf(pkgs: Value): [string, string | null][] {
  return (Array.isArray(pkgs) ? pkgs : [pkgs]).map((item) => {
    if (!isDict(item)) return [pyStr(item), null];
    const [name, version] = dictEntries(item)[0] ?? ['', null];
    return [pyStr(name), version === null ? null : pyStr(version)];
  });
}

/** The package is released, or would be. */
async function unhold(name: string, target: string, would: string, set: ChangeSet, ctx: StateContext): Promise<void> {
  await set.part({
    would,
    async change() {
      const answer = textKeyed(await ctx.callWith('pkg.unhold', [], { name, pkgs: [target] }));
      const comment = textKeyed(answer[target])['comment'];
      if (!done(answer, target)) set.ok = false;
      if (comment) set.comments.push(pyStr(comment));
      Object.assign(set.changes, answer);
    },
  });
}

async function hold(
  name: string,
  target: string,
  version: string | null,
  locked: boolean,
  set: ChangeSet,
  ctx: StateContext,
): Promise<void> {
  const shown = `${target}${version ? ` (version = ${version})` : ''}`;
  await set.part({
    would: locked
      ? `The following package's hold rule would be updated: ${shown}`
      : `The following package would be held: ${shown}`,
    async change() {
      const loosened = locked ? textKeyed(await ctx.callWith('pkg.unhold', [], { name, pkgs: [target] })) : undefined;
      const answer = textKeyed(
        await ctx.callWith('pkg.hold', [], { name, pkgs: [version === null ? target : newDict([[target, version]])] }),
      );
      if (!done(answer, target)) set.fail(`Package ${target} was not held`);
      else
        set.comments.push(
          loosened && done(loosened, target)
            ? `Package ${target} was updated with hold rule`
            : `Package ${target} is now being held`,
        );
      Object.assign(set.changes, answer);
    },
  });
}

export const held = state({
  doc: 'Holds packages at their version.',
  examples: ['linux-image-amd64:\n  pkg.held'],
  params: {
    name: p.string({ doc: 'the package' }),
    version: p.scalar({ default: null, doc: 'version to hold, if the package manager supports that' }),
    pkgs: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'several packages' }),
    replace: p.bool({ default: false, doc: 'release all others' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run({ name, version, pkgs, replace }, ctx) {
    if (Array.isArray(pkgs) && pkgs.length === 0 && !replace) return ctx.ok('No packages to be held provided');
    const wanted = pairsOf(pkgs ?? [version ? newDict([[name, version]]) : name]);
    const now = await locksNow(ctx);
    if (!now) return ctx.fail(noLocks);
    if (!(await hasFunction(ctx, 'pkg.hold')))
      return ctx.fail('`hold` function is not implemented for the package manager.');
    return changeSet(ctx, {
      async each(set) {
        for (const [target, request] of wanted) {
          const locked = target in now.locks;
          if (!locked || (now.versioned && versionOf(now.locks[target]) !== request))
            await hold(name, target, request, locked, set, ctx);
        }
        for (const [target, lock] of replace ? Object.entries(now.locks) : []) {
          if (!isPackage(lock) || wanted.some(([item]) => item === target)) continue;
          await unhold(name, target, `The following package would be unheld: ${target}`, set, ctx);
        }
      },
      right: 'No changes made',
    });
  },
});

export const unheld = state({
  doc: 'Releases held packages.',
  examples: ['linux-image-amd64:\n  pkg.unheld'],
  params: {
    name: p.string({ doc: 'the package' }),
    version: p.scalar({ default: null, doc: 'only when this version is held' }),
    pkgs: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'several packages' }),
    all: p.bool({ default: false, doc: 'all that are held' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run({ name, version, pkgs, all }, ctx) {
    if (Array.isArray(pkgs) && pkgs.length === 0 && !all) return ctx.ok('No packages to be unheld provided');
    const wanted = new Map(pairsOf(pkgs ?? [newDict([[name, version]])]));
    const now = await locksNow(ctx);
    if (!now) return ctx.fail(noLocks);
    return changeSet(ctx, {
      async each(set) {
        for (const [target, lock] of Object.entries(now.locks)) {
          const locked = now.versioned ? versionOf(lock) : null;
          const meant = all || (wanted.has(target) && (!locked || locked === wanted.get(target)));
          if (!isPackage(lock) || !meant) continue;
          const shown = `${target}${wanted.get(target) ? ` (version = ${locked ?? 'None'})` : ''}`;
          await unhold(name, target, `The following package would be unheld: ${shown}`, set, ctx);
        }
      },
      right: 'No changes made',
    });
  },
});

export interface HoldOutcome {
  readonly problem?: string;
  readonly changed: PlainDict[];
  readonly same: PlainDict[];
  readonly failed: PlainDict[];
}

/** Holds or releases the packages of a state; returns the answers grouped by outcome. */
export async function applyHold(request: Value, kwargs: PlainDict, ctx: StateContext): Promise<HoldOutcome> {
  const answer = textKeyed(await ctx.callWith(request ? 'pkg.hold' : 'pkg.unhold', [], kwargs));
  const none: HoldOutcome = { changed: [], same: [], failed: [] };
  if ('result' in answer && !answer['result'] && !isDict(answer['result'] as Value)) {
    return {
      ...none,
      problem: `An error was encountered while holding/unholding package(s): ${pyStr(answer['comment'] ?? '')}`,
    };
  }
  const all = Object.values(answer).map(textKeyed);
  const changed = all.filter((item) => Object.keys(textKeyed(item['changes'])).length > 0);
  const same = all.filter((item) => !changed.includes(item) && Boolean(item['result']));
  return { changed, same, failed: all.filter((item) => !item['result'] && !changed.includes(item)) };
}
