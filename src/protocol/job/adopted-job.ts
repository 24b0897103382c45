// A run that a minion started by itself (`salt-call`, its schedule) and that the master keeps as a job.
import { type Dict, dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { generateJid } from '../../base/util/jid.ts';

const text = (value: Value): boolean => typeof value === 'string';
const list = (value: Value): boolean => Array.isArray(value);
/** What a minion may say about such a run. Options of returners are not among it: they count only in jobs of the master. */
const minionFields: Readonly<Record<string, (value: Value) => boolean>> = {
  fun: (value) => text(value) || (Array.isArray(value) && value.every(text)),
  fun_args: list,
  metadata: () => true,
  schedule: text,
  user: text,
};

/** In the record of an adopted job, as in Salt's; no published job has it. */
const command = '_return';

/** The record of a run on one minion, under a jid that the master chose or checked. */
export function adoptedJob(load: Dict, id: string, jid: string): PlainDict {
  const given = Object.entries(minionFields).flatMap(([name, fits]) => {
    const value = dictGet(load, name);
    return value !== undefined && fits(value) ? [[name, value] as const] : [];
  });
  const arg = [dictGet(load, 'arg'), dictGet(load, 'fun_args')].find((value) => Array.isArray(value)) ?? [];
  return newDict([
    ['cmd', command],
    ...given,
    ['id', id],
    ['jid', jid],
    ['arg', arg],
    ['tgt', id],
    ['tgt_type', 'glob'],
  ]);
}

/** Whether the record of a job is what a minion told, and not what this master published. */
export const isAdopted = (load: Dict): boolean => dictGet(load, 'cmd') === command;

/** A jid that this master may still make: no minion can have run a job of that name. */
export const isFutureJid = (jid: string): boolean => jid > generateJid();
