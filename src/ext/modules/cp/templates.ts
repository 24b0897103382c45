// Names and files that are templates.
import {
  cleanKwargs,
  commandError,
  HaliteError,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  textEntries,
} from 'halite/sdk';

const engines = new Set(['jinja', 'mako', 'cheetah', 'genshi', 'wempy', 'py']);

/** Whether Salt has a template engine of this name; only `jinja` works here. */
export function isEngine(name: string): boolean {
  return engines.has(name);
}

/** Renders a text as a template with the usual variables and the given ones. */
export async function renderText(
  source: string,
  engine: string,
  saltenv: string,
  kwargs: PlainDict,
  ctx: ModuleContext,
  path?: string,
): Promise<string> {
  if (engine !== 'jinja') {
    throw new HaliteError('render.failed', `The template engine ${engine} is not available`, { hint: 'Use jinja.' });
  }
  const { context, ...others } = cleanKwargs(kwargs);
  const names = newDict([...Object.entries(others), ...(isDict(context) ? textEntries(context) : [])]);
  const rendered = await ctx.render(source, {
    pipe: engine,
    saltenv,
    sls: null,
    context: names,
    ...(path ? { path } : {}),
  });
  return typeof rendered === 'string' ? rendered : pyStr(rendered);
}

/** Renders the source and destination of a copy when `template` is given. */
export async function renderNames(
  path: string,
  dest: string,
  saltenv: string,
  template: string | null,
  kwargs: PlainDict,
  ctx: ModuleContext,
): Promise<[path: string, dest: string]> {
  if (!template) return [path, dest];
  if (!isEngine(template)) throw commandError(`Attempted to render file paths with unavailable engine ${template}`);
  try {
    const render = (text: string): Promise<string> => renderText(text, template, saltenv, kwargs, ctx);
    return [await render(path), await render(dest)];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw commandError(`Failed to render file path with error: ${why}`);
  }
}
