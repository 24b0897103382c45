// Which jobs a filter matches: globs for functions and targets, metadata, times by jid; one rule for every store.
import { type Dict, dictEntries, dictGet, isDict, type Value } from '../../base/codec/value.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import { jidOf } from '../../base/util/jid.ts';
import { pyDictGet, pyEquals } from '../../base/util/py-equals.ts';
import type { JobFilter } from './context.ts';
import { metadataOf } from './shown-job.ts';

/** The fields of a job that a filter uses. */
export interface JobTraits {
  readonly fun: string;
  readonly targets: readonly string[];
  readonly metadata: Value | undefined;
}

/** The conditions that need the fields of the job; times and counts do not. */
export type JobConditions = Pick<JobFilter, 'functions' | 'targets' | 'metadata'>;

export function traitsOf(load: Dict): JobTraits {
  const [fun, tgt] = [dictGet(load, 'fun'), dictGet(load, 'tgt')];
  return {
    fun: Array.isArray(fun) ? fun.join(',') : String(fun ?? ''),
    targets: Array.isArray(tgt) ? tgt.map(String) : [String(tgt ?? '')],
    metadata: metadataOf(load),
  };
}

export const hasConditions = ({ functions, targets, metadata }: JobConditions): boolean =>
  functions !== undefined || targets !== undefined || metadata !== undefined;

/** Salt's rule: one of the globs for the function, one for one of the targets, and one equal pair of the metadata. */
export function jobTest({ functions, targets, metadata }: JobConditions): (job: JobTraits) => boolean {
  const [byFunction, byTarget] = [functions?.map(globMatcher), targets?.map(globMatcher)];
  const pairs = metadata && dictEntries(metadata);
  const hasPair = (own: Value | undefined): boolean =>
    isDict(own) &&
    (pairs ?? []).some(([key, value]) => {
      const known = pyDictGet(own, key);
      return known !== undefined && pyEquals(known, value);
    });
  return (job) =>
    (!byFunction || byFunction.some((fits) => fits(job.fun))) &&
    (!byTarget || job.targets.some((target) => byTarget.some((fits) => fits(target)))) &&
    (!pairs || hasPair(job.metadata));
}

/** The first and the last jid of the requested time; a millisecond counts as a whole. */
export function jidRange({ startAfter, startBefore }: JobFilter): [from: string, to: string] {
  const from = startAfter ? jidOf(startAfter.getTime() * 1000) : '';
  // Sorts after every digit and every suffix of a jid.
  const to = startBefore ? `${jidOf(startBefore.getTime() * 1000 + 999)}~` : '~';
  return [from, to];
}
