// Starts the program of job processes and lets go of it: the same for jobs, returners and beacons.
import { type ChildProcess, fork } from 'node:child_process';

/** In a session of its own, so that a terminal's Ctrl-C or the end of the daemon does not take it along. */
export function forkJobProcess(entry: string): ChildProcess {
  return fork(entry, [], {
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
  });
}

/** Nobody is connected to it any more: it ends when its work is done. */
export function detachChild(child: ChildProcess): void {
  if (child.connected) child.disconnect();
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
}
