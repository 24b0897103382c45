// Ctrl-C and termination for commands that have nothing to tell about a job.
import type { Terminal } from './io.ts';

const interrupted = 130;
const terminated = 143;

/** Leaves with Salt's words on Ctrl-C; gives back what undoes it. */
export function leaveOnSignals(io: Terminal): () => void {
  const interrupt = (): void => {
    io.err('\nExiting gracefully on Ctrl-c\n');
    process.exit(interrupted);
  };
  const terminate = (): void => process.exit(terminated);
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', terminate);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  };
}
