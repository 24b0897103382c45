// A process that compiles pillars: one loader, one set of repositories, for all compilations.
import { join } from 'node:path';
import { newDict, type Value } from '../../base/codec/value.ts';
import { Loader, sdkUrl } from '../../extend/loader/index.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import { execProgram } from '../exec/index.ts';
import { providePython } from '../python/index.ts';
import { pillarFunctions } from './functions.ts';
import { GitFolders } from './git-folders.ts';
import type { PillarHost } from './types.ts';

export interface ProcessHost {
  /** The host for one compilation, which `signal` aborts. */
  host(signal?: AbortSignal): PillarHost;
}

export function createProcessHost(opts: Readonly<Record<string, Value>>, log: ExtensionLog): ProcessHost {
  const sdk = sdkUrl();
  // One worker for all compilations of this process; it is not kept while nobody needs it.
  const python = providePython({ opts: () => opts, log, workers: 'shared', idleMs: 30_000 });
  const loader = new Loader({
    opts: () => opts,
    grains: () => newDict(),
    log,
    userCode: 'import',
    python: python.source,
    ...(sdk ? { sdkUrl: sdk } : {}),
  });
  const git = new GitFolders(join(String(opts['cachedir'] ?? '.'), 'git_pillar'), log);
  const cache = new Map<string, unknown>();
  return {
    host: (signal) => ({
      loader,
      log,
      signal,
      cache,
      exec: (file, args, options = {}) => execProgram(file, args, options, signal),
      functions: (own, grains) => pillarFunctions({ loader, log, signal }, own, grains),
      gitFolder: (request) => git.get(request),
      gitUpdate: (request) => git.update(request),
    }),
  };
}
