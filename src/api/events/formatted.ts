// Events as `/ws?format_events` sends them: the jobs or the minions as they are known then. Salt's clients expect the whole
// map each time, so it holds the latest jobs only, and is not made for every event.
import { dumpJson } from '../../base/codec/json/index.ts';
import { asText, type Dict, dictGet, isTexts, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';

const mostJobs = 100;
const mostMinions = 10_000;
const mostBytes = 4 * 1024 * 1024;

interface Result {
  readonly value: Value;
  readonly bytes: number;
  readonly done: boolean;
}

interface Job {
  readonly facts: Record<string, Value>;
  readonly minions: Map<string, Result>;
  /** Minions without success. */
  left: number;
  bytes: number;
}

const waiting: Result = { value: newDict([['success', false]]), bytes: 32, done: false };

export class FormattedEvents {
  readonly #jobs = new Map<string, Job>();
  readonly #minions = new Map<string, PlainDict>();
  #bytes = 0;
  #newJobs = false;
  #newMinions = false;

  take(tag: string, data: Dict): void {
    const [root, kind, jid = '', what, id] = tag.split('/');
    if (root !== 'salt') return;
    if (kind === 'key') this.#key(data);
    if (kind === 'presence') this.#presence(data);
    if (kind !== 'job') return;
    const own = dictGet(data, 'fun') === 'grains.items';
    if (what === 'new') {
      if (own) this.#minions.clear();
      this.#begun(jid, data);
    }
    if (what !== 'ret' || id === undefined) return;
    this.#returned(jid, id, data);
    if (own) this.#know(id, newDict([['grains', dictGet(data, 'return') ?? null]]));
  }

  /** What is new since the last time. */
  changes(): Value[] {
    const found = [...(this.#newJobs ? [this.#allJobs()] : []), ...(this.#newMinions ? [this.#allMinions()] : [])];
    this.#newJobs = this.#newMinions = false;
    return found;
  }

  #begun(jid: string, data: Dict): void {
    const field = (name: string): Value => dictGet(data, name) ?? null;
    const found = field('minions');
    const ids = isTexts(found) ? found : [];
    const facts: Record<string, Value> = {
      ...{ jid, start_time: field('_stamp'), fun: field('fun'), tgt: field('tgt'), tgt_type: field('tgt_type') },
      state: 'running',
    };
    const minions = new Map(ids.slice(0, mostMinions).map((each) => [each, waiting]));
    const bytes = sizeOf(facts['tgt'] ?? null) + minions.size * waiting.bytes;
    this.#add(jid, { facts, minions, left: minions.size, bytes });
  }

  #returned(jid: string, id: string, data: Dict): void {
    const job = this.#jobs.get(jid) ?? this.#add(jid, { facts: {}, minions: new Map(), left: 0, bytes: 0 });
    const value = newDict(['return', 'retcode', 'success'].map((name) => [name, dictGet(data, name) ?? null] as const));
    const result = { value, bytes: sizeOf(value), done: dictGet(data, 'success') === true };
    const known = job.minions.get(id);
    job.minions.set(id, result);
    job.left += (result.done ? 0 : 1) - (known && !known.done ? 1 : 0);
    if (job.left === 0) job.facts['state'] = 'complete';
    const more = result.bytes - (known?.bytes ?? 0);
    job.bytes += more;
    this.#bytes += more;
    this.#newJobs = true;
    this.#shrink();
  }

  #add(jid: string, job: Job): Job {
    this.#bytes += job.bytes - (this.#jobs.get(jid)?.bytes ?? 0);
    this.#jobs.set(jid, job);
    this.#newJobs = true;
    this.#shrink();
    return job;
  }

  /** The oldest are forgotten first. */
  #shrink(): void {
    for (const [jid, { bytes }] of this.#jobs) {
      if (this.#jobs.size <= mostJobs && this.#bytes <= mostBytes) return;
      this.#jobs.delete(jid);
      this.#bytes -= bytes;
    }
  }

  #allJobs(): Value {
    const jobs = [...this.#jobs].map(([jid, { facts, minions }]) => {
      const results = new Map<Value, Value>([...minions].map(([id, { value }]) => [id, value]));
      return [jid, newDict([...Object.entries(facts), ['minions', results]])] as [Value, Value];
    });
    return newDict([['jobs', new Map<Value, Value>(jobs)]]);
  }

  #key(data: Dict): void {
    const [act, id] = [asText(dictGet(data, 'act')), asText(dictGet(data, 'id'))];
    if (id === undefined) return;
    if (act === 'accept') this.#know(id, this.#minions.get(id) ?? newDict());
    if (act === 'delete') this.#minions.delete(id);
    this.#newMinions = true;
  }

  #presence(data: Dict): void {
    const present = dictGet(data, 'present');
    if (!isTexts(present)) return;
    const here = new Set(present);
    for (const id of [...this.#minions.keys()].filter((each) => !here.has(each))) {
      this.#minions.delete(id);
      this.#newMinions = true;
    }
    for (const id of here) if (!this.#minions.has(id)) this.#know(id, newDict());
  }

  #know(id: string, facts: PlainDict): void {
    if (this.#minions.size >= mostMinions && !this.#minions.has(id)) return;
    this.#minions.set(id, facts);
    this.#newMinions = true;
  }

  #allMinions(): Value {
    const list = [...this.#minions].map(([id, facts]) => newDict([...Object.entries(facts), ['id', id]]));
    return newDict([['minions', list]]);
  }
}

const sizeOf = (value: Value): number => dumpJson(value).length;
