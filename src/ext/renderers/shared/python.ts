// Texts that Python renders.
import { RenderError, type RendererContext, type Value } from 'halite/sdk';

/** Runs a text in the Python of this process; says where and why when there is none. */
export async function runPython(renderer: string, source: string, ctx: RendererContext): Promise<Value> {
  const place = { file: ctx.path, line: 1 };
  if (!ctx.python) throw new RenderError(`"#!${renderer}" needs Python, which is not run in this process`, place);
  if (ctx.opts['python_extensions'] === false)
    throw new RenderError(`"#!${renderer}" needs Python, and python_extensions is False`, place);
  try {
    return await ctx.python(renderer, source);
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code;
    if (code !== 'extension.unavailable') throw error;
    throw new RenderError(`"#!${renderer}" needs Python: ${(error as Error).message}`, place, { cause: error });
  }
}
