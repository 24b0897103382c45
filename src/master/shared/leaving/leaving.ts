// How a member leaves: drained, stopped, forgotten; or lost for good.
import { setTimeout as sleep } from 'node:timers/promises';
import { numberField } from '../../../base/codec/fields.ts';
import { asPlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { Bucket, Cluster, Member } from '../../../engine/cluster/api.ts';
import { slotKey, slotNumbers, slotRecord, slotValue } from '../../../engine/cluster/slots.ts';
import type { ClusterMembership, DrainOptions, DrainReport } from '../../../extend/sdk/index.ts';
import { type Drain, drainKey } from './drain.ts';

export interface LeavingParts {
  readonly cluster: Pick<Cluster, 'self' | 'members' | 'registry' | 'onChange'>;
  readonly drain: Drain;
  readonly log: Pick<Logger, 'info'>;
  /** After so long no session of a minion knows the old member any more, in seconds. */
  readonly sessionSeconds: number;
}

const lookMs = 500;
const mostGone = 20;

export class Leaving implements Pick<ClusterMembership, 'drain' | 'forget'> {
  readonly #parts: LeavingParts;
  readonly #reg: Bucket<Value>;
  /** As they were when they left. */
  readonly #gone = new Map<string, { readonly member: Member; readonly at: number }>();

  constructor(parts: LeavingParts) {
    this.#parts = parts;
    this.#reg = parts.cluster.registry.bucket('reg');
    parts.cluster.onChange((change) => {
      if (change.kind !== 'left') return;
      this.#gone.set(change.member.id, { member: change.member, at: Date.now() });
      const [oldest] = this.#gone.keys();
      if (this.#gone.size > mostGone && oldest !== undefined) this.#gone.delete(oldest);
    });
  }

  async drain(id: string, { seconds, undo, dryRun }: DrainOptions): Promise<DrainReport> {
    const { drain, log } = this.#parts;
    if (undo && !dryRun) {
      await drain.undo(id);
      log.info('a master takes jobs again', { master: id });
      return { isEmpty: false, held: 0, jobs: [] };
    }
    const live = this.#parts.cluster.members().map((member) => member.id);
    if (!live.includes(id)) throw noMember(id, live);
    if (live.length === 1) {
      throw new HaliteError(
        'cluster.refused',
        `${id} is the only live master: there is no other one that could go on`,
        {
          hint: 'To use it without the cluster: remove `cluster:` from its configuration, and restart it.',
        },
      );
    }
    if (dryRun) return drain.ask(id);
    await drain.begin(id);
    const until = performance.now() + seconds * 1000;
    for (;;) {
      const report = await drain.ask(id);
      if (report.isEmpty) await drain.note(id);
      if (report.isEmpty || performance.now() > until) return report;
      await sleep(lookMs);
    }
  }

  async forget(id: string, { lost, dryRun }: Parameters<ClusterMembership['forget']>[1]): Promise<string> {
    const { cluster, log, sessionSeconds } = this.#parts;
    const entries = await Promise.all(slotNumbers.map((slot) => this.#reg.get(slotKey(slot))));
    const records = entries.map((entry) => slotRecord(entry?.value));
    const slot = records.findIndex((record) => record?.id === id && record.freeAt === undefined);
    const [entry, record] = [entries[slot], records[slot]];
    const known = records.flatMap((some) => (some && some.freeAt === undefined ? [some.id] : []));
    if (!entry || !record) throw noMember(id, known);
    if (cluster.members().some((member) => member.slot === slot)) {
      throw new HaliteError('cluster.refused', `The master ${id} runs: it cannot be forgotten`, {
        hint: `First: salt-run cluster.drain ${id}. Then stop it.`,
      });
    }
    const mark = asPlainDict((await this.#reg.get(drainKey(id)))?.value);
    const drained = mark !== undefined && numberField(mark, 'empty') !== undefined;
    // A slot that was only reserved never held anything.
    const text =
      record.identity === ''
        ? `${id} never started.`
        : drained
          ? `${id} was drained: nothing is lost.`
          : this.#heldText(id);
    if (!drained && !lost && record.identity !== '') {
      throw new HaliteError('cluster.refused', `The master ${id} was not drained. ${text}`, {
        hint: `If it can run again: start it, then salt-run cluster.drain ${id}. If it is gone for good: salt-run cluster.forget ${id} lost=True`,
      });
    }
    if (dryRun)
      return `Would remove ${id} from the cluster. ${text} Its slot ${slot} could be used again after ${record.identity === '' ? 0 : sessionSeconds} seconds. Nothing was changed: this is a dry run.`;
    const freeAt = Date.now() + (record.identity === '' ? 0 : sessionSeconds * 1000);
    await this.#reg.update(entry.key, slotValue({ ...record, freeAt }), entry.revision);
    await this.#reg.remove(drainKey(id));
    log.info('a master was forgotten', { master: id, slot, drained });
    const when = new Date(freeAt).toISOString().slice(0, 19).replace('T', ' ');
    return [
      `${id} is no member any more. ${text} Its slot ${slot} can be used again from ${when} UTC on.`,
      'Its disk still has master.pem and cluster_bus.key: remove them there, and run: salt-run cluster.rekey. Remove its address from the configuration of minions.',
    ].join('\n');
  }

  #heldText(id: string): string {
    const gone = this.#gone.get(id);
    if (!gone) return 'What it held is not known here: it left before this master was started.';
    const when = new Date(gone.at).toISOString().slice(0, 19).replace('T', ' ');
    const { held } = gone.member;
    if (held === undefined) return `It left at ${when} UTC; what it held is not known.`;
    return held === 0
      ? `When it was last heard (${when} UTC), it held nothing that the others do not have.`
      : `When it was last heard (${when} UTC), ${held} records were on its disk only: results and verdicts of its minions.`;
  }
}

const noMember = (id: string, known: readonly string[]): HaliteError =>
  new HaliteError('call.arguments', `'${id}' is no member of the cluster`, { hint: `Members: ${known.join(', ')}.` });
