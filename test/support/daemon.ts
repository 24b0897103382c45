// One daemon of an implementation as a real process, with its log.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Where the commands of an implementation are: `halite`, or a Salt version prepared by salt-release.ts. */
export interface Implementation {
  readonly name: string;
  readonly bin: string;
  /** In front of its daemons: `ip netns exec x`, `env A=b`. */
  readonly before?: readonly string[];
}

export const halite: Implementation = { name: 'halite', bin: resolve(import.meta.dirname, '../../bin') };
/** Ours: this build, or another one. */
export const isHalite = ({ name }: Implementation): boolean => name.startsWith('halite');

/** What a minion logs when it can take jobs: Halite, and every Salt release. */
export const minionReady = [
  'connected to the master, waiting for jobs',
  'Minion is ready to receive requests!',
  'Proxy Minion is ready to receive requests!',
];

export class Daemon {
  readonly log: string;
  readonly #child: ChildProcess;
  /** How long the log of its predecessors is, in bytes. */
  readonly #logStart: number;
  readonly #foreign: boolean;

  constructor(
    implementation: Implementation,
    command: string,
    configDir: string,
    log: string,
    more: readonly string[] = [],
  ) {
    this.log = log;
    this.#foreign = !isHalite(implementation);
    writeFileSync(log, '', { flag: 'a' });
    this.#logStart = statSync(log).size;
    const script = `exec "$0" "$@" >>"${log}" 2>&1`;
    const { before = [], bin } = implementation;
    const args = ['-c', script, ...before, join(bin, command), '-c', configDir, '-l', 'info', ...more];
    // A process group of its own: Salt's daemons fork, and all of it must end with the test.
    this.#child = spawn('/bin/sh', args, { stdio: 'ignore', detached: true });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }
  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
  /** Null while it runs. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }
  output(): string {
    return readFileSync(this.log, 'utf8');
  }

  /** Whether one of these was logged since it was started. */
  said(lines: readonly string[]): boolean {
    const text = readFileSync(this.log).subarray(this.#logStart).toString('utf8');
    return lines.some((line) => text.includes(line));
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.running) return;
    const ended = new Promise<void>((done) => this.#child.once('exit', () => done()));
    signalGroup(this.pid, signal);
    const hard = setTimeout(() => signalGroup(this.pid, 'SIGKILL'), 10_000);
    await ended;
    clearTimeout(hard);
    signalGroup(this.pid, 'SIGKILL');
  }

  /** Where it matters only that it ends: a real Salt minion takes seven seconds to end by SIGTERM, which proves nothing of ours. */
  async dispose(): Promise<void> {
    await this.stop(this.#foreign ? 'SIGKILL' : 'SIGTERM');
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
