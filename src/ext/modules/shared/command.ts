// Runs a tool through cmd.run_all, on request as another user, in another folder or with variables.
import { type ModuleContext, newDict, type PlainDict, pyStr, type Value } from 'halite/sdk';

export interface Answer {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool without a shell; keywords are those of cmd.run_all, and null means not given. */
export async function command(
  ctx: ModuleContext,
  argv: readonly string[],
  options: Readonly<Record<string, Value>> = {},
): Promise<Answer> {
  const given = Object.entries(options).filter(([, value]) => value !== null && value !== undefined);
  const kwargs = newDict([['python_shell', false], ...given]);
  const done = (await ctx.callWith('cmd.run_all', [[...argv]], kwargs)) as PlainDict;
  const text = (value: Value | undefined): string => pyStr(value ?? '');
  return { retcode: Number(done['retcode']), stdout: text(done['stdout']), stderr: text(done['stderr']) };
}

/** The error message of a failed tool. */
export const complaint = ({ stderr, stdout }: Answer): string => stderr || stdout;
