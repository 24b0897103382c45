// Running a system tool the way Salt's modules do through cmd.run_all: its failure is the job's failure.
import type { ModuleContext } from '../context.ts';
import { commandError, commandNotFound } from '../errors.ts';
import type { ExecOptions, ExecResult } from '../exec.ts';
import { which } from './which.ts';

/** Full path of a tool that must be there. */
export function requireTool(name: string): string {
  const path = which(name);
  if (!path) throw commandError(`Command '${name}' cannot be found`);
  return path;
}

/** The name of a program that a function is of no use without; Salt's sentence for those when it is not there. */
export function requireBinary(name: string): string {
  if (!which(name)) throw commandNotFound(`The '${name}' binary was not found in $PATH.`);
  return name;
}

/** Runs a tool in the C locale; a return code other than 0 becomes the job's. */
export async function runTool(
  ctx: ModuleContext,
  name: string,
  args: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  const result = await ctx.exec(requireTool(name), args, {
    argv0: name,
    ...options,
    env: { LC_ALL: 'C', LANGUAGE: 'C', ...options.env },
  });
  ctx.setRetcode(result.retcode);
  return result;
}

/** The same for questions whose failure means nothing. */
export async function askTool(
  ctx: ModuleContext,
  name: string,
  args: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  return ctx.exec(requireTool(name), args, {
    argv0: name,
    ...options,
    env: { LC_ALL: 'C', LANGUAGE: 'C', ...options.env },
  });
}
