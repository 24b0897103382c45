// `check_cmd`: a command that checks a file before it is written to its place.
import { isDict, type StateContext, type Value } from 'halite/sdk';

/** The error message of a checking command; undefined when the file is accepted. */
export async function checkFailure(command: string, path: string, ctx: StateContext): Promise<string | undefined> {
  const shell = isDict(ctx.grains) && !(ctx.grains instanceof Map) ? ctx.grains['shell'] : undefined;
  const answer = await ctx.callWith('cmd.run_all', [`${command} ${path}`], shell ? { shell } : {});
  const out = answer as { retcode?: Value; stdout?: Value; stderr?: Value };
  if (out.retcode === 0) return undefined;
  return ['check_cmd execution failed', out.stdout, out.stderr].filter(Boolean).join('\n');
}
