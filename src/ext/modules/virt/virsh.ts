// Runs virsh: its connection, output and error message.
import { commandError, isTruthy, type ModuleContext, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { lines } from 'halite/sdk/text';
import { type Answer, command } from '../shared/command.ts';

export const kwargs = p.kwargs({ doc: 'connection: address of the hypervisor; username and password have no effect' });

/** Runs virsh with the connection of the call or of the option `virt:connection:uri`. */
export async function ask(ctx: ModuleContext, given: PlainDict, ...argv: readonly string[]): Promise<Answer> {
  const named: Value = given['connection'] ?? null;
  const uri = isTruthy(named) ? named : await ctx.call('config.get', 'virt:connection:uri', null);
  const to = isTruthy(uri) ? ['--connect', pyStr(uri)] : [];
  return command(ctx, ['virsh', '--quiet', ...to, ...argv]);
}

/** The output; a failure makes the job fail. */
export async function virsh(ctx: ModuleContext, given: PlainDict, ...argv: readonly string[]): Promise<string> {
  const done = await ask(ctx, given, ...argv);
  if (done.retcode !== 0) throw commandError(done.stderr.trim().replace(/^error: /, '') || 'virsh failed');
  return done.stdout;
}

/** Whether it worked. */
export async function worked(ctx: ModuleContext, given: PlainDict, ...argv: readonly string[]): Promise<true> {
  await virsh(ctx, given, ...argv);
  return true;
}

/** Names, one a line. */
export const names = (text: string): string[] =>
  lines(text)
    .map((line) => line.trim())
    .filter(Boolean);

/** `Name:  value` lines. */
export function fields(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of lines(text)) {
    const at = line.indexOf(':');
    if (at > 0) found.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
  }
  return found;
}
