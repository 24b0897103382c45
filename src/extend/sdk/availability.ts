// Queries with which an extension decides whether it is usable on this machine.
import type { Dict, Value } from '../../base/codec/value.ts';

export interface Availability {
  readonly grains: Dict;
  readonly opts: Readonly<Record<string, Value>>;
  /** Whether an execution function (`cron.list_tab`) can be called; the reason when not. */
  readonly callable: (fullName: string) => Promise<true | string>;
}
