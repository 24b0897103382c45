// `slsutil.renderer`: renders a text or a file.
import { invocationError, type ModuleContext, type PlainDict, pyStr, type RenderRequest, type Value } from 'halite/sdk';

export interface RenderArgs {
  readonly path: string | null;
  readonly string: string | null;
  readonly default_renderer: string;
  readonly kwargs: PlainDict;
}

/** A file keeps its whole `#!` line; of a text only the first word counts, as in Salt. */
export async function renderSource(args: RenderArgs, ctx: ModuleContext): Promise<Value> {
  const { path, string } = args;
  if (!path && !string) throw invocationError('Must pass either path or string');
  if (path && string) throw invocationError('Must not pass both path and string');
  const { saltenv: given = 'base', ...context } = args.kwargs;
  const saltenv = pyStr(given);
  const request: RenderRequest = { renderer: args.default_renderer, saltenv, context };
  if (string) return ctx.render(string, request);
  return ctx.renderFile(await localPath(path as string, saltenv, ctx), request);
}

/** A missing file gives an empty map and a line in the log. */
async function localPath(path: string, saltenv: string, ctx: ModuleContext): Promise<string> {
  return path.startsWith('/') ? path : (await ctx.files.cacheFile(path, { saltenv })) || path;
}
