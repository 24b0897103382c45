// Parameters and environment shared by the functions of `cp`.
import { asText, type ModuleContext, p } from 'halite/sdk';

export const saltenvParam = p.string({
  default: null,
  doc: 'environment of the file server; the minion’s own, or base, when not given',
});

/** The saltenv of a call. */
export function environmentOf(saltenv: string | null, ctx: ModuleContext): string {
  if (saltenv) return saltenv;
  const own = ctx.opts['saltenv'];
  return asText(own) || 'base';
}

/** Paths given as a list, or in one text with commas between them. */
export function pathList(paths: unknown): string[] {
  return Array.isArray(paths) ? paths.map(String) : String(paths).split(',');
}
