// User, working directory and environment of a command.
import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { commandError, dictEntries, isDict, type ModuleContext, pyStr, type Value } from 'halite/sdk';
import { accessSync, constants, isDirectory } from 'halite/sdk/fs';
import { allGroups, groupByName, type User, userByName, which } from 'halite/sdk/system';
import type { RunArgs } from './params.ts';

export type Environment = Record<string, string>;

export interface Identity {
  readonly user?: User;
  readonly uid?: number;
  readonly gid?: number;
  readonly groups?: readonly number[];
}

/** The requested user and groups; undefined when the command runs as the minion's user. */
export function identityOf(args: RunArgs): Identity {
  const user = args.runas ? userByName(args.runas) : undefined;
  if (args.runas && !user) throw commandError(`User '${args.runas}' is not available`);
  const group = args.group ? groupByName(args.group) : undefined;
  if (args.group && !group) throw commandError(`Group '${args.group}' is not available`);
  if (!user) return group ? { gid: group.gid } : {};
  const gid = group?.gid ?? user.gid;
  const member = allGroups().filter((entry) => entry.members.includes(user.name) || entry.gid === user.gid);
  return { user, uid: user.uid, gid, groups: [...new Set(member.map((entry) => entry.gid))] };
}

function readable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK);
    return isDirectory(folder);
  } catch {
    return false;
  }
}

/** The folder to run in: the one given, else the home of the user, else `/`. */
export function workingFolder(cwd: string | null | undefined, user: User | undefined): string {
  if (!cwd) {
    const home = user ? user.home : homedir();
    return readable(home) ? home : '/';
  }
  if (!isAbsolute(cwd) || !isDirectory(cwd))
    throw commandError(`Specified cwd '${cwd}' either not absolute or does not exist`);
  return cwd;
}

const localeVariables = [
  ...['LC_CTYPE', 'LC_NUMERIC', 'LC_TIME', 'LC_COLLATE', 'LC_MONETARY', 'LC_MESSAGES', 'LC_PAPER', 'LC_NAME'],
  ...['LC_ADDRESS', 'LC_TELEPHONE', 'LC_MEASUREMENT', 'LC_IDENTIFICATION', 'LANGUAGE'],
];

/** The `env` argument: a dictionary, or a list of one-key dictionaries. */
export function parseEnv(env: Value | undefined): Environment {
  const dicts = Array.isArray(env) ? env : [env ?? null];
  const found: Environment = Object.create(null);
  for (const dict of dicts) {
    if (!isDict(dict)) continue;
    for (const [key, value] of dictEntries(dict)) found[pyStr(key)] = value === null ? '' : pyStr(value);
  }
  return found;
}

/** The login environment of the user; if no login is possible, the variables that the minion knows. */
async function loginEnvironment(user: User, shell: string, ctx: ModuleContext): Promise<Environment> {
  const found: Environment = Object.create(null);
  const su = which('su');
  if (su) {
    // Markers separate the variables from other output of login scripts.
    const marker = `<<<${randomUUID()}>>>`;
    const ask = `printf %s '${marker}'; env -0; printf %s '${marker}'`;
    const { stdout } = await ctx.exec(su, ['-s', shell, '-', user.name, '-c', ask], { timeoutMs: 30_000 });
    for (const pair of (stdout.split(marker)[1] ?? '').split('\0')) {
      const at = pair.indexOf('=');
      if (at > 0) found[pair.slice(0, at)] = pair.slice(at + 1);
    }
  }
  found['PATH'] ??= '/usr/local/bin:/usr/bin:/bin';
  found['USER'] = user.name;
  found['LOGNAME'] ??= user.name;
  found['HOME'] = user.home;
  return found;
}

/** The complete environment of the command. */
export async function environmentOf(
  args: RunArgs,
  user: User | undefined,
  shell: string,
  ctx: ModuleContext,
): Promise<Environment> {
  const given = parseEnv(args.env);
  const base = user ? { ...(await loginEnvironment(user, shell, ctx)), ...given } : given;
  if (args.reset_system_locale !== false) for (const name of localeVariables) base[name] ??= 'C';
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const env: Environment = args.clean_env
    ? base
    : Object.assign(Object.create(null), Object.fromEntries(inherited), base);
  if (args.prepend_path) env['PATH'] = `${args.prepend_path}:${env['PATH'] ?? ''}`;
  // systemd must not mistake a message of the child for one of the minion.
  if (!('NOTIFY_SOCKET' in given)) delete env['NOTIFY_SOCKET'];
  return env;
}
