// The three streams of a command: files and real pipes where possible, else Node's sockets.
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { ExecOptions } from '../../extend/sdk/index.ts';
import { openInput } from './input-file.ts';
import { type RealPipe, takePipe } from './real-pipe.ts';

export interface Streams {
  readonly stdout: Readable | null;
  /** null also when it is merged into stdout. */
  readonly stderr: Readable | null;
}

export interface Stdio {
  /** stderr and stdout are one stream already. */
  readonly merged: boolean;
  readonly forSpawn: StdioOptions;
  /** Closes our ends, once the command has its own. */
  attach(child: ChildProcess): Streams;
  /** Closes everything when the command could not be started. */
  abandon(): void;
}

export async function openStdio({
  input,
  mergeStderr = false,
  sockets = false,
}: ExecOptions & { readonly sockets?: boolean }): Promise<Stdio> {
  const stdout = sockets ? undefined : await takePipe();
  const stderr = mergeStderr || !stdout ? stdout : await takePipe();
  const stdin = input === undefined ? undefined : openInput(input);
  if (stdout && stderr) return realPipes(stdin, stdout, stderr);
  for (const pipe of [stdout, stderr]) if (pipe) closeAll(pipe.readEnd, pipe.writeEnd);
  return nodesOwn(stdin, mergeStderr);
}

function closeAll(...descriptors: readonly (number | undefined)[]): void {
  for (const descriptor of new Set(descriptors)) if (descriptor !== undefined) closeSync(descriptor);
}

function realPipes(stdin: number | undefined, stdout: RealPipe, stderr: RealPipe): Stdio {
  const merged = stdout === stderr;
  const reader = ({ readEnd }: RealPipe): Socket => new Socket({ fd: readEnd, readable: true, writable: false });
  return {
    merged,
    forSpawn: [stdin ?? 'ignore', stdout.writeEnd, stderr.writeEnd],
    attach() {
      // The command's ends must not be held by any other process, or the end of its output would never be noticed.
      closeAll(stdin, stdout.writeEnd, stderr.writeEnd);
      return { stdout: reader(stdout), stderr: merged ? null : reader(stderr) };
    },
    abandon: () => closeAll(stdin, stdout.readEnd, stdout.writeEnd, stderr.readEnd, stderr.writeEnd),
  };
}

function nodesOwn(stdin: number | undefined, mergeStderr: boolean): Stdio {
  return {
    merged: false,
    forSpawn: [stdin ?? 'ignore', 'pipe', mergeStderr ? 'ignore' : 'pipe'],
    attach({ stdout, stderr }) {
      closeAll(stdin);
      return { stdout, stderr };
    },
    abandon: () => closeAll(stdin),
  };
}
