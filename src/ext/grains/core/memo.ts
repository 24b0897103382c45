// Output of programs that only changes with the program or the machine: cached in memory and in the minion's cache folder.

import { dirname, join } from 'node:path';
import type { ExecOptions, GrainContext } from 'halite/sdk';
import { mkdirSync, readFileSync, readlinkSync, readTrimmed, replaceFileNow, statSync } from 'halite/sdk/fs';

export interface Answer {
  readonly retcode: number;
  readonly stdout: string;
}
interface Kept extends Answer {
  readonly stamp: string;
}

const asked = new Map<string, { readonly stamp: string; readonly answer: Promise<Answer> }>();

/** The validity of cached output: this boot of this machine (or container), together with the file of the program. */
let place: string | undefined;

function machine(): string {
  let container = '';
  try {
    container = readlinkSync('/proc/self/ns/pid');
  } catch {
    // Without /proc there is no boot id, and nothing is cached beyond this process.
  }
  return `${readTrimmed('/proc/sys/kernel/random/boot_id') ?? `pid ${process.pid}`} ${container}`;
}

function stampOf(program: string): string | undefined {
  const stats = statSync(program, { bigint: true, throwIfNoEntry: false });
  if (!stats) return undefined;
  place ??= machine();
  return `${stats.dev} ${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs} ${place}`;
}

const fileOf = ({ opts }: GrainContext): string | undefined => {
  const folder = opts['cachedir'];
  return typeof folder === 'string' && folder.startsWith('/') ? join(folder, 'program-answers.json') : undefined;
};

function isKept(value: unknown): value is Kept {
  const { stamp, retcode, stdout } = (value ?? {}) as Partial<Record<keyof Kept, unknown>>;
  return typeof stamp === 'string' && typeof retcode === 'number' && typeof stdout === 'string';
}

function readKept(path: string): Map<string, Kept> {
  try {
    const data: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return new Map(Object.entries(data as object).filter((entry): entry is [string, Kept] => isKept(entry[1])));
  } catch {
    return new Map();
  }
}

function keep(path: string, key: string, answer: Kept): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    replaceFileNow(path, JSON.stringify(Object.fromEntries(readKept(path).set(key, answer))));
  } catch {
    // The next process runs the program again.
  }
}

async function ask(
  ctx: GrainContext,
  program: string,
  args: readonly string[],
  key: string,
  stamp: string,
  options?: ExecOptions,
): Promise<Answer> {
  const path = fileOf(ctx);
  const before = path === undefined ? undefined : readKept(path).get(key);
  if (before?.stamp === stamp) return before;
  const { retcode, stdout, timedOut } = await ctx.exec(program, args, options);
  if (path !== undefined && !timedOut) keep(path, key, { stamp, retcode, stdout });
  return { retcode, stdout };
}

/** Output of a program. It runs once, and again after an upgrade, a reboot or a move to another machine. */
export function askOnce(
  ctx: GrainContext,
  program: string,
  args: readonly string[],
  options?: ExecOptions,
): Promise<Answer> {
  const stamp = stampOf(program);
  if (stamp === undefined) return ctx.exec(program, args, options);
  const key = [program, ...args].join(' ');
  const known = asked.get(key);
  if (known?.stamp === stamp) return known.answer;
  const answer = ask(ctx, program, args, key, stamp, options);
  asked.set(key, { stamp, answer });
  answer.catch(() => asked.delete(key));
  return answer;
}
