// A running `salt-fleet`, by its events.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { FleetReport } from '../../src/fleet/report.ts';
import { type CommandResult, halite, runProgram } from './deployment.ts';
import { eventually } from './eventually.ts';

export interface FleetEvent {
  readonly event: string;
  readonly at: number;
  readonly jid?: string;
  readonly fun?: string;
  readonly minions?: number;
  readonly report?: FleetReport;
}

const program = join(halite.bin, 'salt-fleet');

/** To its end, with the report as JSON. */
export async function fleetToEnd(
  port: number | string,
  args: readonly string[],
  timeoutMs = 120_000,
): Promise<{ readonly report: FleetReport; readonly code: number | null; readonly stderr: string }> {
  const master = typeof port === 'number' ? `127.0.0.1:${port}` : port;
  const { stdout, stderr, code } = await runProgram(program, [master, '--json', '-q', ...args], { timeoutMs });
  try {
    return { report: JSON.parse(stdout) as FleetReport, code, stderr };
  } catch {
    throw new Error(`salt-fleet ${args.join(' ')} printed no report: ${stdout}\n${stderr}`);
  }
}

export const fleetCommand = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandResult> =>
  runProgram(program, args, { env });

export class FleetRun {
  readonly events: FleetEvent[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #errors = '';
  #over = false;

  constructor(port: number, args: readonly string[]) {
    this.#child = spawn(program, [`127.0.0.1:${port}`, '--events', ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    // It may have ended by itself when it is told to: with --auth-only it does.
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      this.events.push(JSON.parse(line) as FleetEvent);
    });
    this.#ended = new Promise((resolve) =>
      this.#child.once('close', (code) => {
        this.#over = true;
        resolve(code);
      }),
    );
  }

  /** Waits until it is ready for jobs. */
  static async ready(port: number, args: readonly string[], timeoutMs = 60_000): Promise<FleetRun> {
    const run = new FleetRun(port, args);
    await run.next('ready', 0, timeoutMs);
    return run;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The first event of this kind from this place of the list on. */
  async next(
    event: string,
    from = 0,
    timeoutMs = 60_000,
    test: (event: FleetEvent) => boolean = () => true,
  ): Promise<FleetEvent> {
    const find = (): FleetEvent | undefined =>
      this.events.slice(from).find((each) => each.event === event && test(each));
    await eventually(`salt-fleet to say "${event}"`, () => find() !== undefined, {
      timeoutMs,
      abort: () => this.#over,
      describe: () =>
        `${this.events
          .slice(-5)
          .map((each) => JSON.stringify(each).slice(0, 2000))
          .join('\n')}\n${this.#errors}`,
    });
    return find()!;
  }

  order(word: 'hold' | 'release' | 'reset' | 'storm' | 'stats' | 'quit'): void {
    this.#child.stdin?.write(`${word}\n`);
  }

  async stats(): Promise<FleetReport> {
    const from = this.events.length;
    this.order('stats');
    return (await this.next('stats', from)).report!;
  }

  /** Counts begin again at zero. */
  async reset(): Promise<void> {
    const from = this.events.length;
    this.order('reset');
    await this.next('reset', from);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it and gives its last report. */
  async quit(signal?: NodeJS.Signals): Promise<{ readonly report: FleetReport; readonly code: number | null }> {
    const from = this.events.length;
    if (!this.#over) {
      if (signal) this.#child.kill(signal);
      else this.order('quit');
    }
    const hard = setTimeout(() => this.#child.kill('SIGKILL'), 30_000);
    const code = await this.#ended;
    clearTimeout(hard);
    const report =
      this.events.slice(from).find(({ event }) => event === 'report') ??
      this.events.findLast(({ event }) => event === 'report');
    if (!report?.report) throw new Error(`salt-fleet ended with ${code} and no report: ${this.#errors}`);
    return { report: report.report, code };
  }

  /** For clean-ups. */
  async kill(): Promise<void> {
    if (!this.#over) this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
