// `slsutil.renderer`: what a text or a file renders to.
import { HaliteError, type ModuleContext, type PlainDict, type RenderRequest, type Value } from 'halite/sdk';
import { pyStr } from '../../../base/codec/python/index.ts';
import { commandError, invocationError } from '../support/errors.ts';

type Render = (source: string, request?: RenderRequest) => Promise<Value>;

export interface RenderArgs {
  readonly path: string | null;
  readonly string: string | null;
  readonly default_renderer: string;
  readonly kwargs: PlainDict;
}

async function sourceOf(args: RenderArgs, saltenv: string, ctx: ModuleContext): Promise<string> {
  if (!args.path && !args.string) throw invocationError('Must pass either path or string');
  if (args.path && args.string) throw invocationError('Must not pass both path and string');
  if (args.string) return args.string;
  const content = await ctx.files.read(args.path as string, { saltenv });
  if (content === undefined) throw commandError(`File not found: ${args.path}`);
  return content.toString('utf8');
}

/** Renders with the engine of this process; only the small processes that have none refuse. */
export async function renderSource(args: RenderArgs, ctx: ModuleContext): Promise<Value> {
  const { saltenv = 'base', ...context } = args.kwargs;
  const environment = pyStr(saltenv);
  const source = await sourceOf(args, environment, ctx);
  const { render } = ctx as ModuleContext & { readonly render?: Render };
  if (!render) throw new HaliteError('render.failed', 'Templates cannot be rendered here');
  const path = args.path?.startsWith('/') ? { path: args.path } : {};
  return render.call(ctx, source, { renderer: args.default_renderer, saltenv: environment, context, ...path });
}
