// The life of a daemon after its start: signals, a clean shutdown, and no exit because of a single error.
import { messageOf } from '../../base/errors/index.ts';
import type { RootLogger } from '../../base/log/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';

export interface Running {
  stop(): Promise<void>;
  /** Settles when the daemon cannot continue, or, without an error, has no more to do. */
  readonly ended?: Promise<Error | undefined>;
  /** One line for the service manager: what it does now, in counts. */
  status?(): string;
}

/** What the end of a daemon needs from outside. */
interface End {
  /** At the begin of a stop; settles when everybody knows. */
  stopping(): Promise<void>;
  /** At its end. */
  release(): void;
}

/** Longer than any regular stop takes, shorter than the timeout of a service manager. */
const stopMs = 8000;

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** The exit code, once the daemon has ended. */
export function live(running: Running, log: RootLogger, end: End): Promise<number> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (code: number): void => {
      // A second signal ends the process immediately.
      if (stopping) process.exit(code || exitCodes.generic);
      stopping = true;
      setTimeout(() => process.exit(code || exitCodes.generic), stopMs).unref();
      const told = end.stopping();
      running
        .stop()
        .catch((error: unknown) => log.error('stopping failed', { error: messageOf(error) }))
        .finally(async () => {
          await told;
          end.release();
          await log.close();
          resolve(code);
        });
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        log.warn(`received a ${signal}, exiting`);
        stop(exitCodes.ok);
      });
    }
    // Node would open a debugger port.
    process.on('SIGUSR1', () => log.info('SIGUSR1 is ignored'));
    void running.ended?.then((error) => {
      if (error) log.critical(error.message);
      stop(error ? exitCodes.noPermission : exitCodes.ok);
    });
    process.on('uncaughtException', (error) => {
      log.critical('unexpected error, the daemon continues', { error: describe(error) });
    });
    process.on('unhandledRejection', (error) => {
      log.critical('unexpected error, the daemon continues', { error: describe(error) });
    });
  });
}
