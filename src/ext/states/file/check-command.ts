// `check_cmd`: a command that judges a file before it is put in place.
import { isDict, type StateContext, type Value } from 'halite/sdk';

/** What a checking command has against a file; undefined when nothing. */
export async function checkFailure(command: string, path: string, ctx: StateContext): Promise<string | undefined> {
  const shell = isDict(ctx.grains) && !(ctx.grains instanceof Map) ? ctx.grains['shell'] : undefined;
  const answer = await ctx.callWith('cmd.run_all', [`${command} ${path}`], shell ? { shell } : {});
  const out = answer as { retcode?: Value; stdout?: Value; stderr?: Value };
  if (out.retcode === 0) return undefined;
  return ['check_cmd execution failed', out.stdout, out.stderr].filter(Boolean).join('\n');
}
