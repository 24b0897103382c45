// Requests of running jobs across the loss of a master: what only reads is asked again of the master that is there then.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { JobLink } from '../link/master-link.ts';
import type { RequestOptions } from '../link/request-channel.ts';

/** Asking twice changes nothing. */
const reads = new Set([
  ...['_serve_file', '_file_find', '_file_hash', '_file_hash_and_stat', '_file_list', '_file_list_emptydirs'],
  ...['_dir_list', '_symlink_list', '_file_envs', '_master_opts', '_master_tops', '_mine_get'],
]);
/** A master that restarts, or the next one, is there sooner. */
const patienceMs = 30_000;
const everyMs = 100;

/** `master` names the one that answers now: it may change between two calls. */
export async function lastingRequest(
  master: () => Pick<JobLink, 'ready' | 'request'>,
  load: PlainDict,
  options: RequestOptions,
): Promise<Value> {
  try {
    return await master().request(load, options);
  } catch (error) {
    if (!reads.has(String(load['cmd'])) || !isLoss(error)) throw error;
    const end = performance.now() + Math.min(patienceMs, options.timeoutMs);
    while (!master().ready) {
      if (performance.now() > end) throw error;
      await sleep(everyMs, undefined, { ref: false });
    }
    return master().request(load, options);
  }
}

const isLoss = (error: unknown): boolean =>
  error instanceof HaliteError && (error.code === 'wire.closed' || error.code === 'wire.timeout');
