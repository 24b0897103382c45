// How states of `salt` reach the master, and the announcement every one of them makes.
import {
  HaliteError,
  newDict,
  type OrchestrationServices,
  type PlainDict,
  type StateContext,
  type Value,
} from 'halite/sdk';

/** The master; outside of an orchestration there is none to ask. */
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

/** `salt/run/<jid>/args`: what the orchestration is about to do, for those who watch. */
export async function announce(ctx: StateContext, data: PlainDict): Promise<void> {
  const jid = orchestrationJid(ctx);
  if (jid === null || !ctx.master) return;
  await ctx.master.fireEvent(`salt/run/${String(jid)}/args`, data);
}

/** Entries of a dict without those that have nothing to say. */
export const some = (fields: Readonly<Record<string, Value>>): PlainDict =>
  newDict(Object.entries(fields).filter(([, value]) => value !== null));
