// One master: sign-in, subscription, requests and state. A minion has one of these per master; they are independent of
// each other.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterAddress, MinionOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { backoff } from '../../base/util/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { bootText, presenceTopic } from '../../protocol/wire/presence-topic.ts';
import type { RequestClient, Subscription, Transport } from '../../protocol/wire/transport.ts';
import type { RecentJobs } from '../jobs/recent-jobs.ts';
import { fetchPillar, type PillarRequest, reportPillarErrors } from '../services/pillar.ts';
import type { Credentials } from './auth-reply.ts';
import { Heartbeat } from './heartbeat.ts';
import type { Identity } from './identity.ts';
import { MasterWords } from './master-word.ts';
import { addressTowards, networkOptions } from './network.ts';
import { Receiver } from './receive.ts';
import { RequestChannel, type RequestOptions } from './request-channel.ts';
import { type SignInState, signIn } from './sign-in.ts';
import { announce, pickGrains } from './start-events.ts';
import type { MasterTrust } from './trust.ts';

const question = newDict([['cmd', '_file_envs']]);

export type LinkState = SignInState | 'connected' | 'disconnected' | 'stopped';

export interface LinkOptions {
  readonly opts: MinionOpts;
  readonly address: MasterAddress;
  readonly identity: Identity;
  readonly trust: MasterTrust;
  readonly transport: Transport;
  readonly log: Logger;
  /** A syndic gets every job, and has neither a pillar nor a presence of its own: its minions do. */
  readonly syndic?: boolean;
  /** Random per process: two live values for one id are two minions. */
  readonly boot: string;
  readonly recent: RecentJobs;
  /** See Receiver. */
  readonly jobKey?: (job: PublishedJob) => string;
  /** Attempts of the first sign-in; without it there is no limit. */
  readonly tries?: number | undefined;
  /** Asks the master this often whether it is there, whatever kind of master it is. */
  readonly heartbeatMs?: number | undefined;
  readonly grains: () => Promise<PlainDict>;
  readonly isTarget: (link: MasterLink, job: PublishedJob) => Promise<boolean>;
  readonly onJob: (link: MasterLink, job: PublishedJob) => void;
  /** What has to happen between the first pillar and the first job. */
  readonly prepare?: ((link: MasterLink) => Promise<void>) | undefined;
  /** Called when signed in, with pillar and subscription; also after every reconnection. */
  readonly onReady: (link: MasterLink) => void;
  /** Called when the pillar changed. */
  readonly onPillar: (link: MasterLink) => void;
}

/** The part of a link that running a job needs; a minion without a master has one too. */
export type JobLink = Pick<
  MasterLink,
  | 'name'
  | 'ready'
  | 'state'
  | 'credentials'
  | 'pillar'
  | 'fire'
  | 'fireAll'
  | 'request'
  | 'loadPillar'
  | 'compilePillar'
>;

export class MasterLink {
  readonly name: string;
  readonly address: MasterAddress;
  readonly channel: RequestChannel;
  readonly words: MasterWords;
  pillar: Dict = newDict();
  readonly #options: LinkOptions;
  readonly #client: RequestClient;
  readonly #control = new AbortController();
  readonly #heartbeat: Heartbeat;
  #keys: Credentials | undefined;
  #signingIn: Promise<Credentials> | undefined;
  #subscription: Subscription | undefined;
  #subscribedPort = 0;
  #currentState: LinkState = 'trying';
  #connections = 0;
  #boot: string;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.address = options.address;
    this.#boot = options.boot;
    this.name = `${options.address.host}:${options.address.port}`;
    const { opts } = options;
    this.#client = options.transport.dial({ ...options.address, ...networkOptions(opts) });
    this.channel = new RequestChannel({
      identity: options.identity,
      client: this.#client,
      credentials: () => (this.#keys ? Promise.resolve(this.#keys) : this.#authenticate()),
      renew: (stale) => this.renew(stale),
    });
    this.words = new MasterWords({
      ...{ trust: options.trust, log: options.log, timeoutMs: opts.request_channel_timeout * 1000 },
      credentials: () => this.#keys,
      request: (load, how) => this.request(load, how),
    });
    this.#heartbeat = new Heartbeat(this, opts.ping_interval, options.log);
  }

  get state(): LinkState {
    return this.#currentState;
  }

  get ready(): boolean {
    return this.#keys !== undefined && this.#currentState === 'connected';
  }

  get credentials(): Credentials | undefined {
    return this.#keys;
  }

