// Texts with values in them: by the renderers of states where the configuration wrote them, else names in double braces.
import { type PlainDict, pyStr, type ReturnerContext } from 'halite/sdk';

export interface Template {
  /** The option that holds the text, or names its file. */
  readonly option: string;
  readonly source: string;
  /** Value of the option `renderer`, where there is one. */
  readonly renderer?: string;
}

export async function fillTemplate(ctx: ReturnerContext, template: Template, values: PlainDict): Promise<string> {
  const { option, source } = template;
  const ofJob = (name: string): boolean => ctx.fromJob?.has(name) ?? false;
  // Renderers run code: a job chooses none, neither in the text nor beside it.
  const renderer = ofJob('renderer') ? 'jinja' : (template.renderer ?? 'jinja');
  // Most subjects have nothing to fill in.
  if (!/\{[{%#]/.test(source) && renderer === 'jinja') return source;
  if (ctx.render && !ofJob(option)) {
    // A line of the template itself that names a renderer counts more.
    const text = source.startsWith('#!') ? source : `#!${renderer}\n${source}`;
    return pyStr(await ctx.render(text, values));
  }
  return source.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(values, name) ? pyStr(values[name]) : '',
  );
}
