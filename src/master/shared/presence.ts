// Which minions are connected to which member: joins and leaves as signals; after a gap the whole list is asked for.
import type { Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster, Member } from '../../engine/cluster/api.ts';
import {
  type FarConnection,
  FarList,
  mostInMessage,
  type PresenceNews,
  readNews,
  type ToldConnection,
} from './far-list.ts';

export interface SharedPresenceParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'state' | 'members' | 'signals' | 'onChange'>;
  readonly log: Pick<Logger, 'limited' | 'debug'>;
  /** All connections of this master now. */
  own(): Iterable<ToldConnection>;
  /** A connection of a minion to another member began or ended. */
  changed(id: string, kind: 'joined' | 'left', restarted: boolean): void;
}

/** What others tell is told on within a second. */
const gatherMs = 50;
const heardEveryMs = 10_000;
/** A minion belongs to the members that heard from it within this time. */
const contactMs = 60_000;
/** After a member is gone its minions have reconnected elsewhere by then. */
const movedMs = 20_000;
const askTimeoutMs = 10_000;
const askAgainMs = 1_000;
const mostOrphans = 100_000;

interface Far {
  readonly boot: string;
  list: FarList;
  /** The whole list is here. */
  known: boolean;
  /** News that came while the list was being asked for. */
  meanwhile: PresenceNews[] | undefined;
}

export class SharedPresence {
  readonly #parts: SharedPresenceParts;
  readonly #far = new Map<string, Far>();
  /** Minions of members that are gone, and when those went. */
  readonly #orphans = new Map<string, number>();
  #news: { joined: ToldConnection[]; left: [string, string, number][]; heard: [string, number][] } = empty();
  readonly #told = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  readonly #end = new AbortController();
  readonly #stops: (() => void)[] = [];

