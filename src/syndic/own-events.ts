// What happens at the master of this machine besides the jobs of higher masters: in the mode `sync` its events go up, and
// the results of its own jobs; late results of jobs from above go up in every mode.
import { textField } from '../base/codec/fields.ts';
import {
  asPlainDict,
  type Dict,
  dictEntries,
  dictGet,
  dictHas,
  dictOf,
  isTexts,
  newDict,
  type PlainDict,
} from '../base/codec/value.ts';
import { isJid } from '../base/util/jid.ts';
import { viaField } from '../protocol/event/event.ts';
import type { MasterEvent } from '../protocol/wire/messages/local.ts';
import type { Result } from './upward.ts';

export interface OwnEventParts {
  /** The id of this syndic. */
  readonly id: string;
  /** Every event and every result. */
  readonly everything: boolean;
  /** The name of the master of this machine. */
  readonly masterId: string;
  /** How many jobs are remembered, so that the first result of each takes it along. */
  readonly mostJobs: number;
  event(tag: string, data: Dict): void;
  /** A result that nobody follows. */
  result(result: Result): void;
  /** Whether a job came from above, and whether its results are followed now. */
  fromAbove(jid: string): 'followed' | 'over' | undefined;
}

/** Questions of masters about jobs. */
const notTold = new Set(['saltutil.find_job']);
/** More masters above each other than anybody has. */
const mostLevels = 8;
const kept = ['return', 'retcode', 'success', 'fun_args'] as const;

export class OwnEvents {
  readonly #parts: OwnEventParts;
  /** Jobs of this master, to go up with their first result. */
  readonly #loads = new Map<string, PlainDict>();

  constructor(parts: OwnEventParts) {
    this.#parts = parts;
  }

  take({ tag, data }: MasterEvent): void {
    const [first, kind, jid, what] = tag.split('/', 4);
    const isJob = first === 'salt' && kind === 'job' && isJid(jid);
    if (isJob && what === 'ret' && dictHas(data, 'return')) this.#result(jid, data);
    else if (isJob && what === 'new') this.#noteJob(jid, data);
    // The list of a job from above goes up with its job.
    if (isJob && what === 'ret') return;
    if (isJid(tag) && this.#parts.fromAbove(tag) !== undefined) return;
    if (!this.#parts.everything || dictHas(data, 'retcode') || this.#hasBeenHere(data)) return;
    this.#parts.event(tag, withoutStamp(data));
  }

  /** In a circle of masters an event would go round for ever. */
  #hasBeenHere(data: Dict): boolean {
    const path = dictGet(data, viaField);
    return isTexts(path) && (path.includes(this.#parts.id) || path.length >= mostLevels);
  }

  #result(jid: string, data: Dict): void {
    const above = this.#parts.fromAbove(jid);
    if (above === 'followed') return;
    const id = textField(data, 'id');
    const fun = textField(data, 'fun') ?? '';
    const masterId = textField(data, 'master_id');
    if (id === undefined || notTold.has(fun)) return;
    // In the other mode the results of its own jobs stay here.
    if (!this.#parts.everything && above === undefined && (masterId ?? this.#parts.masterId) === this.#parts.masterId)
      return;
    const load = above === undefined ? this.#loads.get(jid) : undefined;
    this.#loads.delete(jid);
    this.#parts.result({ jid, id, fun, masterId, load, fields: fieldsOf(data) });
  }

  #noteJob(jid: string, data: Dict): void {
    if (!this.#parts.everything || this.#parts.fromAbove(jid) !== undefined) return;
    const load = asPlainDict(withoutStamp(data)) ?? newDict();
    delete load['minions'];
    delete load['missing'];
    this.#loads.set(jid, { ...load, ret: '' });
    const [oldest] = this.#loads.keys();
    if (this.#loads.size > this.#parts.mostJobs && oldest !== undefined) this.#loads.delete(oldest);
  }
}

const withoutStamp = (data: Dict): Dict => dictOf(dictEntries(data).filter(([name]) => name !== '_stamp'));

function fieldsOf(data: Dict): PlainDict {
  const names = dictHas(data, 'out') ? [...kept, 'out'] : kept;
  return newDict(names.filter((name) => dictHas(data, name)).map((name) => [name, dictGet(data, name) ?? null]));
}
