// One Python process: started, sent messages, and ended reliably.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { FrameReader, frameOf } from './frames.ts';

export interface ProcessEvents {
  message(message: unknown[]): void;
  /** What it printed, in whole lines where possible. */
  printed(text: string, stream: 'stdout' | 'stderr'): void;
  /** It has ended; `why` says how. */
  ended(why: string, retcode: number): void;
}

const endGraceMs = 3000;
const longestLine = 64 * 1024;

/** The folder with the worker and the package `salt`: beside the bundle, or in the sources. */
export function pythonFolder(): string {
  for (const place of ['./python', '../python', '../../../python']) {
    const folder = fileURLToPath(new URL(place, import.meta.url));
    if (existsSync(`${folder}/halite_worker/__main__.py`)) return folder;
  }
  throw new HaliteError('extension.broken', 'the Python part of Halite is missing', {
    hint: 'Build it with: npm run build',
  });
}

export class PythonProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #pipe: Duplex;
  readonly #largest: number;
  readonly #events: ProcessEvents;
  #over = false;
  #asked = false;
  #problem: string | undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(executable: string, largest: number, events: ProcessEvents) {
    this.#largest = largest;
    this.#events = events;
    this.#child = spawn(executable, ['-I', `${pythonFolder()}/halite_worker`], {
      // A session of its own: Ctrl-C in a terminal is the business of the command.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    this.pid = this.#child.pid ?? 0;
    this.#pipe = this.#child.stdio[3] as Duplex;
    const reader = new FrameReader(largest);
    this.#pipe.on('data', (piece: Buffer) => this.#read(reader, piece));
    this.#pipe.on('error', () => undefined);
    this.#forward('stdout');
    this.#forward('stderr');
    this.#child.on('error', (error) => this.#end(`could not be started: ${error.message}`, 1));
    // Not "close": a process that the user's code left behind may hold the pipes for ever.
    this.#child.on('exit', (code, signal) => this.#exited(code, signal));
  }

  get over(): boolean {
    return this.#over;
  }

  /** Keeps the program that uses it from ending, or no longer. */
  hold(on: boolean): void {
    const parts = [this.#child, this.#pipe, this.#child.stdout, this.#child.stderr] as {
      ref?: () => void;
      unref?: () => void;
    }[];
    for (const part of parts) on ? part.ref?.() : part.unref?.();
  }

  send(message: readonly unknown[]): void {
    const frame = frameOf(message, this.#largest);
    if (!this.#over) this.#pipe.write(frame);
  }

  /** Asks it to end; one that does not is killed after a moment. */
  end(): void {
    if (this.#over) return;
    this.#asked = true;
    this.send(['end']);
    this.hold(false);
    this.#grace = setTimeout(() => this.kill(), endGraceMs).unref();
  }

  /** Sends SIGTERM, and kills it with what it started when it is still there after a while. */
  terminate(graceMs: number): void {
    if (this.#over) return;
    this.#problem ??= 'was ended';
    try {
      process.kill(this.pid, 'SIGTERM');
    } catch {
      // Ended in the meantime.
    }
    this.#grace = setTimeout(() => this.kill(), graceMs).unref();
  }

  /** Kills it and what it started. */
  kill(problem?: string): void {
    if (this.#over) return;
    this.#problem ??= problem;
    this.#killGroup();
  }

  #killGroup(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // Ended in the meantime.
    }
  }

  #read(reader: FrameReader, piece: Buffer): void {
    try {
      for (const message of reader.push(piece)) this.#events.message(message);
    } catch (error) {
      this.kill(`sent garbage to Halite (${messageOf(error)})`);
    }
  }

  #forward(name: 'stdout' | 'stderr'): void {
    let rest = '';
    const stream = this.#child[name];
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      rest += text;
      const cut = rest.length > longestLine ? rest.length : rest.lastIndexOf('\n') + 1;
      if (cut > 0) this.#events.printed(rest.slice(0, cut), name);
      rest = rest.slice(cut);
    });
    stream?.on('end', () => rest && this.#events.printed(`${rest}\n`, name));
    stream?.on('error', () => undefined);
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    // A death in the middle of a call leaves nothing behind; what a function started to outlive its job stays.
    if (!this.#asked) this.#killGroup();
    const number = signal ? constants.signals[signal] : 0;
    if (this.#problem !== undefined) this.#end(this.#problem, 1);
    else if (signal) this.#end(`was ended by signal ${number} (${signal})`, 128 + number);
    else this.#end(`ended with status ${code ?? 'unknown'}`, code || 1);
  }

  /** What arrived before the end is read first: a function may have printed why. */
  #end(why: string, retcode: number): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#grace);
    setImmediate(() => {
      this.#pipe.destroy();
      this.#events.ended(why, retcode);
    });
  }
}
