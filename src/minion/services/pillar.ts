// Requests this minion's pillar from a master.
import { type Dict, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { RequestChannel } from '../link/request-channel.ts';

export interface PillarRequest {
  readonly override?: Dict;
  readonly pillarenv?: string;
  readonly saltenv?: string;
  /** An additional external pillar to compile (`pillar.ext`), if the master allows it. */
  readonly ext?: Value;
}

/** The compiled pillar, verified. Errors of the master's compiler are in it, under `_errors`. */
export async function fetchPillar(
  channel: Pick<RequestChannel, 'requestPrivate'>,
  opts: MinionOpts,
  grains: PlainDict,
  request: PillarRequest,
  signal?: AbortSignal,
): Promise<Dict> {
  const environment = (given: string | undefined, name: string): Value => given ?? opts.get(name) ?? null;
  const load = newDict([
    ['id', opts.id],
    ['grains', grains],
    ['saltenv', environment(request.saltenv, 'saltenv')],
    ['pillarenv', environment(request.pillarenv, 'pillarenv')],
    ['pillar_override', request.override ?? newDict()],
    ['extra_minion_data', newDict()],
    ...(request.ext === undefined ? [] : [['ext', request.ext] as [string, Value]]),
    ['ver', '2'],
    ['cmd', '_pillar'],
  ]);
  const timeoutMs = opts.request_channel_timeout * 1000;
  const pillar = await channel.requestPrivate(load, { timeoutMs, ...(signal ? { signal } : {}) });
  if (isDict(pillar)) return pillar;
  throw new HaliteError('call.failed', 'The master sent no pillar');
}

/** Logs what the master could not compile; a minion with an incomplete pillar must not look healthy. */
export function reportPillarErrors(pillar: Dict, log: Logger): void {
  const errors = dictGet(pillar, '_errors');
  if (!Array.isArray(errors) || errors.length === 0) return;
  log.error('The pillar has errors', { errors: errors.map(String) });
}
