// Ctrl-C and SIGTERM for commands that need not report a job.
import type { Terminal } from './io.ts';

const interrupted = 130;
const terminated = 143;

/** Exits with Salt's message on Ctrl-C; returns the function that removes the handlers. */
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
