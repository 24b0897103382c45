// Real servers for tests: from the distribution's packages (scripts/prepare/packages.json), started on private ports, stopped by process id.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePorts } from '../ports.ts';
import { isMissing } from '../prepared.ts';

/** Some programs are in no folder of PATH: of root, or of one version among several. */
const postgres = '/usr/lib/postgresql';
const places = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  ...['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'],
  ...(existsSync(postgres) ? readdirSync(postgres).map((version) => join(postgres, version, 'bin')) : []),
];

/** Where a program is, or undefined. */
export const findProgram = (name: string): string | undefined =>
  places.map((folder) => join(folder, name)).find((file) => existsSync(file));

/** The path of a program; undefined, said aloud with the reason, when it could not be prepared: the test is then skipped. */
export function preparedProgram(name: string, packageName: string): string | undefined {
  return findProgram(name) ?? isMissing(`package ${packageName}`);
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

export interface RunningServer {
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
  /** False when the process ended by itself. */
  readonly runs: boolean;
  /** The end of what it has printed. */
  output(): string;
  /** Ends the process and removes its folder. */
  stop(): Promise<void>;
  /** Ends the process and keeps its data, for `start` again. */
  pause(): Promise<void>;
  start(): Promise<void>;
}

export interface ServerPlan {
  readonly name: string;
  readonly port?: number;
  /** The command, made when port and folder are known. */
  command(port: number, folder: string): readonly [file: string, ...args: string[]];
  /** Before the first start: makes data folders. */
  prepare?(folder: string, port: number): void | Promise<void>;
  /** Resolves when the server answers; rejects while it does not. */
  ready(port: number): Promise<unknown>;
  readonly env?: NodeJS.ProcessEnv;
  /** How it is asked to end. */
  readonly signal?: NodeJS.Signals;
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });

async function untilReady(plan: ServerPlan, port: number, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${plan.name} ended with ${child.exitCode}: ${output()}`);
    try {
      await plan.ready(port);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${plan.name} does not answer (${String(error)}): ${output()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Starts a server and waits until it answers. */
export async function startServer(plan: ServerPlan): Promise<RunningServer> {
  const folder = mkdtempSync(join(tmpdir(), `halite-${plan.name}-`));
  const port = plan.port ?? (await freePort());
  await plan.prepare?.(folder, port);
  let child: ChildProcess | undefined;
  let text = '';
  const start = async (): Promise<void> => {
    const [file, ...args] = plan.command(port, folder);
    text = '';
    const started = spawn(file, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], env: plan.env ?? process.env });
    child = started;
    const keep = (piece: Buffer): void => {
      text = (text + piece.toString()).slice(-20_000);
    };
    started.stdout.on('data', keep);
    started.stderr.on('data', keep);
    await untilReady(plan, port, started, () => text);
  };
  const pause = async (): Promise<void> => {
    if (!child) return;
    child.kill(plan.signal ?? 'SIGTERM');
    const stuck = setTimeout(() => child?.kill('SIGKILL'), 10_000);
    await ended(child);
    clearTimeout(stuck);
  };
  await start();
  return {
    port,
    folder,
    get pid() {
      return child?.pid ?? 0;
    },
    get runs() {
      return child !== undefined && child.exitCode === null && child.signalCode === null;
    },
    output: () => text,
    start,
    pause,
    async stop() {
      await pause();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
