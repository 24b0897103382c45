// Access of `salt` states to the master, and the event that each of them fires.
import {
  HaliteError,
  newDict,
  type OrchestrationServices,
  type PlainDict,
  type StateContext,
  type Value,
} from 'halite/sdk';

/** The master; available only in an orchestration. */
export function masterOf(ctx: StateContext): OrchestrationServices {
  if (ctx.master) return ctx.master;
  throw new HaliteError(
    'call.failed',
    'This state acts on other minions and works only in an orchestration on the master',
    {
      hint: 'Run it with `salt-run state.orchestrate`.',
    },
  );
}

/** A minion without a master applies states of `salt.state` to itself. */
export const isMasterless = (ctx: StateContext): boolean => !ctx.master && ctx.opts['file_client'] === 'local';

export const orchestrationJid = (ctx: StateContext): Value => ctx.low['__orchestration_jid__'] ?? null;

/** Fires `salt/run/<jid>/args`: the next step of the orchestration. */
export async function announce(ctx: StateContext, data: PlainDict): Promise<void> {
  const jid = orchestrationJid(ctx);
  if (jid === null || !ctx.master) return;
  await ctx.master.fireEvent(`salt/run/${String(jid)}/args`, data);
}

/** Entries of a dict without empty ones. */
export const some = (fields: Readonly<Record<string, Value>>): PlainDict =>
  newDict(Object.entries(fields).filter(([, value]) => value !== null));
