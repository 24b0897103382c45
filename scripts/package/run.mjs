// Runs a program of the system to its end; throws with what it said.
import { spawnSync } from 'node:child_process';

export function run(program, args, options = {}) {
  const done = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  if (done.status === 0) return done.stdout ?? '';
  const said = `${done.stdout ?? ''}${done.stderr ?? ''}${done.error ?? ''}`.trim();
  throw new Error(`${program} ${args.join(' ')} ended with ${done.status ?? done.signal ?? 'no status'}:\n${said}`);
}
