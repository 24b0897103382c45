// Finds and kills whole process trees: children, their children, and the rest of their sessions.
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessInfo {
  readonly pid: number;
  readonly ppid: number;
  readonly session: number;
  /** Dead but not reaped by its parent: nothing left to kill. */
  readonly zombie: boolean;
}

/** Every process of the system, from /proc; empty where there is none. */
export function listProcesses(): ProcessInfo[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  const found: ProcessInfo[] = [];
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const info = readProcess(pid);
    if (info) found.push(info);
  }
  return found;
}

function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain anything, including parentheses and spaces.
    const [state = '', ppid, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid, ppid: Number(ppid), session: Number(session), zombie: state === 'Z' || state === 'X' };
  } catch {
    return undefined;
  }
}

/**
 * The living processes of a tree: the roots, all their descendants, and all processes of a session that one of them
 * leads. The last finds processes that were started in the background and lost their parent.
 */
export function treeOf(roots: readonly number[], all: readonly ProcessInfo[] = listProcesses()): number[] {
  const tree = new Set<number>(roots.filter((pid) => pid > 1 && pid !== process.pid));
  for (let grew = true; grew; ) {
    grew = false;
    for (const info of all) {
      if (tree.has(info.pid) || info.pid === process.pid || info.pid <= 1) continue;
      if (!tree.has(info.ppid) && !tree.has(info.session)) continue;
      tree.add(info.pid);
      grew = true;
    }
  }
  const alive = new Set(all.filter((info) => !info.zombie).map((info) => info.pid));
  return [...tree].filter((pid) => (all.length === 0 ? isAlive(pid) : alive.has(pid)));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return readProcess(pid)?.zombie !== true;
}

function send(pid: number, signal: number | NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Ended in the meantime.
  }
}

/** Sends a signal to every process of the trees, children first; returns their number. */
export function signalTree(roots: readonly number[], signal: number | NodeJS.Signals): number {
  const pids = treeOf(roots);
  for (const pid of [...pids].reverse()) send(pid, signal);
  return pids.length;
}

export interface KillResult {
  /** True when no process of the trees is alive any more. */
  readonly gone: boolean;
  readonly left: readonly number[];
}

/** Kills the trees and checks again until nothing is left: a process that forks while it is killed does not escape. */
export async function killTree(roots: readonly number[], deadlineMs = 5000): Promise<KillResult> {
  const members = new Set(roots);
  const end = performance.now() + deadlineMs;
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    for (const pid of treeOf([...members])) members.add(pid);
    const left = [...members].filter((pid) => pid > 1 && pid !== process.pid && isAlive(pid));
    if (left.length === 0) return { gone: true, left };
    if (performance.now() > end) return { gone: false, left };
    for (const pid of left) send(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
