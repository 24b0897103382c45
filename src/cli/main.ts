// Common parts of every command: readable errors, exit codes, stack traces only on request.
import { HaliteError, messageOf } from '../base/errors/index.ts';
import { exitStatusOf } from './exit-status.ts';
import { type Terminal, terminal } from './io.ts';
import { forbid } from './umask.ts';

/** Ends the command with a code and without further output. */
export class Exit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

const verbose = { stacks: false };

/** `-l debug` and `--hard-crash`: unexpected errors are printed with their stack. */
export function showStacks(): void {
  verbose.stacks = true;
}

/** Prints an error for the operator: what is wrong, where, and what to do. */
function printError(error: unknown, io: Terminal): void {
  if (!(error instanceof HaliteError)) {
    io.err(`ERROR: ${messageOf(error)}\n`);
    if (verbose.stacks && error instanceof Error && error.stack) io.err(`${error.stack}\n`);
    else io.err('This is a defect in Halite. Run the command again with -l debug to see where.\n');
    return;
  }
  const excerpt = error.details['excerpt'];
  io.err(`ERROR: ${error.message}\n`);
  if (typeof excerpt === 'string' && !error.message.includes(excerpt)) io.err(`${excerpt}\n`);
  if (error.hint) io.err(`${error.hint}\n`);
  if (verbose.stacks && error.stack) io.err(`${error.stack}\n`);
}

/** Runs a command and resolves with its exit code; never rejects. */
export async function statusOf(work: () => Promise<number>, io: Terminal = terminal): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Exit) return error.code;
    printError(error, io);
    return exitStatusOf(error);
  }
}

/** Called on the last line of a command's file. */
export function run(work: (argv: readonly string[]) => Promise<number>): void {
  forbid(0o002);
  void statusOf(() => work(process.argv.slice(2))).then((code) => process.exit(code));
}
