// The state of the cluster as one member sees it, with what the others answer about themselves.
import { intField, textField } from '../../base/codec/fields.ts';
import { asDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Cluster, Member } from '../../engine/cluster/api.ts';
import type {
  ClusterComparison,
  ClusterMemberStatus,
  ClusterReport,
  ClusterView,
  SyncRootsOptions,
} from '../../extend/sdk/cluster.ts';
import type { JobStore } from '../../store/jobs.ts';
import type { Drift } from './drift.ts';
import type { Repair } from './repair.ts';
import type { RootSync } from './sync/sync.ts';

export interface ClusterStatusParts {
  readonly cluster: Omit<Cluster, 'relay' | 'registry' | 'close'>;
  readonly drift: Pick<Drift, 'findings' | 'diff'> | undefined;
  readonly repair: Pick<Repair, 'now' | 'last' | 'complete'> | undefined;
  readonly store: Pick<JobStore, 'load' | 'expected' | 'returns'>;
  readonly overruled: () => ClusterReport['overruled'];
  readonly rekey: () => ClusterReport['rekey'];
  readonly drainedSince: (id: string) => Date | undefined;
  readonly sync: Pick<RootSync, 'run'>;
  /** How many minions are connected to this master. */
  minions(): number;
  /** Members whose minions are not known yet. */
  unknown(): readonly string[];
}

const answerMs = 2_000;
/** Somebody waits for the answer. */
const lookupMs = 200;
const mostGone = 20;
const mostStarts = 20;
const startsWithinMs = 600_000;

export class ClusterStatus implements ClusterView {
  readonly #parts: ClusterStatusParts;
  /** Members that left, by id, and when. */
  readonly #gone = new Map<string, { member: Member; at: number }>();
  /** When members started, by id. */
  readonly #starts = new Map<string, number[]>();
  #leaderlessSince: number | undefined = Date.now();

