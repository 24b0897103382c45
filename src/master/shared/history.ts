// What this member does with what others tell about jobs: results end the waiting of its own callers, viewers see the
// events, and life-cycle messages reach the member that follows the job.
import { asDict, asText, type Dict, dictGet, newDict, type Value } from '../../base/codec/value.ts';
import type { Logger } from '../../base/log/index.ts';
import { isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { LedgerItem, SharedJob } from '../../engine/cluster/messages.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { jobNewTag, jobReturnTag } from '../../protocol/event/tags.ts';
import { wireTexts } from '../../protocol/job/job.ts';
import { isReasonCode } from '../../protocol/job/verdict.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn } from '../../protocol/wire/messages/job-return.ts';
import type { Conflict } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import type { LifecycleReport } from '../tracking/active-job.ts';
import type { DurableJobs } from '../tracking/durable.ts';
import type { Tracker } from '../tracking/tracker.ts';
import type { KnownJobs } from './known-jobs.ts';
import type { LedgerListener } from './store.ts';

export interface SharedHistoryParts {
  readonly cluster: Pick<Cluster, 'self' | 'members' | 'signals'>;
  readonly log: Pick<Logger, 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly tracker: Pick<Tracker, 'job' | 'returned' | 'alreadyReturned' | 'phase'>;
  readonly durable: Pick<DurableJobs, 'returned'>;
  readonly known: Pick<KnownJobs, 'owner'>;
}

/** A member that was away reads what happened meanwhile: nobody waits for those events any more. */
const newsMs = 60_000;
const longestText = 500;

export class SharedHistory implements LedgerListener {
  readonly #parts: SharedHistoryParts;
  readonly #stop: () => void;

  constructor(parts: SharedHistoryParts) {
    this.#parts = parts;
    this.#stop = parts.cluster.signals.on('life', (body) => this.#lived(body));
  }

  stop(): void {
    this.#stop();
  }

  heard(item: LedgerItem): void {
    const { tracker, durable } = this.#parts;
    if (item.kind === 'job') this.#announce(item.job);
    else if (item.kind === 'ret') {
      const { jid, id, load } = item;
      durable.returned(jid, id);
      if (!tracker.job(jid) || tracker.alreadyReturned(jid, id)) return;
      const ret = readJobReturn(load, { jid, id });
      if (!isProblem(ret)) tracker.returned(ret);
    } else if (item.kind === 'verdict') this.#settled(item);
  }

  stored({ jid, id, load, received }: Extract<LedgerItem, { kind: 'ret' }>): void {
    if (Date.now() - received < newsMs) this.#parts.bus.fire(jobReturnTag(jid, id), load, 'foreign');
  }

  conflict({ jid, id, via }: Conflict): void {
    const masters = [...new Set(via.map((slot) => this.#name(slot)))].join(' and ');
    this.#parts.log.limited(
      `conflict:${id}`,
      'warn',
      'two different results of one run of a job: is its id in use twice?',
      {
        ...{ minion: id, jid, masters },
      },
    );
    this.#parts.bus.fire(
      `halite/cluster/duplicate-id/${id}`,
      newDict([
        ['id', id],
        ['jid', jid],
        ['masters', masters],
      ]),
      'foreign',
    );
  }

  /** Of a job that another member follows: it is told. */
  phase(jid: string, id: string, phase: string, said: LifecycleReport): void {
    const { tracker, known, cluster } = this.#parts;
    if (tracker.job(jid)) {
      tracker.phase(jid, id, phase, said);
      return;
    }
    const owner = this.#member(known.owner(jid));
    if (owner === undefined || owner === cluster.self.id) return;
    const [accepted, started] = [ageOf(said.accepted), ageOf(said.started)];
    cluster.signals.send(
      'life',
      newDict(Object.entries({ jid, id, phase, text: said.text, accepted, started })),
      owner,
    );
  }

  #lived(body: Value): void {
    const fields = asDict(body);
    const text = (name: string): string => asText(fields && dictGet(fields, name)) ?? '';
    const [jid, id] = [text('jid'), text('id')];
    if (!fields || !isJid(jid) || !isValidMinionId(id)) return;
    this.#parts.tracker.phase(jid, id, text('phase'), {
      text: text('text').slice(0, longestText),
      accepted: timeOf(dictGet(fields, 'accepted')),
      started: timeOf(dictGet(fields, 'started')),
    });
  }

  /** The member that follows the job decided: who waits here need not ask its minion. */
  #settled({ jid, id, reason: code, text, evidence }: Extract<LedgerItem, { kind: 'verdict' }>): void {
    const job = this.#parts.tracker.job(jid);
    if (!job?.isOpen(id) || !isReasonCode(code)) return;
    job.missing(id, { code, text, evidence: newDict(Object.entries(evidence instanceof Map ? {} : evidence)) });
  }

  #announce({ jid, expected, load, started }: SharedJob): void {
    const job = storedJob(load);
    if (!job || Date.now() - started > newsMs) return;
    const { tgt_type, tgt, user = 'root', fun, arg } = job;
    const minions = [...expected];
    this.#parts.bus.fire(jid, newDict([['minions', minions]]), 'foreign');
    const told: Dict = newDict(
      Object.entries({
        jid,
        tgt_type,
        tgt: wireTexts(tgt),
        user,
        fun: wireTexts(fun),
        arg: [...arg],
        minions,
        missing: [],
      }),
    );
    this.#parts.bus.fire(jobNewTag(jid), told, 'foreign');
  }

  #member(slot: number | null | undefined): string | undefined {
    return this.#parts.cluster.members().find((member) => member.slot === slot)?.id;
  }

  #name(slot: number | null): string {
    if (slot === null) return 'this master before it joined';
    return this.#member(slot) ?? `the master of slot ${slot}`;
  }
}

/** Clocks of members differ: ages are told. */
const ageOf = (time: number | undefined): number | null => (time === undefined ? null : Math.max(0, Date.now() - time));
const timeOf = (age: Value | undefined): number | undefined =>
  typeof age === 'number' && age >= 0 && age < 31_536_000_000 ? Date.now() - age : undefined;
