// Loads the configuration of salt-syndic: towards its higher masters it is a minion, with the id and the key of the
// minion of this machine; where those masters are, and its files, are options of the master.
import { dictGet } from '../codec/value.ts';
import { loadMasterConfig } from './master.ts';
import { prepareMinion } from './minion.ts';
import { minionOptions } from './options/index.ts';
import { type MasterOpts, type MinionOpts, sealOpts } from './opts.ts';
import { applyCommandLine } from './prepare.ts';
import type { LoadedConfig, LoadRequest } from './request.ts';
import { prependRootDir } from './root-dir.ts';
import { deferredOptions, logPaths } from './shape.ts';

/** The options of the link upwards, and beside them those of the master on this machine. */
export interface LoadedSyndic extends LoadedConfig<MinionOpts> {
  readonly master: MasterOpts;
}

export function loadSyndicConfig(request: LoadRequest = {}): LoadedSyndic {
  const { cli: _cli, ...files } = request;
  const { opts: master, problems } = loadMasterConfig(files);
  const { opts, given, report } = prepareMinion({ ...files, cacheId: true });
  const port = master.syndic_master_port;
  Object.assign(opts, {
    __role: 'syndic',
    master: master.syndic_master,
    // Salt's order: several masters are used at once, in whatever way the minion uses its own.
    master_type: 'str',
    ...(port === undefined ? {} : { master_port: port }),
    pidfile: master.syndic_pidfile,
    log_file: master.syndic_log_file,
    log_level: master.log_level,
    log_level_logfile: dictGet(master.raw, 'log_level_logfile') ?? null,
    user: master.syndic_user ?? master.user,
    cachedir: master.cachedir,
    master_finger: String(opts['syndic_finger'] || ''),
  });
  prependRootDir(opts, ['pidfile', ...logPaths(opts, ['log_file'])]);
  applyCommandLine(opts, request, minionOptions, report);
  const all = { ...report, problems: [...problems, ...report.problems] };
  return { opts: sealOpts(opts, given), given, deferred: deferredOptions(opts), ...all, master };
}
