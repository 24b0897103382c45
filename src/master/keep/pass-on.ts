// Results that a minion with `return_via_master` asks the master to hand to returners.
import { dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Master } from '../core.ts';

/** The field of a return load that names the returners; no store and nobody else sees it. */
const field = 'returners';

/** For a result that was passed on before. */
export function dropWish(load: PlainDict): void {
  delete load[field];
}

/** Resolves when the result is safe in the spools of its returners. */
export async function passOn(master: Master, load: PlainDict): Promise<void> {
  const wish = load[field];
  dropWish(load);
  if (!isDict(wish)) return;
  try {
    const names = textsOf(dictGet(wish, 'names')).filter((name) => isAllowed(master, name));
    if (names.length === 0) return;
    const copy = { ...load };
    const options = await jobOptions(master, String(load['jid']));
    await Promise.all(names.map((name) => master.keeper.pass(name, copy, options)));
  } catch (error) {
    const fields = { minion: String(load['id']), error: messageOf(error) };
    master.log.limited('pass-on', 'error', 'a result could not be handed to its returner', fields);
  }
}

function isAllowed(master: Master, name: string): boolean {
  const { via } = master.keep;
  if (via === true || (via !== false && via.includes(name))) return true;
  master.log.limited(`via:${name}`, 'warn', 'a minion asks for a returner that return_via_master does not allow', {
    returner: name.slice(0, 80),
  });
  return false;
}

/**
 * Options for one job count only when the operator gave them with the job: what a minion says about addresses and files
 * of the master does not.
 */
async function jobOptions(master: Master, jid: string): Promise<{ config?: string; kwargs?: PlainDict }> {
  const job = await master.store.load(jid);
  const config = job && dictGet(job, 'ret_config');
  const kwargs = job && dictGet(job, 'ret_kwargs');
  return {
    ...(typeof config === 'string' && config !== '' ? { config } : {}),
    ...(isDict(kwargs) && !(kwargs instanceof Map) ? { kwargs: newDict(Object.entries(kwargs)) } : {}),
  };
}

const textsOf = (value: Value | undefined): string[] =>
  Array.isArray(value) ? [...new Set(value.filter((name) => typeof name === 'string'))].slice(0, 16) : [];
