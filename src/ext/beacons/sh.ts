// Beacon `sh`: commands that users run in shells, observed with strace.

import { createInterface } from 'node:readline';
import { type BeaconContext, type BeaconSession, defineBeacon, newDict, type PlainDict } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { type ChildProcess, spawn, which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { processIds, readProcess } from '../shared/ps/processes.ts';

/** Maximum number of unread commands; further ones are dropped. */
const mostEvents = 10_000;

/** The programs of `/etc/shells`. */
const shells = (): Set<string> => new Set(lines(readText('/etc/shells') ?? '').filter((line) => line.startsWith('/')));

/** Interactive shells: programs of `/etc/shells` that have a terminal. */
export function shellProcesses(): number[] {
  const known = shells();
  const names = new Set([...known].map((path) => path.slice(path.lastIndexOf('/') + 1)));
  return processIds().filter((pid) => {
    const command = (readText(`/proc/${pid}/cmdline`) ?? '').split('\0')[0]?.replace(/^-/, '') ?? '';
    // The link of its standard input is not used, because a sandbox may show another name there.
    return (known.has(command) || names.has(command)) && (readProcess(pid)?.terminal ?? 0) !== 0;
  });
}

/** `execve("/usr/bin/id", ["id", "-u"], 0x…) = 0` as the program and its arguments. */
export function commandIn(line: string): { readonly cmd: string; readonly args: string[] } | undefined {
  const call = line.split('execve(')[1];
  if (call === undefined) return undefined;
  const texts = [...call.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? '');
  const [cmd, ...args] = texts;
  return cmd === undefined ? undefined : { cmd, args };
}

function follow(strace: string, pid: number, events: PlainDict[], ctx: BeaconContext): ChildProcess {
  const user = readProcess(pid)?.user ?? '';
  const child = spawn(strace, ['-f', '-q', '-s', '4096', '-e', 'trace=execve', '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: ctx.signal,
  });
  child.on('error', () => undefined);
  if (child.stderr)
    createInterface({ input: child.stderr }).on('line', (line) => {
      // Containers often forbid strace; without this message nobody would know why there are no events.
      if (/^strace: .*(not permitted|denied)/.test(line))
        ctx.log.warn(`The shell with process id ${pid} is not watched: ${line}`);
      const command = commandIn(line);
      if (!command || events.length >= mostEvents) return;
      events.push(newDict(Object.entries({ tag: String(pid), ...command, user })));
    });
  return child;
}

/** Attaches strace to the shells that `find` returns. */
export function openShells(find: () => readonly number[], ctx: BeaconContext): BeaconSession {
  const strace = which('strace') ?? 'strace';
  const followed = new Map<number, ChildProcess>();
  const events: PlainDict[] = [];
  const look = (): void => {
    const pids = find();
    // A shell that strace could not attach to, or lost, is not tried again.
    for (const pid of followed.keys()) if (!pids.includes(pid)) followed.delete(pid);
    for (const pid of pids) if (!followed.has(pid)) followed.set(pid, follow(strace, pid, events, ctx));
  };
  look();
  return {
    read() {
      look();
      return events.splice(0);
    },
    close() {
      for (const child of followed.values()) child.kill();
    },
  };
}

export default defineBeacon({
  name: 'sh',
  doc: 'Sends an event for each command that is run in a shell on a terminal. Attaches strace to each of these shells.',
  examples: ['sh: []'],
  available: () => which('strace') !== null || 'strace is missing.',
  open: (_settings, ctx) => openShells(shellProcesses, ctx),
});
