// State trees as code: the module's default export is the data, or a function that returns it.

import { pathToFileURL } from 'node:url';
import { isDict, newDict, RenderError, type RendererContext, type Value } from 'halite/sdk';
import { importUrl, stripTypes } from 'halite/sdk/system';
import { plainValue } from './plain-value.ts';

/** The text with an empty first line instead of `#!`, so that line numbers in messages are those of the file. */
export function withoutShebang(source: string): string {
  return source.replace(/^#![^\n]*/, '');
}

/** Converts TypeScript to JavaScript by removing the types; errors keep their position in the file. */
export async function withoutTypes(source: string, ctx: RendererContext): Promise<string> {
  try {
    return await stripTypes(withoutShebang(source));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const at = /\((\d+):(\d+)\)/.exec(text);
    const place = at ? { line: Number(at[1]), column: Number(at[2]) } : {};
    throw new RenderError(`TypeScript syntax error: ${text}`, { file: ctx.path, ...place }, { cause: error });
  }
}

/**
 * Runs the module and returns its data. Equal text is imported once: Node never unloads modules, so a new copy for
 * every render would fill the memory.
 */
export async function runModule(code: string, ctx: RendererContext): Promise<Value> {
  const name = ctx.path ? `\n//# sourceURL=${pathToFileURL(ctx.path).href}` : '';
  const url = `data:text/javascript;charset=utf-8,${encodeURIComponent(code + name)}`;
  try {
    const exports = (await importUrl(url)) as { default?: unknown };
    const made = typeof exports.default === 'function' ? await exports.default(scopeOf(ctx)) : exports.default;
    if (made === undefined) throw new RenderError('The file has no default export', { file: ctx.path });
    const value = plainValue(made);
    return value === null ? newDict() : value;
  } catch (error) {
    throw error instanceof RenderError ? error : codeError(error, ctx);
  }
}

/** The argument of the function in a file: the variables of a Jinja template, and `salt` as a function. */
function scopeOf(ctx: RendererContext): Record<string, unknown> {
  const { grains, pillar, opts, saltenv, sls, variables, log } = ctx;
  const salt = (fun: string, ...args: Value[]): Promise<Value> => {
    const last = args.at(-1);
    // A map as last argument of a call with `kwargs` inside gives arguments by name.
    if (isDict(last) && !(last instanceof Map) && Object.keys(last).length === 1 && isDict(last['kwargs'] ?? null)) {
      return ctx.callWith(fun, args.slice(0, -1), last['kwargs'] as Record<string, Value>);
    }
    return ctx.call(fun, ...args);
  };
  return { ...variables, salt, grains, pillar, opts, saltenv, sls, log };
}

function codeError(error: unknown, ctx: RendererContext): RenderError {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const at = error instanceof Error ? /:(\d+):(\d+)\)?$/m.exec(error.stack ?? '') : null;
  const place = at ? { line: Number(at[1]), column: Number(at[2]) } : {};
  const line = at ? `; line ${at[1]}` : '';
  return new RenderError(`${text}${line}`, { file: ctx.path, ...place }, { cause: error });
}