  constructor(parts: ClusterStatusParts) {
    this.#parts = parts;
    const { cluster } = parts;
    if (cluster.name === undefined) return;
    cluster.signals.answer('status', async function* (): AsyncIterable<Value> {
      yield { minions: parts.minions(), held: cluster.ledger.held().items, unknown: [...parts.unknown()] };
    });
    cluster.onChange((change) => {
      if (change.kind === 'joined') {
        this.#gone.delete(change.member.id);
        this.#starts.set(change.member.id, [...this.#startsOf(change.member.id), Date.now()].slice(-mostStarts));
      }
      if (change.kind === 'leader') this.#leaderlessSince = change.leader ? undefined : Date.now();
      if (change.kind !== 'left') return;
      this.#gone.set(change.member.id, { member: change.member, at: Date.now() });
      const [oldest] = this.#gone.keys();
      if (this.#gone.size > mostGone && oldest !== undefined) this.#gone.delete(oldest);
    });
  }

  async report(): Promise<ClusterReport | undefined> {
    const { cluster, drift } = this.#parts;
    if (cluster.name === undefined) return undefined;
    const live = cluster.members();
    const members = await Promise.all(live.map((member) => this.#statusOf(member)));
    const gone = [...this.#gone.values()]
      .filter(({ member }) => !live.some(({ id }) => id === member.id))
      .map(({ member, at }) => ({ ...this.#base(member), state: 'gone' as const, since: new Date(at) }));
    const leader = cluster.leader();
    const engine = cluster.report();
    const [overruled, rekey] = [this.#parts.overruled(), this.#parts.rekey()];
    return {
      name: cluster.name,
      level: Math.min(...live.map(({ level }) => level)),
      leader: leader?.member.id,
      term: leader?.term ?? 0,
      ...(leader || this.#leaderlessSince === undefined ? {} : { leaderlessSince: new Date(this.#leaderlessSince) }),
      ...(overruled ? { overruled } : {}),
      ...(rekey ? { rekey } : {}),
      engine: {
        server: engine?.server ?? '',
        version: engine?.version ?? '',
        delayMs: Math.round(engine?.delayMs ?? 0),
        problems: engine?.problems ?? [],
      },
      members: [...members, ...gone].sort((a, b) => a.slot - b.slot),
      drift: drift?.findings() ?? [],
      repair: this.compared,
    };
  }

  async diff(one: string, other: string): Promise<PlainDict> {
    const { drift, cluster } = this.#parts;
    const known = cluster.members().map(({ id }) => id);
    for (const id of [one, other]) {
      if (!known.includes(id)) {
        throw new HaliteError('call.arguments', `'${id}' is no live member of the cluster`, {
          hint:
            cluster.name === undefined ? 'This master has no option `cluster`.' : `Live members: ${known.join(', ')}.`,
        });
      }
    }
    if (!drift) throw new HaliteError('call.failed', 'This master has no cluster.');
    return drift.diff(one, other);
  }

  get compared(): ClusterComparison | undefined {
    return this.#parts.repair?.last;
  }

  async repair(): Promise<ClusterComparison> {
    const { repair } = this.#parts;
    if (repair) return repair.now();
    throw new HaliteError('call.failed', 'This master works alone: there is nobody to compare with.', {
      hint: 'Several masters work as one with the option `cluster` in the master configuration.',
    });
  }

  async complete(jid: string): Promise<readonly string[]> {
    const { repair, store } = this.#parts;
    if (!repair) return [];
    if (await store.load(jid)) {
      const [expected, there] = [await store.expected(jid), await store.returns(jid)];
      if (expected.every((id) => there.has(id))) return [];
    }
    const late = await repair.complete(jid, lookupMs);
    const live = this.#parts.cluster.members().map(({ id }) => id);
    return [...late, ...[...this.#gone.keys()].filter((id) => !live.includes(id))];
  }

  syncRoots(options: SyncRootsOptions): ReturnType<RootSync['run']> {
    return this.#parts.sync.run(options);
  }

  #startsOf(id: string): number[] {
    return (this.#starts.get(id) ?? []).filter((at) => Date.now() - at < startsWithinMs);
  }

  #base(member: Member): Omit<ClusterMemberStatus, 'state'> {
    const { cluster } = this.#parts;
    const drainedSince = this.#parts.drainedSince(member.id);
    return {
      ...(drainedSince ? { drainedSince } : {}),
      ...{ id: member.id, slot: member.slot, version: member.version, skewMs: member.skewMs, minions: 0, held: 0 },
      starts: this.#startsOf(member.id).length,
      since: new Date(member.since),
      leads: cluster.leader()?.member.boot === member.boot,
      self: member.boot === cluster.self.boot,
    };
  }

  async #statusOf(member: Member): Promise<ClusterMemberStatus> {
    const base = this.#base(member);
    const { cluster } = this.#parts;
    if (base.self) {
      const { state } = cluster;
      const held = cluster.ledger.held();
      const own = {
        ...{ minions: this.#parts.minions(), held: held.items },
        ...(held.items > 0 && held.since > 0 ? { heldSince: new Date(held.since) } : {}),
      };
      if (state.kind === 'cut-off')
        return { ...base, ...own, state: 'cut off', since: new Date(state.since), why: state.why };
      return { ...base, ...own, ...unknownText(this.#parts.unknown()), state: 'joined' };
    }
    try {
      for await (const answer of cluster.signals.ask(member.id, 'status', null, { timeoutMs: answerMs })) {
        const dict = asDict(answer) ?? {};
        const unknown = textField(dict, 'unknown');
        return {
          ...base,
          ...(unknown === undefined ? {} : unknownText([unknown])),
          minions: Math.max(0, intField(dict, 'minions') ?? 0),
          held: Math.max(0, intField(dict, 'held') ?? 0),
          state: 'joined',
        };
      }
      return { ...base, state: 'silent', why: 'it gave no answer' };
    } catch (error) {
      return { ...base, state: 'silent', why: messageOf(error) };
    }
  }
}

const unknownText = (members: readonly string[]): { why?: string } =>
  members.length === 0 ? {} : { why: `does not know the minions of ${members.join(', ')} yet` };
