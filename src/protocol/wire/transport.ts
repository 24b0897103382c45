// The interface of a transport: requests with exactly one reply, and publishes to many.

/** One request as it arrived; the handler must call `reply` exactly once. */
export interface IncomingRequest {
  readonly payload: Uint8Array;
  /** The address of the sender, as far as the transport knows it (`tcp://10.0.0.1:5123`), for logs and presence. */
  readonly peer: string;
  /** Its connection has ended: a reply would reach nobody. */
  readonly gone: boolean;
  reply(payload: Uint8Array): void;
  /** Marks its sender as authenticated: from now on its connection has higher limits. */
  trust(): void;
}

export type RequestHandler = (request: IncomingRequest) => void;

/** The master's request port. */
export interface RequestServer {
  readonly port: number;
  /** How many there are now. */
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * What a publisher reports about a subscriber. `topic` is the presence text of a Halite minion (see presence-topic.ts).
 */
export interface SubscriberEvent {
  readonly kind: 'joined' | 'left';
  /** Empty when the subscriber is a real Salt minion that identified itself over TCP: `id` is then set. */
  readonly topic: string;
  /** TCP only: the id that the identification frame proved. */
  readonly id?: string;
  readonly peer: string;
}

/** An error of a peer that was ignored or for which it was disconnected; for counters and a rate-limited log line. */
export interface WireProblem {
  readonly kind: 'malformed' | 'too-large' | 'slow' | 'idle' | 'handler' | 'overload';
  readonly peer: string;
  readonly detail: string;
}

/** The master's publish port. */
/** Subscribers that have proved to be Halite minions, or the others. */
export type Audience = 'halite' | 'others';

export interface PublishServer {
  readonly port: number;
  /** How many there are now. */
  readonly connections: number;
  /**
   * Sends one packed envelope to all subscribers, or (`ids`) only to those ids where the transport can distinguish
   * them.
   * Never waits: messages are sent in call order, a few at a time. Throws when far too many already wait. `to`: only
   * these subscribers, where the transport can distinguish them.
   */
  publish(payload: Uint8Array, ids?: readonly string[], to?: Audience): void;
  close(): Promise<void>;
}

export interface TlsOptions {
  readonly certfile?: string;
  readonly keyfile?: string;
  readonly ca_certs?: string;
  /** 3007+: more certificate authorities, as file names or maps with `cafile`, `capath`, `cadata`. */
  readonly verify_locations?: readonly (string | { cafile?: string; capath?: string; cadata?: string })[];
  readonly verify_flags?: readonly string[];
  readonly cert_reqs?: string;
  readonly ciphers?: string;
  readonly ssl_version?: string;
}

/** TCP keepalive as in Salt's `tcp_keepalive*` options; -1 leaves the system's value. */
export interface KeepAlive {
  readonly idleSeconds: number;
  readonly count: number;
  readonly intervalSeconds: number;
}

export interface ListenOptions {
  readonly interface: string;
  readonly port: number;
  readonly ipv6?: boolean;
  readonly backlog?: number;
  readonly tls?: TlsOptions | true;
  /**
   * Largest accepted request (default 100 MiB). TCP closes the connection of a larger one; ZeroMQ skips it and answers,
   * and closes the connection above twice the size.
   */
  readonly maxMessageBytes?: number;
  readonly keepAlive?: KeepAlive | false;
  readonly onProblem?: (problem: WireProblem) => void;
}

export interface PublishListenOptions extends ListenOptions {
  readonly hwm: number;
  /** ZeroMQ only: two-frame publishes with a topic per id (`zmq_filtering`). */
  readonly filtering?: boolean;
  /** `order_masters`: per-id publishes also go to syndics (filtered ZeroMQ) or to all subscribers (TCP). */
  readonly syndics?: boolean;
  /** ZeroMQ heartbeats (default on). Only sent to peers that can answer them. */
  readonly heartbeat?: boolean;
  /** TCP only: checks the body of the identification frame and returns the id that it proves, or undefined. */
  readonly identify?: (body: unknown) => Promise<string | undefined>;
  /** Checks the proof in a presence text; without this function every well-formed text is accepted. */
  readonly provesPresence?: (topic: string) => boolean;
  readonly onSubscriber?: (event: SubscriberEvent) => void;
}

/** The request connection of a minion (or client) to one master. Safe for concurrent calls. */
export interface RequestClient {
  /**
   * Rejects with HaliteError wire.timeout / wire.closed. Dials (and resolves DNS) again when the connection is lost.
   */
  request(payload: Uint8Array, options: { timeoutMs: number; signal?: AbortSignal }): Promise<Uint8Array>;
  close(): void;
}

/** A minion's subscription to one master's publish port. */
export interface Subscription {
  /** Replaces the presence text, after a new session key; without reconnecting where the transport supports that. */
  setPresence(topic: string): void;
  close(): void;
}

export interface SubscribeOptions {
  readonly host: string;
  readonly port: number;
  readonly id: string;
  readonly ipv6?: boolean;
  /** Same as the master's `zmq_filtering`: false receives everything, true only what is for this id. */
  readonly filtering?: boolean;
  /** A syndic: subscribes to the `syndic` topic instead of one for its id. */
  readonly syndic?: boolean;
  readonly tls?: TlsOptions | true;
  readonly sourceAddress?: string;
  readonly keepAlive?: KeepAlive | false;
  /** ZeroMQ heartbeats (default on). Masters with libzmq older than 4.2 cannot answer them: switch off for those. */
  readonly heartbeat?: boolean;
  readonly onProblem?: (problem: WireProblem) => void;
  /** Additional subscription text that tells a Halite master which minion is connected; real Salt masters ignore it. */
  readonly presenceTopic?: string;
  /** TCP: builds the body of the identification frame, called at every (re)connect. */
  readonly identification?: () => Promise<unknown>;
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly onPublish: (payload: Uint8Array) => void;
  readonly onState: (state: 'connected' | 'disconnected', detail: string) => void;
}

export interface DialOptions {
  readonly host: string;
  readonly port: number;
  readonly ipv6?: boolean;
  readonly tls?: TlsOptions | true;
  readonly sourceAddress?: string;
  readonly keepAlive?: KeepAlive | false;
  /** ZeroMQ heartbeats (default on). Masters with libzmq older than 4.2 cannot answer them: switch off for those. */
  readonly heartbeat?: boolean;
}

/** One transport, both sides. Implemented by zeromq.ts, tcp.ts and ws.ts. */
export interface Transport {
  readonly name: 'zeromq' | 'tcp' | 'ws';
  listenRequests(options: ListenOptions, handler: RequestHandler): Promise<RequestServer>;
  listenPublish(options: PublishListenOptions): Promise<PublishServer>;
  dial(options: DialOptions): RequestClient;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
}
