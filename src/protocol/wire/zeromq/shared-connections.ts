// Connections of many minions of one process to the same master: all share those for requests, and some each one for
// publishes, with a topic for each.
import type { Subscriber } from 'zeromq';
import { keepConnected, type SessionContext } from '../link/keep-connected.ts';
import type { RequestClient, SubscribeOptions, Subscription, Transport } from '../transport.ts';
import { connect } from './connect.ts';
import { minionTopic } from './publisher.ts';
import { newSocket } from './subscriber.ts';

/** Each minion has two topics, and a master allows 64 for a connection. */
const mostMembers = 20;

interface Member {
  readonly options: SubscribeOptions;
  presence: string | undefined;
}

class Group {
  readonly members = new Map<string, Member>();
  readonly #first: SubscribeOptions;
  readonly #keep: { close(): void };
  #live: Subscriber | undefined;
  #address: string | undefined;

  constructor(first: SubscribeOptions) {
    this.#first = first;
    this.#keep = keepConnected({
      minMs: first.reconnectMinMs,
      maxMs: first.reconnectMaxMs,
      session: (context) => this.#session(context),
      onState: (state, detail) => {
        this.#address = state === 'connected' ? detail : undefined;
        for (const { options } of this.members.values()) options.onState(state, detail);
      },
    });
  }

  add(options: SubscribeOptions): Subscription {
    const topic = minionTopic(options.id);
    const member: Member = { options, presence: options.presenceTopic };
    this.members.set(topic, member);
    this.#change((socket) => socket.subscribe(...this.#topicsOf(topic, member)));
    const address = this.#address;
    if (address !== undefined) queueMicrotask(() => options.onState('connected', address));
    return {
      setPresence: (presence) => {
        const before = member.presence;
        member.presence = presence;
        if (before === presence) return;
        this.#change((socket) => {
          if (before) socket.unsubscribe(before);
          socket.subscribe(presence);
        });
      },
      close: () => {
        if (this.members.get(topic) !== member) return;
        this.members.delete(topic);
        this.#change((socket) => socket.unsubscribe(...this.#topicsOf(topic, member)));
        if (this.members.size === 0) this.#keep.close();
      },
    };
  }

  #change(work: (socket: Subscriber) => void): void {
    if (this.#live && !this.#live.closed) work(this.#live);
  }

  #topicsOf(topic: string, { presence }: Member): string[] {
    return [...(this.#first.filtering ? [topic] : []), ...(presence ? [presence] : [])];
  }

  async #session(context: SessionContext): Promise<string> {
    const topics = [...this.members].flatMap(([topic, member]) => this.#topicsOf(topic, member));
    const { socket, address, gone } = await connect(
      this.#first,
      context.attempt,
      (family) => newSocket(this.#first, family, [this.#first.filtering ? 'broadcast' : '', ...topics]),
      context.signal,
    );
    this.#live = socket;
    const onAbort = () => socket.close();
    context.signal.addEventListener('abort', onAbort, { once: true });
    // Members that came while it was connecting.
    for (const [topic, member] of this.members)
      for (const wanted of this.#topicsOf(topic, member)) if (!topics.includes(wanted)) socket.subscribe(wanted);
    context.connected(address);
    const reading = this.#read(socket);
    const reason = await gone;
    context.signal.removeEventListener('abort', onAbort);
    this.#live = undefined;
    if (!socket.closed) socket.close();
    await reading;
    return reason;
  }

  /** A publish for one id, which a filtering master sends with its topic, is for that member alone. */
  async #read(socket: Subscriber): Promise<void> {
    for await (const frames of socket) {
      const payload = frames.at(-1);
      if (!payload || frames.length > 2) continue;
      const topic = frames.length === 2 ? String(frames[0]) : 'broadcast';
      const one = this.members.get(topic);
      const receivers = topic === 'broadcast' ? [...this.members.values()] : one ? [one] : [];
      for (const { options } of receivers) options.onPublish(payload);
    }
  }
}

interface SharedClient {
  readonly client: RequestClient;
  users: number;
}

/** The transport for many minions of one process. A request says itself whose it is. */
export function sharingConnections(transport: Transport): Transport {
  const groups = new Map<string, Group[]>();
  const clients = new Map<string, SharedClient>();
  return {
    ...transport,
    dial(options) {
      const key = `${options.host}:${options.port}`;
      const shared = clients.get(key) ?? { client: transport.dial(options), users: 0 };
      clients.set(key, shared);
      shared.users++;
      let open = true;
      return {
        request: (payload, settings) => shared.client.request(payload, settings),
        close() {
          if (!open) return;
          open = false;
          if (--shared.users > 0) return;
          clients.delete(key);
          shared.client.close();
        },
      };
    },
    async subscribe(options) {
      const key = `${options.host}:${options.port}`;
      const known = (groups.get(key) ?? []).filter(({ members }) => members.size > 0);
      let group = known.find(({ members }) => members.size < mostMembers);
      if (!group) {
        group = new Group(options);
        known.push(group);
      }
      groups.set(key, known);
      return group.add(options);
    },
  };
}
