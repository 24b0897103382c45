// The daemons that run on this machine: none, one, or several with the same configuration.
import { readFileSync, realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { listProcesses } from '../../../engine/exec/process-tree.ts';
import type { Findings } from './finding.ts';

export interface DaemonProcess {
  readonly pid: number;
  readonly configDir: string;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

export const realFolder = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
};

/** The folder that a command line names, or the default one. */
export function configDirIn(argv: readonly string[], fallback: string): string {
  for (const [at, word] of argv.entries()) {
    if (word === '-c' || word === '--config-dir') return argv[at + 1] ?? fallback;
    if (word.startsWith('--config-dir=')) return word.slice('--config-dir='.length);
    if (/^-c[^-]/.test(word)) return word.slice(2);
  }
  return fallback;
}

/** A program that renames itself, as Salt's daemons do, leaves one text with spaces. */
export function argvOf(pid: number): string[] {
  const words = read(`/proc/${pid}/cmdline`).split('\0').filter(Boolean);
  return words.length === 1 ? (words[0]?.split(/\s+/).filter(Boolean) ?? []) : words;
}

/** The program itself, or run by Python or node. */
const isDaemon = (argv: readonly string[], program: string): boolean =>
  argv.slice(0, 3).some((word) => basename(word) === program);

/** Daemons of that name, without their own child processes. */
export function runningDaemons(program: string): DaemonProcess[] {
  const found = new Map<number, { readonly ppid: number; readonly argv: string[] }>();
  for (const { pid, ppid } of listProcesses()) {
    const argv = argvOf(pid);
    if (isDaemon(argv, program)) found.set(pid, { ppid, argv });
  }
  return [...found]
    .filter(([, { ppid }]) => !found.has(ppid))
    .map(([pid, { argv }]) => {
      const environment = read(`/proc/${pid}/environ`).split('\0');
      const named = environment.find((entry) => entry.startsWith('SALT_CONFIG_DIR='))?.slice('SALT_CONFIG_DIR='.length);
      const cwd = realFolder(`/proc/${pid}/cwd`);
      return { pid, configDir: realFolder(resolve(cwd, configDirIn(argv, named || '/etc/salt'))) };
    });
}

/** True when it is running. */
export function examineProcesses(findings: Findings, program: string, configDir: string): boolean {
  const folder = realFolder(configDir);
  const running = runningDaemons(program).filter((daemon) => daemon.configDir === folder);
  const pids = running.map(({ pid }) => pid);
  if (pids.length === 0) {
    findings.problem(
      `${program} does not run with the configuration in ${folder}`,
      `${program} -c ${folder} -d, or: systemctl start ${program}`,
    );
  } else if (pids.length > 1) {
    const others = pids.slice(1).join(' ');
    findings.problem(
      `${program} runs ${pids.length} times with the configuration in ${folder} (process ids ${pids.join(', ')}): jobs are answered twice`,
      `kill ${others}`,
    );
  } else findings.fine(`${program} runs once (process id ${pids[0]})`);
  return pids.length > 0;
}
