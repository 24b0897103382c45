// The policy of a chain, with the words that `iptables.set_policy` and `nftables.set_policy` have in common.
import { newDict, type PlainDict, type StateContext, type StateResult } from 'halite/sdk';

export const changedRule = (what: string): PlainDict => newDict([['locale', what]]);

export interface PolicyChange {
  readonly tool: 'iptables' | 'nftables';
  readonly name: string;
  readonly table: string;
  readonly family: string;
  readonly chain: string;
  readonly policy: string;
  readonly isSet: boolean;
  /** Sets it; whether that worked. */
  set(): Promise<boolean>;
  /** Writes all rules down, where asked to. */
  readonly save: (() => Promise<unknown>) | undefined;
}

export async function changePolicy(
  { tool, name, table, family, chain, policy, isSet, set, save }: PolicyChange,
  ctx: StateContext,
): Promise<StateResult> {
  const about = `${tool} default policy for chain ${chain} on table ${table} for ${family}`;
  if (isSet) return ctx.ok(`${about} already set to ${policy}`);
  return ctx.change(changedRule(name), `Set default policy for ${chain} to ${policy} family ${family}`, {
    test: `${about} needs to be set to ${policy}`,
    testChanges: newDict(),
    async apply() {
      if (!(await set())) return ctx.fail(`Failed to set ${tool} default policy`);
      if (!save) return undefined;
      await save();
      return ctx.ok(`Set and saved default policy for ${chain} to ${policy} family ${family}`, {
        changes: changedRule(name),
      });
    },
  });
}
