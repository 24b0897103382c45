// Runs apt without questions, and waits while another process holds the lock.

import { setTimeout as pause } from 'node:timers/promises';
import {
  commandError,
  type ExecResult,
  HaliteError,
  type ModuleContext,
  newDict,
  type PlainDict,
  type Value,
} from 'halite/sdk';
import { pathExists, statSync } from 'halite/sdk/fs';
import { requireTool, which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { nestedText } from '../shared/nested-text.ts';

const quiet = {
  APT_LISTBUGS_FRONTEND: 'none',
  APT_LISTCHANGES_FRONTEND: 'none',
  DEBIAN_FRONTEND: 'noninteractive',
  UCF_FORCE_CONFFOLD: '1',
  LC_ALL: 'C',
  LANGUAGE: 'C',
};

export interface AptOptions {
  /** Runs outside the minion's control group: upgrading the minion must not end apt. */
  readonly scope?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

export async function callApt(
  ctx: ModuleContext,
  command: readonly string[],
  options: AptOptions = {},
): Promise<ExecResult> {
  const [program = '', ...args] = command;
  let argv = [requireTool(program), ...args];
  const run = options.scope && pathExists('/run/systemd/system') ? which('systemd-run') : null;
  if (run && (await ctx.call('config.get', 'systemd.scope', true)) !== false)
    argv = [run, '--scope', '--description', 'salt pkg', ...argv];
  const env = { ...quiet, ...options.env };
  for (let attempt = 1; ; attempt++) {
    const result = await ctx.exec(argv[0] as string, argv.slice(1), { env, input: options.input });
    if (!result.stderr.includes('Could not get lock') || attempt > 10) return result;
    ctx.log.warn('waiting for the lock of dpkg', { attempt });
    await pause(Math.min(2 ** attempt, 60) * 1000, undefined, { signal: ctx.signal });
  }
}

/** A failure, with the changes that were made nevertheless. */
export function failedWith(message: string, info: PlainDict): HaliteError {
  return new HaliteError('call.failed', `${message}. Additional info follows:\n\n${nestedText(info)}`, {
    details: { info },
  });
}

/** `apt-get update`; repository → True (fetched), None (unchanged) or False (failed). */
export async function refreshDb(ctx: ModuleContext, cacheValidTime = 0, failHard = false): Promise<PlainDict> {
  if (cacheValidTime > 0) {
    const age = Date.now() / 1000 - statSync('/var/lib/apt/lists').mtimeMs / 1000;
    if (age < cacheValidTime) return newDict();
  }
  const { retcode, stdout, stderr } = await callApt(ctx, ['apt-get', '-q', 'update']);
  if (retcode !== 0) throw commandError(stderr.trim());
  const found = newDict();
  const failed: string[] = [];
  for (const [kind = '', ...rest] of lines(stdout).map(words)) {
    const repository = rest.join(' ').replace(/ \[.+B\]$/, '');
    const verdict: Value | undefined = kind.includes('Get')
      ? true
      : kind.includes('Hit')
        ? null
        : /Ign|Err/.test(kind)
          ? false
          : undefined;
    if (verdict === undefined) continue;
    found[repository] = verdict;
    if (kind.includes('Err')) failed.push(repository);
  }
  if (failHard && failed.length > 0) throw commandError(`Error getting repos: ${failed.join(', ')}`);
  return found;
}

/** The version that apt would install, or ''. */
export async function candidateOf(name: string, fromRepo: string | null, ctx: ModuleContext): Promise<string> {
  const repo = fromRepo ? ['-o', `APT::Default-Release=${fromRepo}`] : [];
  const { stdout } = await callApt(ctx, ['apt-cache', '-q', ...repo, 'policy', '--', name]);
  const line = lines(stdout).find((row) => row.includes('Candidate'));
  const candidate = line ? (words(line).at(-1) ?? '') : '';
  return candidate.toLowerCase() === '(none)' || candidate === 'Candidate:' ? '' : candidate;
}

/** Available versions in the repositories, by package. */
export async function offeredVersions(names: readonly string[], ctx: ModuleContext): Promise<Map<string, string[]>> {
  const command = names.length > 0 ? ['apt-cache', 'show', '--', ...names] : ['apt-cache', 'dump'];
  const { stdout } = await callApt(ctx, command);
  const found = new Map<string, string[]>();
  let current = '';
  for (const line of lines(stdout)) {
    const name = /^Package: (.+)/.exec(line)?.[1];
    const version = /^\s*Version:\s+(.*\S)\s*$/.exec(line)?.[1];
    if (name !== undefined) current = name;
    else if (version !== undefined && current !== '') found.set(current, [...(found.get(current) ?? []), version]);
  }
  return found;
}
