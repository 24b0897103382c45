// The filter of the list of jobs as an SQL function: jobs that do not match are never read.
import { parseDict, parseValue } from '../../base/codec/json/index.ts';
import { type JobConditions, jobTest } from '../../extend/sdk/job-filter.ts';
import type { SqlValue } from './driver.ts';

let known: { readonly text: SqlValue; readonly test: ReturnType<typeof jobTest> } | undefined;

/** `job_fits(conditions, fun, tgt, meta)`: the conditions are the same for every row of a query. */
export function jobFits(conditions: SqlValue, fun: SqlValue, tgt: SqlValue, meta: SqlValue): SqlValue {
  if (known?.text !== conditions) {
    known = { text: conditions, test: jobTest(parseDict(conditions) as unknown as JobConditions) };
  }
  const metadata = typeof meta === 'string' ? parseValue(meta) : undefined;
  return known.test({ fun: String(fun), targets: targetsOf(String(tgt)), metadata }) ? 1 : 0;
}

/** Most are a list of one plain name. */
function targetsOf(text: string): string[] {
  if (!text.includes('\\') && text.indexOf('"', 2) === text.length - 2) return [text.slice(2, -2)];
  return (parseValue(text) as unknown[]).map(String);
}
