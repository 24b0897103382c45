// What an extension may ask to find out whether it is of use here.
import type { Dict, Value } from '../../base/codec/value.ts';

export interface Availability {
  readonly grains: Dict;
  readonly opts: Readonly<Record<string, Value>>;
  /** Whether an execution function (`cron.list_tab`) can be called here; the reason when not. */
  readonly callable: (fullName: string) => Promise<true | string>;
}
