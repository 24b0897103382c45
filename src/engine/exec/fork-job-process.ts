// Starts the program of job processes and detaches from it: the same for jobs, returners and beacons.
import { type ChildProcess, fork } from 'node:child_process';

/** In a separate session, so that a terminal's Ctrl-C or the end of the daemon does not end it. */
export function forkJobProcess(entry: string): ChildProcess {
  return fork(entry, [], {
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
  });
}

/** Closes the connection: the process ends when its work is done. */
export function detachChild(child: ChildProcess): void {
  if (child.connected) child.disconnect();
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
}
