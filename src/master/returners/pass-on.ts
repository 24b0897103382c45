// Results that a minion with `return_via_master` asks the master to hand to returners.
import { dictGet, isDict, newDict, type PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { isAdopted } from '../../protocol/job/adopted-job.ts';
import type { MinionReturn } from '../../protocol/wire/messages/minion-loads.ts';
import type { Master } from '../core.ts';

/** Resolves when the result is safe in the spools of its returners. */
export async function passOn(master: Master, ret: MinionReturn): Promise<void> {
  if (ret.returners.length === 0) return;
  try {
    const names = ret.returners.filter((name) => isAllowed(master, name));
    if (names.length === 0) return;
    const options = await jobOptions(master, ret.jid);
    await Promise.all(names.map((name) => master.sinks.pass(name, ret.load, options)));
  } catch (error) {
    const fields = { minion: ret.id, error: messageOf(error) };
    master.log.limited('pass-on', 'error', 'a result could not be handed to its returner', fields);
  }
}

function isAllowed(master: Master, name: string): boolean {
  const { via } = master.returnerSettings;
  if (via === true || (via !== false && via.includes(name))) return true;
  master.log.limited(`via:${name}`, 'warn', 'a minion asks for a returner that return_via_master does not allow', {
    returner: name.slice(0, 80),
  });
  return false;
}

/**
 * Options for one job count only when it was published here, where somebody with full rights gave them: what a minion
 * says about addresses and files of the master does not, neither in its result nor in a run of its own.
 */
async function jobOptions(master: Master, jid: string): Promise<{ config?: string; kwargs?: PlainDict }> {
  const job = await master.store.load(jid);
  if (!job || isAdopted(job)) return {};
  const config = dictGet(job, 'ret_config');
  const kwargs = dictGet(job, 'ret_kwargs');
  return {
    ...(typeof config === 'string' && config !== '' ? { config } : {}),
    ...(isDict(kwargs) && !(kwargs instanceof Map) ? { kwargs: newDict(Object.entries(kwargs)) } : {}),
  };
}
