// systemd: tells the service manager that a daemon of Type=notify is ready, reads its files again, still turns, stops.
// By the program systemd-notify: docs/adr/0050-systemd-notify.md.
import { spawn } from 'node:child_process';
import type { Logger } from '../../base/log/index.ts';

/** How often the status is told when nobody asks for signs of life. */
const statusMs = 30_000;
/** More messages than ever wait: of a daemon that cannot start processes. */
const mostWaiting = 16;

const variables = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as const;

export class ServiceManager {
  readonly #env: Readonly<Record<string, string>>;
  readonly #log: Logger;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #status: () => string = () => '';

  /** Takes the variables out of the environment: no job may speak in the name of this daemon. */
  constructor(log: Logger, env: NodeJS.ProcessEnv = process.env) {
    const found: Record<string, string> = {};
    for (const name of variables) {
      if (env[name]) found[name] = env[name];
      delete env[name];
    }
    this.#env = found;
    this.#log = log;
  }

  ready(status: () => string): void {
    if (!this.#env['NOTIFY_SOCKET']) return;
    this.#status = status;
    void this.#tell('READY=1', ...this.#statusLine());
    const everyMs = this.#watchdogMs();
    this.#timer = setInterval(
      () => {
        // One at a time: on an overloaded machine they must not pile up.
        if (this.#waiting > 0) return;
        void this.#tell(...(everyMs === undefined ? [] : ['WATCHDOG=1']), ...this.#statusLine());
      },
      Math.min(statusMs, (everyMs ?? statusMs * 3) / 3),
    );
    this.#timer.unref();
  }

  /** Until the promise settles, the unit is shown as reloading. */
  async reloading(work: Promise<void>): Promise<void> {
    // Of the system's monotonic clock, which Type=notify-reload of systemd 253 wants.
    void this.#tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
    await work;
    await this.#tell('READY=1', ...this.#statusLine());
  }

  /** Settles when the message is out, so that a daemon can wait for it before it ends. */
  stopping(): Promise<void> {
    clearInterval(this.#timer);
    return this.#tell('STOPPING=1');
  }

  #watchdogMs(): number | undefined {
    const { WATCHDOG_USEC: micros, WATCHDOG_PID: pid } = this.#env;
    if (pid !== undefined && pid !== String(process.pid)) return undefined;
    const ms = Number(micros) / 1000;
    return Number.isFinite(ms) && ms >= 1 ? ms : undefined;
  }

  #statusLine(): string[] {
    const status = this.#status();
    return status === '' ? [] : [`STATUS=${status}`];
  }

  /** In order, one after another. */
  #tell(...lines: readonly string[]): Promise<void> {
    if (!this.#env['NOTIFY_SOCKET'] || lines.length === 0 || this.#waiting >= mostWaiting) return Promise.resolve();
    this.#waiting += 1;
    this.#last = this.#last.then(() => this.#send(lines)).finally(() => (this.#waiting -= 1));
    return this.#last;
  }

  #send(lines: readonly string[]): Promise<void> {
    return new Promise((resolve) => {
      const env = { ...process.env, NOTIFY_SOCKET: this.#env['NOTIFY_SOCKET'] };
      const child = spawn('systemd-notify', lines, { stdio: 'ignore', env, timeout: statusMs });
      child.once('error', (error) => {
        this.#log.limited('systemd-notify', 'warn', 'systemd-notify cannot be started: systemd learns nothing', {
          error,
        });
        resolve();
      });
      child.once('exit', (code) => {
        if (code !== 0) this.#log.debug('systemd-notify failed', { code: String(code) });
        resolve();
      });
    });
  }
}
