// Templates of states: a text or file rendered with the engine the state names.
import { isUtf8 } from 'node:buffer';
import {
  dictEntries,
  isDict,
  messageOf,
  newDict,
  type PlainDict,
  pyStr,
  type StateContext,
  type Value,
} from 'halite/sdk';
import { readFileSync } from 'halite/sdk/fs';
import { looksLikeText } from './looks-like-text.ts';

/** Template engines of Salt; others are refused with Salt's message. */
export const templateEngines: readonly string[] = ['jinja', 'mako', 'py', 'wempy', 'genshi', 'cheetah'];

/** `defaults` below `context`, as one dictionary. */
export function templateVariables(defaults: Value, context: Value): PlainDict {
  const all = newDict();
  for (const layer of [defaults, context]) {
    if (isDict(layer)) for (const [key, value] of dictEntries(layer)) all[pyStr(key)] = value;
  }
  return all;
}

export interface TemplateRequest {
  readonly engine: string;
  readonly variables: PlainDict;
  /** Variables with lower precedence: user, group, mode, source, … */
  readonly extra?: PlainDict;
  readonly path?: string;
}

export type Rendered = { readonly bytes: Buffer } | { readonly problem: string };

export async function renderText(text: string, request: TemplateRequest, ctx: StateContext): Promise<Rendered> {
  const context = newDict([...Object.entries(request.extra ?? {}), ...Object.entries(request.variables)]);
  try {
    const made = await ctx.render(text, {
      pipe: request.engine,
      saltenv: ctx.saltenv,
      sls: null,
      context,
      ...(request.path === undefined ? {} : { path: request.path }),
    });
    return { bytes: made instanceof Uint8Array ? Buffer.from(made) : Buffer.from(pyStr(made), 'utf8') };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

export async function renderFile(path: string, request: TemplateRequest, ctx: StateContext): Promise<Rendered> {
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  // As in Salt: content that is not text is not rendered.
  if (text.includes('\ufffd') && !isUtf8(bytes) && !looksLikeText(bytes)) return { bytes };
  return renderText(text, { ...request, path }, ctx);
}
