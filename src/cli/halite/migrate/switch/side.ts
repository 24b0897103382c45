// One of the two masters that take turns: where its commands are, and how its service is stopped and started.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MasterOpts } from '../../../../base/config/index.ts';
import { HaliteError } from '../../../../base/errors/index.ts';
import { replaceFileNow } from '../../../../base/util/replace-file.ts';
import { refuseRunningMaster } from '../../../moving/here.ts';
import { argvOf, realFolder, runningDaemons } from '../../doctor/processes.ts';
import { besideUnit } from './unit.ts';

export interface Side {
  /** The folder of its commands. */
  readonly bin: string;
  /** The Node that runs them, '' for programs of their own: a machine may have no other one, or an old one. */
  readonly node: string;
  /** Commands for the shell; '' for what is done without a manager of services. */
  readonly stop: string;
  readonly start: string;
  /** What stands in the file beside systemd's unit before it is started: '' for no file; undefined where it stays as it is. */
  readonly beside?: string | undefined;
}

const mostOutput = 64 * 1024 * 1024;
const stopMs = 90_000;
const startMs = 120_000;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function run(file: string, args: readonly string[], timeoutMs: number): Promise<Ran> {
  return new Promise((done) => {
    // What it starts in the background must not hold its output open: a daemon closes it, a shell may not.
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (said[name].length < mostOutput) said[name] += text;
      });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const end = (code: number | null): void => {
      clearTimeout(timer);
      done({ code, ...said });
    };
    child.on('error', (error) => {
      said.stderr += error.message;
      end(127);
    });
    child.on('exit', (code) => setTimeout(() => end(code), 200));
    child.on('close', (code) => end(code));
  });
}

/** A command of this side, as words. */
export const commandOf = ({ node, bin }: Side, name: string): [string, ...string[]] =>
  node === '' ? [join(bin, name)] : [node, '--disable-warning=ExperimentalWarning', join(bin, name)];

async function shell(command: string, what: string): Promise<void> {
  const { code, stderr } = await run('/bin/sh', ['-c', command], startMs);
  if (code !== 0)
    throw new HaliteError(
      'call.failed',
      `${what} failed with ${code ?? 'a signal'}: ${command}: ${stderr.trim().slice(-500)}`,
    );
}

export const mastersOf = (configDir: string): number[] =>
  runningDaemons('salt-master')
    .filter((daemon) => daemon.configDir === realFolder(configDir))
    .map(({ pid }) => pid);

/**
 * The folder of the commands of the master that runs with a configuration. Whoever migrates runs them, and a process of another
 * user may call itself what it likes: nobody but root and ourselves may have put them there.
 */
export function runningBin(configDir: string): string | undefined {
  for (const pid of mastersOf(configDir)) {
    const program = argvOf(pid).find((word) => basename(word) === 'salt-master');
    if (!program?.startsWith('/')) continue;
    const command = join(dirname(program), 'salt');
    if (existsSync(command) && [command, realpathSync(command)].every(isOurs)) return dirname(program);
  }
  return undefined;
}

/** With all folders above it. */
function isOurs(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || ![0, process.getuid?.()].includes(stat.uid)) return false;
  // In a folder with the sticky bit others cannot replace what is not theirs.
  const open = !stat.isSymbolicLink() && (stat.mode & 0o002) !== 0 && (stat.mode & 0o1000) === 0;
  return !open && (path === '/' || isOurs(dirname(path)));
}

/** Where our own commands are. */
export function ownBin(): string {
  const here = dirname(realpathSync(process.argv[1] ?? '.'));
  const found = [here, join(here, '../bin')].find((folder) => existsSync(join(folder, 'salt-master')));
  if (found !== undefined) return found;
  throw new HaliteError('config.missing', `There is no salt-master beside ${here}`);
}

/** In words, for the plan. */
export const stopText = ({ stop }: Side): string => stop || 'end the process (SIGTERM)';
export const startText = (side: Side, configDir: string): string => {
  const { start, beside, bin } = side;
  if (start === '') return `${join(bin, 'salt-master')} -c ${configDir} -d`;
  return beside === undefined ? start : `${beside === '' ? 'remove' : 'write'} ${besideUnit}; ${start}`;
};

/** Ends when none of its processes has the ports any more. */
export async function stopMaster(side: Side, opts: MasterOpts, configDir: string): Promise<void> {
  if (side.stop !== '') await shell(side.stop, 'stopping the master');
  await untilStopped(side, opts, configDir);
}

/** The same where an interruption may have left either of them running, or none. */
export async function stopEither(own: Side, old: Side, opts: MasterOpts, configDir: string): Promise<void> {
  let failed: unknown;
  for (const side of [own, old]) {
    if (side.stop === '' || (side === old && (side.stop === own.stop || runningBin(configDir) !== old.bin))) continue;
    await shell(side.stop, 'stopping the master').catch((error: unknown) => {
      failed ??= error;
    });
  }
  // A unit that is not there, or does not run, does no harm when nothing else runs either.
  await untilStopped(runningBin(configDir) === old.bin ? old : own, opts, configDir).catch((error: unknown) => {
    throw failed ?? error;
  });
}

async function untilStopped(side: Side, opts: MasterOpts, configDir: string): Promise<void> {
  const deadline = Date.now() + stopMs;
  const told = new Set<number>();
  for (;;) {
    // A process that has just begun has another one in front of it, which goes first.
    if (side.stop === '')
      for (const pid of mastersOf(configDir).filter((each) => !told.has(each))) {
        told.add(pid);
        signal(pid, 'SIGTERM');
      }
    try {
      return await refuseRunningMaster(opts, configDir, 'halite migrate');
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(200);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}

/** Starts it; that it answers is the business of who asks it. */
export async function startMaster(side: Side, configDir: string): Promise<void> {
  if (side.beside !== undefined) await placeBeside(side.beside);
  if (side.start !== '') return shell(side.start, 'starting the master');
  const [program, ...words] = [...commandOf(side, 'salt-master'), '-c', configDir, '-d'] as const;
  const { code, stderr } = await run(program, words, startMs);
  if (code !== 0)
    throw new HaliteError(
      'call.failed',
      `the master did not start (${code ?? 'a signal'}): ${stderr.trim().slice(-1000)}`,
    );
}

async function placeBeside(text: string): Promise<void> {
  if (text === '') rmSync(besideUnit, { force: true });
  else {
    mkdirSync(dirname(besideUnit), { recursive: true });
    replaceFileNow(besideUnit, text, 0o644);
  }
  await shell('systemctl daemon-reload', 'telling systemd');
}
