// Runs Docker's command-line client and reads its output and errors.
import { commandError, isDict, type ModuleContext, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { requireTool } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

/** The output of docker; a failure throws its message. `404` marks missing objects, as in Docker's API. */
export async function docker(args: readonly string[], ctx: ModuleContext, input?: string): Promise<string> {
  const said = await ctx.exec(requireTool('docker'), args, input === undefined ? {} : { input });
  if (said.retcode === 0) return said.stdout;
  const why = (said.stderr || said.stdout).trim();
  const missing = /no such|not found/i.test(why) && !/command not found/i.test(why);
  throw commandError(missing ? `Error 404: ${why}` : `Error: ${why}`);
}

/** The same for queries: undefined on failure. */
export async function ask(args: readonly string[], ctx: ModuleContext): Promise<string | undefined> {
  try {
    return await docker(args, ctx);
  } catch (error) {
    if (error instanceof Error && error.message.includes('404')) return undefined;
    throw error;
  }
}

/** One object of `docker … inspect`. */
export async function inspect(kind: string, name: string, ctx: ModuleContext): Promise<PlainDict> {
  const list = loadJson(await docker([kind, 'inspect', name], ctx));
  const first = Array.isArray(list) ? list[0] : undefined;
  if (first === undefined || !isDict(first)) throw commandError(`Error 404: no such ${kind}: ${name}`);
  return plainOf(first);
}

export const plainOf = (value: Value | undefined): PlainDict =>
  value !== undefined && isDict(value) && !(value instanceof Map) ? value : newDict();

/** Objects printed one per line with `--format '{{json .}}'`. */
export async function listed(args: readonly string[], ctx: ModuleContext): Promise<PlainDict[]> {
  const text = await docker([...args, '--no-trunc', '--format', '{{json .}}'], ctx);
  return lines(text).map((line) => plainOf(loadJson(line)));
}

/** `running`, `paused` or `stopped`. */
export async function stateOf(name: string, ctx: ModuleContext): Promise<string> {
  const state = plainOf((await inspect('container', name, ctx))['State']);
  return state['Paused'] ? 'paused' : state['Running'] ? 'running' : 'stopped';
}

/** Runs an action and returns how the state changed. */
export async function changeState(
  name: string,
  args: readonly string[],
  expected: string,
  ctx: ModuleContext,
): Promise<PlainDict> {
  const before = await stateOf(name, ctx);
  const states = (now: string): PlainDict =>
    newDict([
      ['old', before],
      ['new', now],
    ]);
  if (args[0] !== 'restart' && before === expected)
    return newDict([
      ['result', false],
      ['state', states(before)],
      ['comment', `Container '${name}' already ${expected}`],
    ]);
  await docker([...args, name], ctx);
  const after = await stateOf(name, ctx);
  return newDict([
    ['result', after === expected],
    ['state', states(after)],
  ]);
}

export const texts = (value: Value): string[] =>
  Array.isArray(value) ? value.map(pyStr) : value === null || value === '' ? [] : pyStr(value).split(',');
