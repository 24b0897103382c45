// Texts with values in them: by the renderers of states where there are some, else the names in double braces only.
import type { PlainDict, ReturnerContext } from 'halite/sdk';
import { pyStr } from '../../../base/codec/python/index.ts';

export async function fillTemplate(
  ctx: ReturnerContext,
  source: string,
  values: PlainDict,
  renderer = 'jinja',
): Promise<string> {
  // Most subjects have nothing to fill in.
  if (!/\{[{%#]/.test(source) && renderer === 'jinja') return source;
  if (ctx.render) {
    // A line of the template itself that names a renderer counts more.
    const text = source.startsWith('#!') ? source : `#!${renderer}\n${source}`;
    return pyStr(await ctx.render(text, values));
  }
  return source.replace(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(values, name) ? pyStr(values[name]) : '',
  );
}
