// Who is there: every member renews its entry every two seconds. Others judge it by their own clock; the member itself knows
// by its renewals whether the engine still takes anything.
import { intField, numberField, textField } from '../../../base/codec/fields.ts';
import { asPlainDict, dictGet, isTexts, type Value } from '../../../base/codec/value.ts';
import { messageOf } from '../../../base/errors/index.ts';
import type { ClusterState, Member } from '../api.ts';
import { dictFrom } from '../codec.ts';
import type { Core } from './core.ts';
import { readStream } from './reader.ts';
import { Ascending } from './replay.ts';
import type { BucketStore } from './store.ts';
import { bucketPlan, memberTtlMs } from './streams.ts';

const renewMs = 2000;
/** Without an answer for so long a member is cut off. */
const cutOffMs = 6000;
const lookMs = 250;
const failuresUntilElsewhere = 2;
const rememberedRenewals = 8;

interface Entry {
  readonly member: Member;
  heard: number;
}

export class Membership {
  readonly #core: Core;
  readonly #store: BucketStore;
  readonly #self: () => Member;
  readonly #entries = new Map<number, Entry>();
  readonly #seen = new Ascending();
  #state: ClusterState = { kind: 'cut-off', since: Date.now(), why: 'it has not joined yet' };
  #answered: number | undefined;
  #why = '';
  #skewMs = 0;
  /** Between being sent and acknowledged, by the wall clock: the last renewals. */
  readonly #sent = new Map<number, number>();
  /** The last one that was read, with its time at the engine. It may be read before its acknowledgement. */
  #stored: { readonly revision: number; readonly time: number } | undefined;
  #timers: NodeJS.Timeout[] = [];

  constructor(core: Core, store: BucketStore, self: () => Member) {
    this.#core = core;
    this.#store = store;
    this.#self = self;
  }

  get state(): ClusterState {
    return this.#state;
  }
  get skewMs(): number {
    return this.#skewMs;
  }
  /** How long the engine takes for a renewal. */
  delayMs = 0;

  members(): readonly Member[] {
    const others = [...this.#entries.values()].map(({ member }) => member);
    return [this.#self(), ...others].sort((a, b) => a.slot - b.slot);
  }

  find(slot: number, boot: string): Member | undefined {
    const self = this.#self();
    if (slot === self.slot && boot === self.boot) return self;
    const member = this.#entries.get(slot)?.member;
    return member?.boot === boot ? member : undefined;
  }

  start(): void {
    void this.#watch();
    void this.#renewals();
    this.#timers.push(setInterval(() => this.#look(), lookMs));
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    // Told on leaving, so that nobody has to wait until the entry is old.
    if (this.#state.kind === 'joined')
      await this.#store.write(key(this.#self().slot), this.#value(true), 'any').catch(() => undefined);
  }

  #value(left = false): Value {
    const { id, version, level, since, addresses, skewMs, held } = this.#self();
    return dictFrom({ id, version, level, since, addresses: [...addresses], skewMs, held, left });
  }

  async #renewals(): Promise<void> {
    let failures = 0;
    while (!this.#core.signal.aborted) {
      const sent = performance.now();
      const wall = Date.now();
      try {
        const revision = await this.#store.write(key(this.#self().slot), this.#value(), 'any');
        this.delayMs = performance.now() - sent;
        this.#answered = sent;
        failures = 0;
        if (revision !== undefined) this.#acknowledged(revision, wall + this.delayMs / 2);
        // Before it writes what it decided while it was away.
        if (this.#state.kind !== 'joined') await this.#core.keyring.follow();
        this.#become({ kind: 'joined', since: Date.now() });
      } catch (error) {
        this.#why = messageOf(error);
        failures += 1;
        // The server that this member uses may be the one that was cut off.
        if (failures % failuresUntilElsewhere === 0) await this.#core.js().connection.elsewhere();
        this.#core.failed(error, this.#store.stream);
      }
      const rest = renewMs - (performance.now() - sent);
      await new Promise((resolve) => setTimeout(resolve, Math.max(250, rest)));
    }
  }

  #acknowledged(revision: number, at: number): void {
    this.#sent.set(revision, at);
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > rememberedRenewals && oldest !== undefined) this.#sent.delete(oldest);
    this.#compareClocks();
  }

