// Loads the configuration of the commands on the master: the master's, and the user's own file.
import { readFileSync, statSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import type { PlainDict } from '../codec/value.ts';
import { isFile, isFolder } from '../util/fs-facts.ts';
import type { Environment } from './load-files.ts';
import { loadMainFile } from './load-files.ts';
import { prepareMaster } from './master.ts';
import { masterOptions, minionOptions } from './options/index.ts';
import { type ClientOpts, sealOpts } from './opts.ts';
import { absolutePath, expandHome, joinPath } from './paths.ts';
import { applyCommandLine } from './prepare.ts';
import type { ConfigReport } from './problems.ts';
import type { LoadedConfig, LoadRequest } from './request.ts';
import { deferredOptions } from './shape.ts';
import { checkOptions } from './validate.ts';

export interface ClientLoadRequest extends LoadRequest {
  /** Home folder of the calling user. */
  readonly home?: string;
}

/** Master configuration, then `~/.config/salt/saltrc` or `~/.saltrc` or SALT_CLIENT_CONFIG. */
export function loadClientConfig(request: ClientLoadRequest = {}): LoadedConfig<ClientOpts> {
  const { opts, given, report, env } = prepareMaster(request);
  const home = request.home ?? env['HOME'] ?? homedir();
  const own = userFile(home, env);
  opts['token_file'] ??= joinPath(own.folder, 'salt_token');
  const user = readUserFile(own.file, env, report);
  // The user's file is applied after the master's; overrides apply to both.
  for (const [name, value] of Object.entries(user))
    if (!Object.hasOwn(request.overrides ?? {}, name)) opts[name] = value;
  opts['token_file'] = absolutePath(expandHome(String(opts['token_file']), home));
  readToken(opts);
  if (opts['interface'] === '0.0.0.0') opts['interface'] = '127.0.0.1';
  else if (opts['interface'] === '::') opts['interface'] = '::1';
  opts['master_uri'] ??= `tcp://${bracketed(String(opts['interface']))}:${String(opts['ret_port'])}`;
  applyCommandLine(opts, request, masterOptions, report);
  return { opts: sealOpts(opts, given), given: Object.assign(given, user), deferred: deferredOptions(opts), ...report };
}

function userFile(home: string, env: Environment): { folder: string; file: string } {
  const xdg = joinPath(env['XDG_CONFIG_HOME'] ?? joinPath(home, '.config'), 'salt');
  if (isFolder(xdg)) return { folder: xdg, file: joinPath(xdg, 'saltrc') };
  return { folder: home, file: joinPath(home, '.saltrc') };
}

function readUserFile(file: string, env: Environment, report: ConfigReport): PlainDict {
  const values = loadMainFile(file, env['SALT_CLIENT_CONFIG'], file, report);
  const origin = String(values['conf_file'] ?? file);
  const origins = new Map(Object.keys(values).map((name) => [name, origin]));
  return checkOptions(values, { own: masterOptions, other: minionOptions }, origins, report);
}

/** A stored token is used until it is older than `token_expire`. */
function readToken(opts: PlainDict): void {
  const file = String(opts['token_file']);
  if (!isFile(file)) return;
  try {
    const { mtimeMs } = statSync(file);
    if (mtimeMs / 1000 + Number(opts['token_expire'] ?? 43200) > Date.now() / 1000) {
      opts['token'] = readFileSync(file, 'utf8').trim();
    }
  } catch {
    // The token belongs to another user: this user has to log in again.
  }
}

// The cheap test first: loading Node's own test takes milliseconds.
const bracketed = (host: string): string => (host.includes(':') && isIPv6(host) ? `[${host}]` : host);
