// Loads the configuration of the minion.
import { basename, dirname } from 'node:path';
import { newDict, type PlainDict } from '../codec/value.ts';
import { withFolder } from './load-files.ts';
import { programName } from './master.ts';
import { findMinionId, withDomain } from './minion-id.ts';
import { masterOptions, minionOptions } from './options/index.ts';
import { type MinionOpts, sealOpts } from './opts.ts';
import { joinPath } from './paths.ts';
import { applyCommandLine, type Prepared, type ProxyFiles, prepare } from './prepare.ts';
import type { ConfigReport } from './problems.ts';
import type { LoadedConfig, LoadRequest } from './request.ts';
import { prependRootDir } from './root-dir.ts';
import * as shape from './shape.ts';

export interface MinionLoadRequest extends LoadRequest {
  /** The id when no file sets one; used for proxies and tests. */
  readonly minionId?: string;
  /** Store a detected id in the file `minion_id`; the daemon and salt-call do. */
  readonly cacheId?: boolean;
  /** Stop at broken included files, as the daemon does; other programs report them. */
  readonly strictIncludes?: boolean;
}

/** Throws HaliteError for files that are not YAML and for values with which no minion can run. */
export function loadMinionConfig(request: MinionLoadRequest = {}): LoadedConfig<MinionOpts> {
  const { opts, given, report } = prepareMinion(request);
  applyCommandLine(opts, request, minionOptions, report);
  return { opts: sealOpts(opts, given), given, deferred: shape.deferredOptions(opts), ...report };
}

/** The options of the minion before the command line is applied; those of the syndic are based on them. */
export function prepareMinion(request: MinionLoadRequest, proxy?: ProxyFiles): Prepared {
  const words = { own: minionOptions, other: masterOptions };
  const strict = request.strictIncludes === true;
  const prepared = prepare(proxy ? 'proxy' : 'minion', request, words, strict, proxy);
  const { opts, given, report } = prepared;
  opts['__role'] = 'minion';
  opts['__cli'] = programName();
  shape.applyEnvironment(opts, 'minion', report);
  shape.renameBackends(opts);
  setId(opts, request, report);
  appendId(opts);
  shape.shortenSockDir(opts);
  opts['open_mode'] = opts['open_mode'] === true;
  shape.fillModuleDirs(opts);
  const logs = shape.logPaths(opts, ['log_file', 'key_logfile']);
  prependRootDir(opts, ['pki_dir', 'cachedir', 'sock_dir', 'extension_modules', 'pidfile', ...logs]);
  opts['beacons'] ??= newDict();
  if (!Object.hasOwn(given, 'ipc_write_buffer')) opts['ipc_write_buffer'] = 0;
  opts['hash_type'] = String(opts['hash_type']).toLowerCase();
  shape.checkSsl(opts);
  shape.checkDiscovery(opts, true);
  shape.checkAlgorithms(opts, { encryption: 'encryption_algorithm', signing: 'signing_algorithm' });
  opts['__cachedir'] ??= opts['cachedir'] ?? null;
  if (Array.isArray(opts['return'])) opts['return'] = opts['return'].join(',');
  return prepared;
}

function setId(opts: PlainDict, request: MinionLoadRequest, report: ConfigReport): void {
  let isAddress = false;
  if (!opts['id']) {
    if (request.minionId) opts['id'] = request.minionId;
    else {
      const found = findMinionId(opts, request.cacheId === true, report, request.facts);
      opts['id'] = found.id;
      isAddress = found.isAddress;
    }
  }
  const domain = opts['append_domain'];
  if (!isAddress && typeof domain === 'string') opts['id'] = withDomain(String(opts['id']), domain);
}

/** Several minions on one machine: folders get the id as last part, the pid file a folder of its own. */
function appendId(opts: PlainDict): void {
  const id = String(opts['id']);
  const wanted = opts['append_minionid_config_dirs'] as string[];
  for (const name of wanted) {
    const path = String(opts[name] ?? '');
    if (['pki_dir', 'cachedir', 'extension_modules'].includes(name)) opts[name] = joinPath(path, id);
    else if (name === 'default_include') opts[name] = withFolder(path, id);
  }
  if (wanted.includes('pidfile')) {
    const path = String(opts['pidfile']);
    opts['pidfile'] = joinPath(joinPath(joinPath(dirname(path), 'salt'), id), basename(path));
  }
}