  /**
   * Connects and stays connected. Resolves after the first sign-in, pillar and subscription; rejects when the master
   * refuses this minion permanently.
   */
  async start(): Promise<void> {
    const { opts } = this.#options;
    if (opts.autosign_grains && opts.autosign_grains.length > 0) await this.#options.grains();
    await this.#authenticate();
    const { signal } = this.#control;
    const { heartbeatMs } = this.#options;
    if (heartbeatMs !== undefined) this.#heartbeat.start(this.#keys?.halite === true, heartbeatMs);
    const hasPillar = this.#options.syndic === true || (await this.loadPillar());
    await this.#options.prepare?.(this);
    signal.throwIfAborted();
    const address = opts.source_address || (await addressTowards(this.address.host));
    this.#boot = bootText(this.#options.boot, { pid: process.pid, address });
    signal.throwIfAborted();
    await this.#subscribe();
    if (!hasPillar) void this.#retryPillar();
    await announce(this, this.#options);
    signal.throwIfAborted();
    this.#heartbeat.start(this.#keys?.halite === true);
  }

  stop(): void {
    this.#currentState = 'stopped';
    this.#heartbeat.stop();
    this.#control.abort();
    this.#subscription?.close();
    this.#client.close();
  }

  /** How long the master has said nothing; it is asked regularly. */
  get silentMs(): number {
    return this.#heartbeat.silentMs;
  }

  /** Silence until now was not the master's. */
  heardNow(): void {
    this.#heartbeat.heard();
  }

  /** One request to this master. */
  async request(load: PlainDict, options: RequestOptions): Promise<Value> {
    const value = await this.channel.request(load, { signal: this.#control.signal, ...options });
    this.#heartbeat.heard();
    return value;
  }

  /** Fires an event on the master's bus. */
  async fire(tag: string, data: Value, extra: PlainDict = newDict()): Promise<boolean> {
    const load = newDict([
      ['id', this.#options.identity.id],
      ['cmd', '_minion_event'],
      ['pretag', null],
      ['data', data],
      ['tag', tag],
      ...Object.entries(extra),
    ]);
    return this.#deliver(load, tag);
  }

  /** Fires several events, each `{tag, data}`, with one request. */
  fireAll(events: readonly PlainDict[]): Promise<boolean> {
    const load = newDict(
      Object.entries({ id: this.#options.identity.id, cmd: '_minion_event', pretag: null, events: [...events] }),
    );
    return this.#deliver(load, String(events[0]?.['tag'] ?? ''));
  }

  async #deliver(load: PlainDict, tag: string): Promise<boolean> {
    try {
      await this.request(load, { timeoutMs: this.#options.opts.request_channel_timeout * 1000 });
      return true;
    } catch (error) {
      this.#options.log.info('an event did not reach the master', { tag, error: messageOf(error) });
      return false;
    }
  }

  /** Compiles the pillar on the master without storing it. */
  async compilePillar(request: PillarRequest): Promise<Dict> {
    return fetchPillar(this.channel, this.#options.opts, await this.#options.grains(), request, this.#control.signal);
  }

  /** Fetches the pillar and stores it; after a failure the old one stays. */
  async loadPillar(): Promise<boolean> {
    try {
      const pillar = await this.compilePillar({});
      reportPillarErrors(pillar, this.#options.log);
      this.pillar = pillar;
      this.#options.onPillar(this);
      return true;
    } catch (error) {
      this.#options.log.error('The pillar could not be fetched', { error: messageOf(error) });
      return false;
    }
  }

  /** A minion without pillar would silently do the wrong thing: it retries until there is one. */
  async #retryPillar(): Promise<void> {
    const wait = backoff({ base: 5000, max: 60_000 });
    const { signal } = this.#control;
    while (!signal.aborted) {
      await sleep(wait.next(), undefined, { signal }).catch(() => undefined);
      if (signal.aborted || (await this.loadPillar())) return;
    }
  }

  /** Signs in again unless that has happened since `stale` was issued. Concurrent calls share one attempt. */
  async renew(stale: Credentials): Promise<Credentials> {
    return this.#keys !== stale && this.#keys ? this.#keys : this.#authenticate();
  }

  #authenticate(): Promise<Credentials> {
    this.#signingIn ??= this.#signIn().finally(() => {
      this.#signingIn = undefined;
    });
    return this.#signingIn;
  }

  async #signIn(): Promise<Credentials> {
    const { opts, identity, trust, log } = this.#options;
    const grains = opts.autosign_grains?.length ? await this.#options.grains() : newDict();
    const keys = await signIn({
      opts,
      identity,
      trust,
      client: this.#client,
      master: this.name,
      log,
      signal: this.#control.signal,
      autosignGrains: () => pickGrains(grains, opts.autosign_grains ?? []),
      ...(this.#keys || this.#options.tries === undefined ? {} : { tries: this.#options.tries }),
      onState: (state) => {
        this.#currentState = state;
      },
    });
    const first = this.#keys === undefined;
    this.#keys = keys;
    this.#heartbeat.heard();
    if (this.#subscription) this.#currentState = 'connected';
    log.info(first ? 'signed in' : 'signed in again');
    await this.#followKeys(keys);
    // Its key may have been deleted and accepted again: the master has forgotten what it is.
    if (!first && this.#options.syndic) void announce(this, this.#options);
    if (keys.nextKey !== '') void this.words.hearNow();
    // Returns that could not be delivered without keys can be delivered now.
    if (!first && this.ready) this.#options.onReady(this);
    return keys;
  }

  async beat(options: RequestOptions): Promise<void> {
    if (!(await this.words.hear(options))) await this.request(question, options);
  }

  /** New keys: the presence proof uses the session key, and the port may have changed. */
  async #followKeys(keys: Credentials): Promise<void> {
    if (!this.#subscription) return;
    if (this.#publishPort(keys) !== this.#subscribedPort) {
      this.#subscription.close();
      await this.#subscribe();
    } else if (keys.generation === 3 && !this.#options.syndic) this.#subscription.setPresence(this.#presence(keys));
  }

  #publishPort(keys: Credentials): number {
    const own = this.#options.opts.publish_port;
    // As in Salt: a port set here overrides the master's, unless it is the default of the request port.
    return own !== undefined && own !== 4506 ? own : (keys.publishPort ?? 4505);
  }

  #presenceOf(keys: Credentials): { presenceTopic?: string } {
    return keys.generation === 3 ? { presenceTopic: this.#presence(keys) } : {};
  }

  #presence(keys: Credentials): string {
    return presenceTopic({ id: this.#options.identity.id, boot: this.#boot }, keys.session.keyString);
  }

  async #subscribe(): Promise<void> {
    const { opts, identity, transport, trust, log } = this.#options;
    const keys = this.#keys;
    if (!keys) throw new HaliteError('auth.failed', `Not signed in at ${this.name}`);
    const receiver = new Receiver({
      ...{ log, master: this.name },
      requireSignature: opts.sign_pub_messages,
      credentials: () => this.#keys,
      renew: (stale) => this.renew(stale),
      otherKeys: () => [trust.stored, trust.next].filter((pem) => pem !== undefined),
      recent: this.#options.recent,
      jobKey: this.#options.jobKey,
      isTarget: (job) => this.#options.isTarget(this, job),
      accept: (job) => this.#options.onJob(this, job),
    });
    this.#subscribedPort = this.#publishPort(keys);
    this.#subscription = await transport.subscribe({
      host: this.address.host,
      port: this.#subscribedPort,
      id: identity.id,
      filtering: opts.zmq_filtering,
      ...networkOptions(opts),
      ...(this.#options.syndic ? { syndic: true } : this.#presenceOf(keys)),
      identification: () => this.#identification(),
      reconnectMinMs: opts.recon_default,
      reconnectMaxMs: opts.recon_default + opts.recon_max,
      onPublish: (payload) => void receiver.receive(payload),
      onState: (state, detail) => this.#connection(state, detail),
    });
    if (this.#control.signal.aborted) this.#subscription.close();
    else this.#currentState = 'connected';
  }

  /**
   * TCP: identifies this minion on the publish connection. After a reconnection the keys may be old, so they are
   * renewed first.
   */
  async #identification(): Promise<unknown> {
    let keys = this.#keys;
    if (!keys) throw new HaliteError('auth.failed', `Not signed in at ${this.name}`);
    if (this.#connections > 0) keys = await this.renew(keys);
    const { id, tok } = this.#options.identity;
    const load = keys.aes.seal(newDict(Object.entries({ id, tok })));
    return newDict(Object.entries({ enc: 'aes', load, version: 3 }));
  }

  #connection(state: 'connected' | 'disconnected', detail: string): void {
    const { log } = this.#options;
    if (this.#currentState === 'stopped') return;
    if (state === 'disconnected') {
      this.words.forget();
      // One line per lost connection; the following attempts are logged only at debug level.
      const level = this.#currentState === 'connected' ? 'warn' : 'debug';
      if (this.#currentState === 'connected') this.#currentState = 'disconnected';
      log.log(level, 'the connection to the master is lost, reconnecting', { detail });
      return;
    }
    this.#currentState = 'connected';
    if (this.#connections++ === 0) {
      log.info('connected to the master, waiting for jobs');
      this.#options.onReady(this);
      return;
    }
    log.info('connected to the master again');
    void this.#afterReconnect();
  }

  /**
   * The master may have been restarted, with other keys. A random delay spreads many minions; a job that arrives first
   * renews immediately.
   */
  async #afterReconnect(): Promise<void> {
    const { opts, transport, log } = this.#options;
    const before = this.#keys;
    try {
      await sleep(Math.random() * Math.min(1000, opts.random_reauth_delay * 1000), undefined, {
        signal: this.#control.signal,
      });
      // TCP has already renewed them, to identify itself.
      if (before && transport.name !== 'tcp') await this.renew(before);
      // The master may be another one, which does not know its lower masters.
      if (transport.name === 'tcp' || this.#options.syndic) await announce(this, this.#options);
      this.#options.onReady(this);
    } catch (error) {
      if (!this.#control.signal.aborted) log.warn('not signed in after reconnecting', { error: messageOf(error) });
    }
  }
}
