// Loads the configuration of salt-api: the master's, with files and a user of its own.

import { prepareMaster } from './master.ts';
import { apiOptions } from './options/api.ts';
import { masterOptions } from './options/index.ts';
import { type MasterOpts, sealOpts } from './opts.ts';
import { applyCommandLine } from './prepare.ts';
import type { LoadedConfig, LoadRequest } from './request.ts';
import { prependRootDir } from './root-dir.ts';
import { deferredOptions } from './shape.ts';

/**
 * Without the file and the stored token of the user who starts it, which Salt's API reads: this process must not hold
 * credentials.
 */
export function loadApiConfig(request: LoadRequest = {}): LoadedConfig<MasterOpts> {
  const { opts, given, report } = prepareMaster(request);
  for (const { name, default: fallback } of apiOptions) opts[name] ??= fallback;
  prependRootDir(opts, ['api_logfile', 'api_pidfile']);
  opts['log_file'] = opts['api_logfile'] ?? null;
  opts['pidfile'] = opts['api_pidfile'] ?? '';
  if (typeof opts['api_user'] === 'string' && opts['api_user'] !== '') opts['user'] = opts['api_user'];
  applyCommandLine(opts, request, masterOptions, report);
  return { opts: sealOpts(opts, given), given, deferred: deferredOptions(opts), ...report };
}
