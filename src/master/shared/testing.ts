// Members of a cluster inside one process, for tests of what they share: real buckets and claims of one table, and
// signals that are packed, delivered later, numbered, and lost on request.
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { aloneCluster } from '../../engine/cluster/alone.ts';
import type {
  Cluster,
  ClusterChange,
  ClusterState,
  Leader,
  Member,
  NewcomerHandler,
  Question,
  SignalKind,
  Signals,
} from '../../engine/cluster/api.ts';
import type { LocalTable } from '../../engine/cluster/ports.ts';

export class MemoryTable implements LocalTable {
  readonly #spaces = new Map<string, Map<string, Uint8Array>>();

  get(space: string, key: string): Uint8Array | undefined {
    return this.#spaces.get(space)?.get(key);
  }
  all(space: string): (readonly [string, Uint8Array])[] {
    return [...(this.#spaces.get(space) ?? [])];
  }
  set(space: string, key: string, value: Uint8Array): void {
    const rows = this.#spaces.get(space) ?? new Map<string, Uint8Array>();
    this.#spaces.set(space, rows.set(key, value));
  }
  remove(space: string, key: string): void {
    this.#spaces.get(space)?.delete(key);
  }
}

/** A master without others. */
export const loneMember = (id = 'm1'): Cluster => aloneCluster({ id, addresses: [], table: new MemoryTable() });

type Handler = (body: Value, from: Member) => void;
type Answer = (body: Value, from: Member, signal: AbortSignal) => AsyncIterable<Value>;

export class Fabric {
  readonly #members = new Map<string, FabricMember>();
  readonly #shared = loneMember('shared');
  /** Signals from one to another that are lost, as `m1 m2`. */
  readonly cut = new Set<string>();
  #boots = 0;
  #leader: string | undefined;
  #term = 0;

  get registry(): Cluster['registry'] {
    return this.#shared.registry;
  }

  join(id: string): FabricMember {
    const member = new FabricMember(this, id, this.#members.size, `boot-${++this.#boots}`);
    for (const other of this.#members.values()) other.change({ kind: 'joined', member: member.self });
    this.#members.set(id, member);
    return member;
  }

  /** It ends without a word. */
  leave(id: string): void {
    const gone = this.#members.get(id);
    this.#members.delete(id);
    if (gone) for (const other of this.#members.values()) other.change({ kind: 'left', member: gone.self });
  }

  leader(): Leader | undefined {
    const found = this.#members.get(this.#leader ?? '');
    return found && { member: found.self, term: this.#term };
  }

  /** This member leads from now on; undefined: nobody does. */
  elect(id: string | undefined): void {
    this.#leader = id;
    this.#term++;
    const leader = this.leader();
    for (const member of this.all()) member.change({ kind: 'leader', leader: leader?.member, term: this.#term });
  }

  get(id: string): FabricMember | undefined {
    return this.#members.get(id);
  }
  all(): FabricMember[] {
    return [...this.#members.values()];
  }
}

export class FabricMember implements Cluster {
  readonly name = 'test';
  readonly self: Member;
  state: ClusterState = { kind: 'joined', since: 0 };
  readonly relay = loneMember().relay;
  readonly ledger = loneMember().ledger;
  readonly registry: Cluster['registry'];
  readonly signals: Signals;
  /** What a machine that is no member sends here. */
  newcomer: NewcomerHandler = async () => undefined;
  readonly #fabric: Fabric;
  readonly #listeners = new Set<(change: ClusterChange) => void>();
  readonly #handlers = new Map<SignalKind, Set<Handler>>();
  readonly #gaps = new Set<(from: Member, missed: number) => void>();
  readonly #answers = new Map<Question, Answer>();
  /** Numbers of the last message sent to, and received from, each member. */
  readonly #sent = new Map<string, number>();
  readonly #received = new Map<string, number>();

  constructor(fabric: Fabric, id: string, slot: number, boot: string) {
    this.#fabric = fabric;
    this.registry = fabric.registry;
    const now = Date.now();
    this.self = { id, slot, boot, version: 'test', level: 1, since: now, seen: now, addresses: [], skewMs: 0 };
    this.signals = {
      send: (kind, body, to) => this.#send(kind, body, to),
      on: (kind, handler) => {
        const handlers = this.#handlers.get(kind) ?? new Set();
        this.#handlers.set(kind, handlers.add(handler));
        return () => handlers.delete(handler);
      },
      onGap: (handler) => {
        this.#gaps.add(handler);
        return () => this.#gaps.delete(handler);
      },
      ask: (to, what, body) => this.#ask(to, what, body),
      answer: (what, handler) => void this.#answers.set(what, handler),
      onNewcomer: (handler) => {
        this.newcomer = handler;
      },
    };
  }

  leader(): Leader | undefined {
    return this.#fabric.leader();
  }
  leads(): boolean {
    return this.state.kind === 'joined' && this.#fabric.leader()?.member.boot === this.self.boot;
  }
  report(): undefined {
    return undefined;
  }
  members(): Member[] {
    return this.#fabric.all().map(({ self }) => self);
  }
  onChange(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  change(change: ClusterChange): void {
    if (change.kind === 'state') this.state = change.state;
    for (const listener of this.#listeners) listener(change);
  }
  async close(): Promise<void> {}

  #send(kind: SignalKind, body: Value, to?: string): void {
    const bytes = pack(body);
    for (const other of this.#fabric.all()) {
      if (other === this || (to !== undefined && other.self.id !== to)) continue;
      const number = (this.#sent.get(other.self.id) ?? 0) + 1;
      this.#sent.set(other.self.id, number);
      if (this.#fabric.cut.has(`${this.self.id} ${other.self.id}`)) continue;
      setImmediate(() => other.receive(kind, unpack(bytes), this.self, number));
    }
  }

  receive(kind: SignalKind, body: Value, from: Member, number: number): void {
    if (this.#fabric.get(this.self.id) !== this) return;
    const last = this.#received.get(from.boot);
    this.#received.set(from.boot, number);
    if (last !== undefined && number > last + 1) for (const gap of this.#gaps) gap(from, number - last - 1);
    for (const handler of this.#handlers.get(kind) ?? []) handler(body, from);
  }

  async *#ask(to: string, what: Question, body: Value): AsyncIterable<Value> {
    const other = this.#fabric.get(to);
    const isCut = this.#fabric.cut.has(`${this.self.id} ${to}`) || this.#fabric.cut.has(`${to} ${this.self.id}`);
    if (!other || isCut) throw new HaliteError('wire.timeout', `${to} does not answer`);
    const answers = other.#answers.get(what);
    if (!answers) return;
    const { signal } = new AbortController();
    for await (const part of answers(unpack(pack(body)), this.self, signal)) yield unpack(pack(part));
  }
}
