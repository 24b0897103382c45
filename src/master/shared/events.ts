// Events of a cluster: each is handled by one member, its origin or the home of its minion, and shown by all.

import { asDict, asList, asText, type Dict, type Value } from '../../base/codec/value.ts';
import type { Logger } from '../../base/log/index.ts';
import { isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { BusEvent, EventBus } from '../../protocol/event/bus.ts';
import { roughSize, trimToSize } from '../../protocol/event/trim.ts';
import { CallCopies, copyKey, HeldCopies, holdMs } from './copies.ts';
import { rendezvous } from './rendezvous.ts';

export interface SharedEventParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'state' | 'signals' | 'onChange'>;
  readonly bus: Pick<EventBus, 'fire' | 'subscribe'>;
  readonly log: Pick<Logger, 'limited'>;
  /** Other live members that have heard from this minion lately. */
  holders(id: string): readonly string[];
}

/** One event of a minion, as received here. */
interface MinionEvent {
  readonly id: string;
  readonly tag: string;
  readonly data: Dict;
}

/** Each later member waits longer, so that the members behind a lost home do not all handle the event. */
const nextHomeMs = 1_000;
/** One message of the engine holds 1 MB. */
const mostBytes = 384 * 1024;
const mostInMessage = 1000;
const gatherMs = 5;
/** Events told to the other members in one second; their viewers miss the rest. */
const mostPerSecond = 20_000;

/** Made from the relay, the ledger and the registry by each member itself. */
const isShared = (tag: string): boolean =>
  isJid(tag) || /^salt\/job\/\d{20}[^/]*\/(?:new$|ret\/)/.test(tag) || tag === 'salt/key';

export class SharedEvents {
  readonly #parts: SharedEventParts;
  readonly #calls = new CallCopies();
  readonly #copies: HeldCopies<MinionEvent>;
  readonly #stops: (() => void)[] = [];
  #waiting: Value[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #second = { at: 0, sent: 0 };

  constructor(parts: SharedEventParts) {
    this.#parts = parts;
    const { cluster, bus, log } = parts;
    this.#copies = new HeldCopies({
      overdue: (event) => this.#handle(event),
      dropped: ({ tag }) =>
        log.limited('events held', 'warn', 'too many events wait for their home: one is dropped', { tag }),
    });
    if (cluster.name === undefined) return;
    this.#stops.push(
      bus.subscribe('', (event) => this.#ofBus(event)),
      cluster.signals.on('event', (body) => this.#heard(body)),
      cluster.onChange((change) => {
        if (change.kind === 'state' && change.state.kind === 'cut-off') this.#copies.release();
      }),
    );
  }

  /** A minion sent an event to this master; others of the cluster may have got it too. */
  fromMinion(id: string, tag: string, data: Dict): void {
    if (this.#calls.isCopy(id, tag, data)) return;
    const event = { id, tag, data };
    const { cluster } = this.#parts;
    const others = cluster.state.kind === 'joined' ? this.#parts.holders(id) : [];
    if (others.length === 0) {
      this.#handle(event);
      return;
    }
    const key = copyKey(id, tag, data);
    // Also asked by the home: another member may have taken its place for a moment.
    if (this.#copies.isTold(key)) return;
    const rank = rendezvous(id, [cluster.self.id, ...others]).indexOf(cluster.self.id);
    if (rank > 0) this.#copies.hold(key, event, holdMs + (rank - 1) * nextHomeMs);
    else this.#handle(event);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#copies.stop();
    this.#flush();
  }

  /** This master is the home: it acts on the event, and tells the others. */
  #handle({ id, tag, data }: MinionEvent): void {
    this.#parts.bus.fire(tag, data, 'home');
    this.#tell(tag, data, id);
  }

  #ofBus({ tag, data, origin }: BusEvent): void {
    if (origin === 'own' && !isShared(tag)) this.#tell(tag, data, undefined);
  }

  #tell(tag: string, data: Dict, id: string | undefined): void {
    if (this.#parts.cluster.state.kind !== 'joined') return;
    const now = Date.now();
    if (now - this.#second.at >= 1000) this.#second = { at: now, sent: 0 };
    if (++this.#second.sent > mostPerSecond) {
      this.#parts.log.limited(
        'events told',
        'warn',
        'more events than other members are told: their viewers miss some',
        {},
      );
      return;
    }
    const small = trimToSize(data, mostBytes);
    // Computed before it is cut: the copies at other members are whole.
    const key = id === undefined ? null : copyKey(id, tag, data);
    const bytes = roughSize(small) + tag.length;
    if (this.#bytes + bytes > mostBytes) this.#flush();
    this.#waiting.push([tag, small, id ?? null, key]);
    this.#bytes += bytes;
    if (this.#waiting.length >= mostInMessage) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), gatherMs).unref();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (events.length > 0) this.#parts.cluster.signals.send('event', { events });
  }

  #heard(body: Value): void {
    for (const told of readTold(body)) {
      if (told.key !== undefined) this.#copies.told(told.key);
      this.#parts.bus.fire(told.tag, told.data, 'foreign');
    }
  }
}

interface Told {
  readonly tag: string;
  readonly data: Dict;
  /** Of an event of a minion. */
  readonly key: string | undefined;
}

const longestTag = 4096;

/** What another member tells; what is malformed is left out. */
export function readTold(body: Value): Told[] {
  const events = asList(asDict(body) && (body as { events?: Value })['events']) ?? [];
  return events.slice(0, mostInMessage).flatMap((event): Told[] => {
    const [first, second, id, third] = asList(event) ?? [];
    const [tag, data, key] = [asText(first), asDict(second), asText(third)];
    if (tag === undefined || tag === '' || tag.length > longestTag || !data || isShared(tag)) return [];
    const ofMinion = isValidMinionId(id) && key !== undefined && /^[\w-]{22}$/.test(key);
    return [{ tag, data, key: ofMinion ? key : undefined }];
  });
}
