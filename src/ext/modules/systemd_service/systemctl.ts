// Calls of systemctl with the options Salt gives them.

import { join } from 'node:path';
import { commandError, type ExecResult, type ModuleContext } from 'halite/sdk';
import { accessSync, constants, pathExists } from 'halite/sdk/fs';
import { requireTool, which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { unitName } from './units.ts';

export const isBooted = (): boolean => pathExists('/run/systemd/system');
const isTold = (): boolean => ['1', 'true', 'yes', 'on'].includes((process.env['SYSTEMD_OFFLINE'] ?? '').toLowerCase());

/** The path of systemctl when systemd does not run, as in a container or while an image is built. */
export const offlineTool = (): string | null => (isBooted() && !isTold() ? null : which('systemctl'));
export const isOffline = (): boolean => offlineTool() !== null;

export interface CallOptions {
  /** Runs outside the minion's control group, so that restarting the minion does not end the call. */
  readonly scope?: boolean;
  readonly noBlock?: boolean;
  readonly root?: string | null;
  readonly merge?: boolean;
}

/** Runs systemctl. The job's return code is left alone; callers decide what a failure means. */
export async function systemctl(
  ctx: ModuleContext,
  action: readonly string[],
  name: string | null,
  options: CallOptions = {},
): Promise<ExecResult> {
  const before: string[] = [];
  if (options.scope && isBooted() && (await ctx.call('config.get', 'systemd.scope', true)) !== false) {
    const run = which('systemd-run');
    if (!run) {
      throw commandError(
        "systemd-run is required for running systemctl with --scope, but it was not found on the system. Make sure systemd-run is installed and in the system's PATH or disable it using the 'systemd.scope' config option.",
      );
    }
    before.push(run, '--scope');
  }
  const unit = name === null ? [] : ['--', unitName(name)];
  const command = [
    ...before,
    requireTool('systemctl'),
    ...(options.noBlock ? ['--no-block'] : []),
    ...(options.root ? ['--root', options.root] : []),
    ...action,
    ...unit,
  ];
  return ctx.exec(command[0] as string, command.slice(1), {
    mergeStderr: options.merge,
    env: { LC_ALL: 'C', LANGUAGE: 'C' },
  });
}

/** Error output without the lines of systemd-run about its scope. */
export function withoutScope(text: string): string {
  return lines(text)
    .filter((line) => !line.endsWith('.scope'))
    .join('\n')
    .trim();
}

const status = (ctx: ModuleContext, name: string): Promise<ExecResult> =>
  systemctl(ctx, ['status', '-n', '0'], name, { merge: true });

export async function isAvailable(name: string, ctx: ModuleContext): Promise<boolean> {
  if (isOffline()) throw commandError(`Cannot run in offline mode. Failed to get information on unit '${name}'`);
  const { retcode } = await status(ctx, name);
  return retcode >= 0 && retcode < 4;
}

export async function daemonReload(ctx: ModuleContext): Promise<true> {
  const { retcode, stdout } = await systemctl(ctx, ['--system', 'daemon-reload'], null, { merge: true });
  if (retcode !== 0) throw commandError(`Problem performing systemctl daemon-reload: ${stdout.trim()}`);
  return true;
}

function readable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** systemd does not notice new and changed unit files without this. */
export async function noticeChanges(name: string, ctx: ModuleContext): Promise<void> {
  if (isOffline()) return;
  const { retcode, stdout } = await status(ctx, name);
  const isNew = readable(join('/etc/systemd/system', unitName(name))) && !(retcode >= 0 && retcode < 4);
  if (isNew || stdout.toLowerCase().includes("'systemctl daemon-reload'")) await daemonReload(ctx);
}
