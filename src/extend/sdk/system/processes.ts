// Starts programs as node:child_process does, refused in test mode. Most extensions should use `ctx.exec` instead.
import * as processes from 'node:child_process';
import { assertMayRun } from '../read-only.ts';

export type { ChildProcess } from 'node:child_process';

function start(program: string, args: readonly string[], options: processes.SpawnOptions = {}): processes.ChildProcess {
  assertMayRun(program);
  return processes.spawn(program, args, options);
}

/** `spawn(program, args, options)` of Node. */
export const spawn = start as typeof processes.spawn;
