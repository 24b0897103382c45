// The pillar of a minion without a master (`salt-call --local`, `file_client: local`): compiled from its own folders.
import { asText, type Dict, newDict, type Value } from '../../base/codec/value.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import { compilePillar } from './compile.ts';
import { createProcessHost } from './process-host.ts';

export interface LocalPillarOptions {
  readonly log: ExtensionLog;
  readonly saltenv?: string | undefined;
  readonly pillarenv?: string | undefined;
  readonly override?: Value | undefined;
  readonly ext?: Value | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Compiles in this process. Errors are in `_errors` of the result. */
export function compilePillarLocally(
  opts: Readonly<Record<string, Value>>,
  grains: Dict,
  options: LocalPillarOptions,
): Promise<Dict> {
  const { log, signal, override } = options;
  const own = newDict(Object.entries(opts));
  return compilePillar(createProcessHost(own, log).host(signal), own, {
    minionId: String(opts['id'] ?? ''),
    grains,
    saltenv: options.saltenv ?? asText(opts['saltenv']),
    pillarenv: options.pillarenv ?? asText(opts['pillarenv']),
    override,
    ext: options.ext,
  });
}
