// Package lists are refreshed once per run: a file in the cache marks that it is still to be done.

import { join } from 'node:path';
import { isTrue, pyStr, type StateContext, type Value } from 'halite/sdk';
import { existsSync, rmSync, writeFileSync } from 'halite/sdk/fs';

const tagPath = (ctx: StateContext): string =>
  join(pyStr(ctx.opts['cachedir'] ?? '/var/cache/salt/minion'), 'pkg_refresh');

export function wantsRefresh(refresh: Value, ctx: StateContext): boolean {
  return isTrue(refresh) || (refresh !== false && existsSync(tagPath(ctx)));
}

export function markStale(ctx: StateContext): void {
  try {
    writeFileSync(tagPath(ctx), '');
  } catch (error) {
    ctx.log.warn('the package lists cannot be marked as stale', { error: String(error) });
  }
}

/** The lists are fresh now. */
export function markFresh(ctx: StateContext): void {
  rmSync(tagPath(ctx), { force: true });
}
