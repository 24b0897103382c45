// Names and files that are templates.
import { HaliteError, type ModuleContext, type PlainDict, type RenderRequest, type Value } from 'halite/sdk';
import { commandError } from '../support/errors.ts';
import { cleanKwargs } from '../support/values.ts';

type Render = (source: string, request?: RenderRequest) => Promise<Value>;

const engines = new Set(['jinja', 'mako', 'cheetah', 'genshi', 'wempy', 'py']);

/** Whether Salt knows a template engine of this name; only `jinja` can be used here. */
export function isEngine(name: string): boolean {
  return engines.has(name);
}

/** Renders a text as a template; its names are the usual ones and those given. */
export async function renderText(
  source: string,
  engine: string,
  saltenv: string,
  kwargs: PlainDict,
  ctx: ModuleContext,
  path?: string,
): Promise<string> {
  const render = (ctx as ModuleContext & { readonly render?: Render }).render;
  if (!render) throw new HaliteError('render.failed', 'Templates cannot be rendered here');
  if (engine !== 'jinja') {
    throw new HaliteError('render.failed', `The template engine ${engine} is not available`, { hint: 'Use jinja.' });
  }
  const { context, defaults, ...others } = cleanKwargs(kwargs);
  const names = { ...asDict(defaults), ...others, ...asDict(context) };
  const rendered = await render(source, { pipe: engine, saltenv, context: names, ...(path ? { path } : {}) });
  return typeof rendered === 'string' ? rendered : String(rendered);
}

const asDict = (value: Value | undefined): PlainDict =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as PlainDict) : {};

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