  constructor(parts: SharedPresenceParts) {
    this.#parts = parts;
    const { cluster } = parts;
    if (cluster.name === undefined) return;
    cluster.signals.answer('presence', () => this.#answer());
    this.#stops.push(
      cluster.signals.on('presence', (body, from) => this.#heardOf(from, readNews(body))),
      cluster.signals.onGap((from) => {
        // A list that is on its way may be older than what was missed.
        const far = this.#far.get(from.id);
        if (far?.meanwhile && far.boot === from.boot) far.meanwhile = undefined;
        else this.#missed(from);
      }),
      cluster.onChange((change) => {
        if (change.kind === 'joined') this.#missed(change.member);
        if (change.kind === 'left') this.#gone(change.member);
      }),
    );
    for (const member of cluster.members()) if (member.id !== cluster.self.id) this.#missed(member);
  }

  get self(): string | undefined {
    const { name, self } = this.#parts.cluster;
    return name === undefined ? undefined : self.id;
  }

  /** A minion connected to this master. */
  joined(connection: ToldConnection): void {
    if (this.#alone) return;
    this.#orphans.delete(connection[0]);
    this.#news.joined.push(connection);
    this.#soon();
  }

  left(id: string, boot: string): void {
    if (this.#alone) return;
    this.#news.left.push([id, boot, Date.now()]);
    this.#soon();
  }

  /** A message of a minion arrived here: told at most every ten seconds. */
  heard(id: string): void {
    if (this.#alone) return;
    const now = Date.now();
    if (now - (this.#told.get(id) ?? 0) < heardEveryMs) return;
    this.#told.delete(id);
    this.#told.set(id, now);
    const [oldest] = this.#told.keys();
    if (this.#told.size > mostOrphans && oldest !== undefined) this.#told.delete(oldest);
    this.#orphans.delete(id);
    this.#news.heard.push([id, now]);
    this.#soon();
  }

  /** Its connections to other members. */
  connections(id: string): FarConnection[] {
    return [...this.#far.values()].flatMap(({ list }) => list.connections(id));
  }

  /**
   * Whether a minion is connected to another member. 'no' only when each of them is known to have no connection, and
   * when it had time to come back after a member went.
   */
  connected(id: string): 'yes' | 'no' | 'unknown' {
    if (this.#alone) return 'no';
    const certain = this.#parts.cluster.state.kind === 'joined';
    const far = [...this.#far.values()];
    if (far.some(({ list }) => list.isConnected(id))) return certain ? 'yes' : 'unknown';
    const orphan = this.#orphans.get(id);
    if (orphan !== undefined && Date.now() - orphan < movedMs) return 'unknown';
    return certain && far.every(({ known }) => known) ? 'no' : 'unknown';
  }

  /** When its last connection to another member ended; 0 when that is not known. */
  lostAt(id: string): number {
    return Math.max(this.#orphans.get(id) ?? 0, ...[...this.#far.values()].map(({ list }) => list.lostAt(id)));
  }

  heardAt(id: string): number {
    return Math.max(0, ...[...this.#far.values()].map(({ list }) => list.heardAt(id)));
  }

  /** Other members to which it is connected, or that heard from it within a minute. */
  holders(id: string): string[] {
    const since = Date.now() - contactMs;
    return [...this.#far]
      .filter(([, { list }]) => list.isConnected(id) || list.heardAt(id) > since)
      .map(([member]) => member);
  }

  /** The minions that are connected to other members. */
  ids(): Set<string> {
    const ids = new Set<string>();
    for (const { list } of this.#far.values()) for (const id of list.ids()) if (list.isConnected(id)) ids.add(id);
    return ids;
  }

  /** Members whose minions are not known yet. */
  unknown(): string[] {
    return [...this.#far].filter(([, { known }]) => !known).map(([member]) => member);
  }

  close(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
    for (const stop of this.#stops) stop();
  }

  get #alone(): boolean {
    return this.#parts.cluster.name === undefined;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#tell(), gatherMs).unref();
  }

  #tell(): void {
    this.#timer = undefined;
    const { joined, left, heard } = this.#news;
    this.#news = empty();
    const { signals, state } = this.#parts.cluster;
    // When the members can be heard again, they ask for the list.
    if (state.kind !== 'joined') return;
    const most = Math.max(joined.length, left.length, heard.length);
    for (let at = 0; at < most; at += mostInMessage) {
      const [from, to] = [at, at + mostInMessage];
      signals.send('presence', {
        joined: joined.slice(from, to).map((each) => [...each]),
        left: left.slice(from, to),
        heard: heard.slice(from, to),
      });
    }
  }

  async *#answer(): AsyncIterable<Value> {
    let joined: Value[] = [];
    for (const connection of this.#parts.own()) {
      joined.push([...connection]);
      if (joined.length < mostInMessage) continue;
      yield { joined };
      joined = [];
    }
    yield { joined, last: true };
  }

  #heardOf(from: Member, news: PresenceNews): void {
    const far = this.#far.get(from.id);
    // Another process than the one whose list is here, or none: its whole list is needed.
    if (!far || far.boot !== from.boot) this.#missed(from);
    else if (far.meanwhile) {
      far.meanwhile.push(news);
      // A list that takes that long is asked for again.
      if (far.meanwhile.length > mostInMessage) far.meanwhile = undefined;
    } else this.#apply(from.id, far, news);
  }

  #apply(member: string, { list }: Far, news: PresenceNews): void {
    for (const [id] of news.joined) this.#orphans.delete(id);
    list.apply(news, (id, kind, restarted) => this.#parts.changed(id, kind, restarted));
    if (list.refused > 0) {
      this.#parts.log.limited(
        `presence:${member}`,
        'warn',
        'a member names more minions than is possible: some are left out',
        {
          member,
          refused: list.refused,
        },
      );
    }
  }

  #missed(member: Member): void {
    if (member.id === this.#parts.cluster.self.id || this.#end.signal.aborted) return;
    const before = this.#far.get(member.id);
    if (before?.meanwhile && before.boot === member.boot) return;
    const list = before?.list ?? new FarList(member.id);
    const far: Far = { boot: member.boot, list, known: false, meanwhile: [] };
    this.#far.set(member.id, far);
    void this.#ask(member, far);
  }

  /** Asks until it has the whole list, or the member is another one or gone. */
  async #ask(member: Member, far: Far): Promise<void> {
    const isWanted = (): boolean => this.#far.get(member.id) === far && !this.#end.signal.aborted;
    while (isWanted()) {
      far.meanwhile = [];
      try {
        const fresh = await this.#listOf(member);
        const meanwhile = far.meanwhile as PresenceNews[] | undefined;
        if (!isWanted()) return;
        if (fresh && meanwhile) return this.#replace(member.id, far, fresh, meanwhile);
      } catch (error) {
        this.#parts.log.debug('the minions of a member are not known yet', {
          member: member.id,
          why: messageOf(error),
        });
      }
      await new Promise((resolve) => setTimeout(resolve, askAgainMs).unref());
    }
  }

  /** Undefined when the answer broke off. */
  async #listOf(member: Member): Promise<FarList | undefined> {
    const { signals } = this.#parts.cluster;
    const fresh = new FarList(member.id);
    for await (const part of signals.ask(member.id, 'presence', null, { timeoutMs: askTimeoutMs })) {
      fresh.apply(readNews(part), () => undefined);
      if (typeof part === 'object' && part !== null && 'last' in part) return fresh;
      // It goes on without end.
      if (fresh.refused > 0) return fresh;
    }
    return undefined;
  }

  /** The new list takes the place of the old one; what differs is told as joined and left. */
  #replace(member: string, far: Far, fresh: FarList, meanwhile: readonly PresenceNews[]): void {
    const old = far.list;
    far.list = fresh;
    far.known = true;
    far.meanwhile = undefined;
    for (const id of fresh.ids()) {
      this.#orphans.delete(id);
      if (!old.isConnected(id)) this.#parts.changed(id, 'joined', false);
    }
    for (const id of old.ids())
      if (old.isConnected(id) && !fresh.isConnected(id)) this.#parts.changed(id, 'left', false);
    for (const news of meanwhile) this.#apply(member, far, news);
  }

  #gone(member: Member): void {
    const far = this.#far.get(member.id);
    if (!far) return;
    this.#far.delete(member.id);
    const now = Date.now();
    for (const [id, at] of this.#orphans) if (now - at > contactMs) this.#orphans.delete(id);
    for (const id of far.list.ids()) {
      if (!far.list.isConnected(id)) continue;
      if (this.#orphans.size < mostOrphans) this.#orphans.set(id, now);
      this.#parts.changed(id, 'left', false);
    }
    // Their verdicts come when they had time to connect to another member.
    const lost = [...far.list.ids()];
    setTimeout(() => {
      for (const id of lost) if (this.#orphans.has(id)) this.#parts.changed(id, 'left', false);
    }, movedMs + gatherMs).unref();
  }
}

const empty = (): { joined: ToldConnection[]; left: [string, string, number][]; heard: [string, number][] } => ({
  joined: [],
  left: [],
  heard: [],
});
