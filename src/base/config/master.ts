// Loads the configuration of the master.
import { dictHas, isDict, type PlainDict, type Value } from '../codec/value.ts';
import { boundedRegex } from '../util/bounded-regex.ts';
import { findMinionId, withDomain } from './minion-id.ts';
import { masterOptions, minionOptions } from './options/index.ts';
import { lazyOption, type MasterOpts, sealOpts } from './opts.ts';
import { joinPath } from './paths.ts';
import { applyCommandLine, type Prepared, prepare } from './prepare.ts';
import { ConfigReport } from './problems.ts';
import type { LoadedConfig, LoadRequest } from './request.ts';
import { prependRootDir } from './root-dir.ts';
import * as shape from './shape.ts';
import { checkSshMinionOpts } from './ssh-minion-opts.ts';

const rootedPaths = [
  'pki_dir',
  'cachedir',
  'pidfile',
  'sock_dir',
  'extension_modules',
  'autosign_file',
  'autoreject_file',
  'token_dir',
  'syndic_dir',
  'sqlite_queue_dir',
  'autosign_grains_dir',
];

/** Throws HaliteError for files that are not YAML and for values with which no master can run. */
export function loadMasterConfig(request: LoadRequest = {}): LoadedConfig<MasterOpts> {
  const prepared = prepareMaster(request);
  const { opts, report, given } = prepared;
  applyCommandLine(opts, request, masterOptions, report);
  return { opts: sealOpts(opts, given), given, deferred: shape.deferredOptions(opts), ...report };
}

/**
 * The options of the master before the command line is applied and the options are frozen; the client configuration is
 * based on them.
 */
export function prepareMaster(request: LoadRequest): Prepared {
  const prepared = prepare('master', request, { own: masterOptions, other: minionOptions }, false);
  const { opts, given, report } = prepared;
  opts['__role'] = 'master';
  opts['__fs_update'] = true;
  opts['__cli'] = programName();
  keepAclForRest(opts, report);
  shape.applyEnvironment(opts, 'master', report);
  shape.renameBackends(opts);
  shape.shortenSockDir(opts);
  opts['token_dir'] = joinPath(String(opts['cachedir']), 'tokens');
  opts['syndic_dir'] = joinPath(String(opts['cachedir']), 'syndics');
  shape.fillModuleDirs(opts);
  if (!Object.hasOwn(given, 'ipc_write_buffer')) opts['ipc_write_buffer'] = 0;
  setId(opts, request);
  const logs = shape.logPaths(opts, ['log_file', 'key_logfile', 'ssh_log_file']);
  prependRootDir(opts, [...rootedPaths, ...logs]);
  settleCluster(opts, report);
  opts['open_mode'] = opts['open_mode'] === true;
  opts['auto_accept'] = opts['auto_accept'] === true;
  keepValidPatterns(opts, report);
  enoughWorkers(opts, report);
  opts['hash_type'] = String(opts['hash_type']).toLowerCase();
  shape.checkSsl(opts);
  shape.checkDiscovery(opts, false);
  shape.checkAlgorithms(opts, { encryption: 'cluster_encryption_algorithm', signing: 'publish_signing_algorithm' });
  checkSshMinionOpts(opts, report);
  opts['nodegroups'] = shape.repackDictList(opts['nodegroups'] as Value);
  return prepared;
}

export function programName(): string {
  const path = process.argv[1] ?? '';
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The master's id is the host name with `_master`; it is computed when it is first read. */
function setId(opts: PlainDict, request: LoadRequest): void {
  const domain = opts['append_domain'];
  const complete = (id: string): string => (typeof domain === 'string' ? withDomain(id, domain) : id);
  if (opts['id']) {
    opts['id'] = complete(String(opts['id']));
    return;
  }
  lazyOption(opts, 'id', () => {
    const found = findMinionId(opts, false, new ConfigReport(), request.facts);
    return `${found.isAddress ? found.id : complete(found.id)}_master`;
  });
}

/** The REST login stores no password, so the permissions have to be part of the token. */
function keepAclForRest(opts: PlainDict, report: ConfigReport): void {
  const auth = opts['external_auth'];
  if (!isDict(auth) || !dictHas(auth, 'rest')) return;
  if (opts['keep_acl_in_token'] === false) {
    report.warn(
      'value',
      "The 'rest' external_auth backend requires 'keep_acl_in_token' to be True. Setting 'keep_acl_in_token' to True.",
    );
  }
  opts['keep_acl_in_token'] = true;
}

function settleCluster(opts: PlainDict, report: ConfigReport): void {
  const some = (name: string): boolean => {
    const value = opts[name];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  };
  if (opts['cluster_id'] !== null) {
    if (!some('cluster_peers') && !some('cluster_secret')) {
      report.warn('value', 'Cluster id defined without defining cluster peers');
    }
    if (some('cluster_pki_dir')) return;
    report.warn('value', 'Cluster id defined without defining cluster pki, falling back to pki_dir');
    opts['cluster_pki_dir'] = opts['pki_dir'] as Value;
    return;
  }
  if (some('cluster_peers')) {
    report.warn('value', 'Cluster peers defined without a cluster_id, ignoring.');
    opts['cluster_peers'] = [];
  }
  if (some('cluster_pki_dir')) {
    report.warn('value', 'Cluster pki dir defined without a cluster_id, ignoring.');
    opts['cluster_pki_dir'] = null;
  }
}

function keepValidPatterns(opts: PlainDict, report: ConfigReport): void {
  const patterns = opts['file_ignore_regex'] as string[];
  opts['file_ignore_regex'] = patterns.filter((pattern) => {
    try {
      boundedRegex(pattern, 'search');
      return true;
    } catch {
      report.warn('value', `Unable to parse file_ignore_regex. Skipping: ${pattern}`, { option: 'file_ignore_regex' });
      return false;
    }
  });
}

/** Peer publishing needs a worker for the caller, one for the job and one for the returns. */
function enoughWorkers(opts: PlainDict, report: ConfigReport): void {
  const peer = opts['peer'];
  if (Number(opts['worker_threads']) >= 3 || !isDict(peer) || Object.keys(peer).length === 0) return;
  report.warn(
    'value',
    `The 'worker_threads' setting in '${String(opts['conf_file'])}' cannot be lower than 3. Resetting it to the default value of 3.`,
    { option: 'worker_threads' },
  );
  opts['worker_threads'] = 3;
}
