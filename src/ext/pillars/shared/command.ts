// Commands of `cmd_yaml` and `cmd_json`, run by the execution function cmd.run as Salt does.
import { asText, newDict, type PillarContext } from 'halite/sdk';

/**
 * The output of the command. The minion's id is inserted into the command line, so it must not contain anything but an id.
 * Halite accepts no other ids; this check is a second barrier.
 */
export async function runCommand(command: string, ctx: PillarContext, shell: boolean): Promise<string> {
  if (command.includes('%s') && !/^[\w.@:+=,-]+$/.test(ctx.minionId)) {
    throw new Error(`the id ${JSON.stringify(ctx.minionId)} cannot be part of a command`);
  }
  const text = command.replaceAll('%s', () => ctx.minionId);
  const fun = shell ? 'cmd.run_stdout' : 'cmd.run';
  const output = await ctx.callWith(fun, [text], newDict(shell ? [['python_shell', true]] : []));
  return asText(output) ?? '';
}
