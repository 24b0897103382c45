// Runs a system tool as Salt's modules do with cmd.run_all: its failure is the job's failure.
import type { ModuleContext } from '../context.ts';
import { commandError, commandNotFound } from '../errors.ts';
import type { ExecOptions, ExecResult } from '../exec.ts';
import { which } from './which.ts';

/** Full path of a required tool. */
export function requireTool(name: string): string {
  const path = which(name);
  if (!path) throw commandError(`Command '${name}' cannot be found`);
  return path;
}

/** The path of a program that a function requires; Salt's error message when it does not exist. */
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

/** The same for queries whose failure is not an error. */
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