  #compareClocks(): void {
    const at = this.#stored && this.#sent.get(this.#stored.revision);
    if (this.#stored && at !== undefined) this.#skewMs = Math.round(at - this.#stored.time);
  }

  #look(): void {
    const now = performance.now();
    if (this.#answered === undefined || now - this.#answered > cutOffMs) {
      const why = this.#why || 'no answer from the nats-servers';
      if (this.#state.kind === 'joined') this.#become({ kind: 'cut-off', since: Date.now(), why });
    }
    for (const [slot, { member, heard }] of this.#entries) {
      if (now - heard <= memberTtlMs) continue;
      this.#entries.delete(slot);
      this.#core.changed({ kind: 'left', member });
    }
  }

  #become(state: ClusterState): void {
    if (state.kind === this.#state.kind) return;
    this.#state = state;
    this.#core.changed({ kind: 'state', state });
  }

  async #watch(): Promise<void> {
    const { options, signal, log } = this.#core;
    const plan = bucketPlan(options.name, 'members');
    await readStream({
      ...{ js: this.#core.js(), stream: plan.stream, filter: plan.subjects, start: 'last-per-subject', signal, log },
      onMessage: ({ subject, data, seq, time }) => this.#take(subject, data, seq, time),
      onLost: async () => {
        await this.#core.lost(plan.stream, 'the list of members');
        return 'last-per-subject';
      },
    }).catch((error: unknown) => log.error('the list of members is not read any more', { error: messageOf(error) }));
  }

  #take(subject: string, data: Uint8Array, seq: number, time: number): void {
    const stored = this.#store.read(subject, data, seq, time);
    if (!stored) return;
    if (stored.boot === this.#self().boot) {
      this.#stored = { revision: seq, time };
      this.#compareClocks();
      return;
    }
    // An older entry of the same boot proves nothing.
    if (!this.#seen.accept(stored.boot, stored.n)) return;
    const member = readMember(stored.value ?? null, stored.slot, stored.boot);
    if (!member || stored.key !== key(stored.slot)) {
      this.#core.refused('member', 'wrong');
      return;
    }
    if (member.slot === this.#self().slot) {
      this.#core.counterpart(member.member);
      return;
    }
    this.#enter(member.member, member.left);
  }

  #enter(member: Member, left: boolean): void {
    const before = this.#entries.get(member.slot)?.member;
    if (before && (left || before.boot !== member.boot)) {
      this.#entries.delete(member.slot);
      this.#core.changed({ kind: 'left', member: before });
    }
    if (left) return;
    this.#entries.set(member.slot, { member, heard: performance.now() });
    if (before?.boot !== member.boot) this.#core.changed({ kind: 'joined', member });
  }
}

const key = (slot: number): string => `m.${slot}`;

function readMember(
  value: Value,
  slot: number,
  boot: string,
): { member: Member; slot: number; left: boolean } | undefined {
  const fields = asPlainDict(value);
  if (!fields || slot > 9) return undefined;
  const [id, version, level] = [textField(fields, 'id'), textField(fields, 'version'), intField(fields, 'level')];
  const [since, skewMs] = [numberField(fields, 'since'), numberField(fields, 'skewMs')];
  const addresses = dictGet(fields, 'addresses');
  if (id === undefined || version === undefined || level === undefined || since === undefined) return undefined;
  if (skewMs === undefined || !isTexts(addresses)) return undefined;
  const held = intField(fields, 'held');
  const member = { id, slot, boot, version, level, since, seen: Date.now(), addresses, skewMs, held };
  return { member, slot, left: dictGet(fields, 'left') === true };
}
