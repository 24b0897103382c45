// Templates of returners: texts of the configuration use the renderers, other texts only names in double braces.
import { type PlainDict, pyStr, type ReturnerContext } from 'halite/sdk';

export interface Template {
  /** The option with the text or the path of its file. */
  readonly option: string;
  readonly source: string;
  /** Value of the option `renderer`, where there is one. */
  readonly renderer?: string;
}

export async function fillTemplate(ctx: ReturnerContext, template: Template, values: PlainDict): Promise<string> {
  const { option, source } = template;
  const ofJob = (name: string): boolean => ctx.fromJob?.has(name) ?? false;
  // Renderers run code, so a job cannot choose one, neither in the text nor in an option.
  const renderer = ofJob('renderer') ? 'jinja' : (template.renderer ?? 'jinja');
  // Most subjects contain no placeholders.
  if (!/\{[{%#]/.test(source) && renderer === 'jinja') return source;
  if (ctx.render && !ofJob(option)) {
    // A `#!` line in the template takes precedence.
    const text = source.startsWith('#!') ? source : `#!${renderer}\n${source}`;
    return pyStr(await ctx.render(text, values));
  }
  return source.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(values, name) ? pyStr(values[name]) : '',
  );
}
