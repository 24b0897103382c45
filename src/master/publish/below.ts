// What a job needs on its way to lower masters: the fields that Salt sends with it.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import type { AskedJob, JobOptions } from '../../protocol/job/job.ts';
import type { LowerMasters } from '../lower-masters/lower-masters.ts';

export interface BelowParts {
  readonly opts: Pick<MasterOpts, 'timeout' | 'master_id'>;
  readonly lower?: Pick<LowerMasters, 'on' | 'ids' | 'via' | 'isNoMinion' | 'gather'>;
}

/** The name of this master, with which results find their way back; a job from above keeps the name of its master. */
export function masterName(opts: BelowParts['opts'], options: JobOptions | undefined): JobOptions | undefined {
  return opts.master_id ? { master_id: opts.master_id, ...options } : options;
}

/** How long the lower masters may wait, and what the user may do there. */
export function orderFields(parts: BelowParts, { authList, timeoutSeconds }: AskedJob): PlainDict | undefined {
  if (!parts.lower?.on) return undefined;
  return newDict([
    ['to', Math.round(timeoutSeconds ?? parts.opts.timeout)],
    ['auth_list', [...(authList ?? [])]],
  ]);
}

/** Whether lower masters may have minions of a job; one for a limited choice of minions of this master stays here. */
export function goesBelow({ lower }: BelowParts, { only, subset }: AskedJob): boolean {
  return lower?.on === true && only === undefined && !subset && lower.ids().length > 0;
}
