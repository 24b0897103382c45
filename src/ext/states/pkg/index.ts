// State module `pkg`: packages installed, removed, held or at their newest version.
import { defineState, needsFunction, p, pyStr, type StateContext, type StateResult, state } from 'halite/sdk';
import { aggregate } from './aggregate.ts';
import { downloaded, group_installed, patch_downloaded, patch_installed } from './downloaded.ts';
import { held, unheld } from './hold.ts';
import { installed } from './installed.ts';
import { latest, uptodate } from './latest.ts';
import { markStale } from './refresh.ts';
import { purged, removed } from './removed.ts';

const watchable = ['installed', 'latest', 'removed', 'purged'];

/** A watching package state runs its own function. */
async function watch(
  name: string,
  fun: string,
  kwargs: Record<string, unknown>,
  ctx: StateContext,
): Promise<StateResult> {
  if (!watchable.includes(fun)) return ctx.fail(`pkg.${fun} does not work with the watch requisite`, { name });
  return ctx.state(`pkg.${fun}`, { ...(kwargs as Record<string, string>), name });
}

export default defineState({
  name: 'pkg',
  doc: 'Packages of the operating system.',
  available: needsFunction('pkg.install', 'pkg module could not be loaded'),
  functions: {
    installed,
    removed,
    purged,
    latest,
    uptodate,
    held,
    unheld,
    downloaded,
    patch_installed,
    patch_downloaded,
    group_installed,
  },
  modWatch: state({
    doc: 'Called when a state watched by a package state has changed.',
    params: { name: p.string(), sfun: p.scalar({ default: null }), kwargs: p.kwargs() },
    run: ({ name, sfun, kwargs }, ctx) => watch(name, ctx.watchedFunction ?? pyStr(sfun), kwargs, ctx),
  }),
  /** The first state that installs something refreshes the package lists. */
  modInit(low, ctx) {
    if (low['fun'] !== 'installed' && low['fun'] !== 'latest') return false;
    markStale(ctx);
    return true;
  },
  modAggregate: (low, chunks, running) => aggregate(low, chunks, running),
});
