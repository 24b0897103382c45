// Packages kept at their version, where the package manager locks names: what `pkg.hold` and `pkg.unhold` answer.
import { type ModuleContext, newDict, type PlainDict } from 'halite/sdk';

export interface LockTool {
  /** The names that are locked. */
  locked(ctx: ModuleContext): Promise<string[]>;
  /** Locks a name or unlocks it; whether that worked. */
  lock(name: string, hold: boolean, ctx: ModuleContext): Promise<boolean>;
}

export async function setHolds(
  tool: LockTool,
  names: readonly string[],
  hold: boolean,
  ctx: ModuleContext,
): Promise<PlainDict> {
  const before = await tool.locked(ctx);
  const answer = newDict();
  for (const name of names) {
    const idle = before.includes(name) === hold;
    const fine = idle || ctx.test || (await tool.lock(name, hold, ctx));
    const word = hold ? 'held' : 'unheld';
    const unchanged = `Package ${name} is ${hold ? 'already set to be held' : 'not being held'}.`;
    const [now, then] = hold ? ['hold', ''] : ['', 'hold'];
    const changes = idle || !fine ? {} : { new: now, old: then };
    const comment = `Package ${name} ${fine ? 'is now being' : 'was unable to be'} ${word}.`;
    answer[name] = newDict([
      ['name', name],
      ['changes', newDict(Object.entries(changes))],
      ['result', fine],
      ['comment', idle ? unchanged : comment],
    ]);
  }
  return answer;
}
