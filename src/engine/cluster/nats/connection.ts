// The connection to the nats-servers: kept up for ever, and asked with limits of time.
import { readFileSync } from 'node:fs';
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  headers,
  type Msg,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { ClusterOptions } from '../options.ts';

/** A server that answers no ping for so long is left for another one. */
const pingMs = 2000;

type ConnectionLog = Pick<Logger, 'info' | 'warn' | 'limited'>;

export class Connection {
  readonly nc: NatsConnection;
  #connected = true;
  /** How many there are to choose from. */
  readonly #servers: number;
  #why = '';
  readonly #log: ConnectionLog;

  private constructor(nc: NatsConnection, servers: number, log: ConnectionLog) {
    this.nc = nc;
    this.#servers = servers;
    this.#log = log;
    void this.#watch();
  }

  static async open(options: ClusterOptions, name: string, log: ConnectionLog, timeoutMs: number): Promise<Connection> {
    try {
      const nc = await connect({ ...settingsOf(options, name), timeout: timeoutMs });
      return new Connection(nc, options.servers.length, log);
    } catch (error) {
      throw cutOff(`no nats-server can be used (${options.servers.join(', ')}): ${messageOf(error)}`);
    }
  }

  /** Whether a server is connected now: otherwise requests would only wait in memory. */
  get connected(): boolean {
    return this.#connected && !this.nc.isClosed();
  }

  get server(): { readonly url: string; readonly version: string } {
    return { url: this.nc.getServer(), version: this.nc.info?.version ?? '' };
  }

  async request(subject: string, payload: Uint8Array | string, options: RequestOptions): Promise<Msg> {
    if (!this.connected) throw cutOff(this.#why || 'not connected to a nats-server');
    const some = headers();
    for (const [key, value] of Object.entries(options.headers ?? {})) some.set(key, value);
    try {
      return await this.nc.request(subject, payload, {
        timeout: options.timeoutMs,
        ...(options.headers ? { headers: some } : {}),
      });
    } catch (error) {
      throw cutOff(messageOf(error));
    }
  }

  /** To another server: this one answers, but has lost the others. */
  async elsewhere(): Promise<void> {
    if (this.#servers > 1 && this.connected) await this.nc.reconnect().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#connected = false;
    await this.nc.close();
  }

  async #watch(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        this.#why = 'the connection to the nats-server was lost';
        this.#log.limited('nats:lost', 'warn', this.#why);
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        this.#log.limited('nats:back', 'info', 'connected to a nats-server again', { server: this.server.url });
      } else if (status.type === 'error') {
        this.#log.limited('nats:error', 'warn', 'a nats-server refused something', { why: messageOf(status.error) });
      }
    }
    this.#connected = false;
  }
}

interface RequestOptions {
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export const cutOff = (why: string): HaliteError =>
  new HaliteError('cluster.cut-off', `The cluster cannot be reached: ${why}`);

export function settingsOf(options: ClusterOptions, name: string): ConnectionOptions {
  const { ca, cert, key } = options.tls;
  const wantsTls =
    options.servers.some((server) => server.startsWith('tls://')) || ca !== undefined || cert !== undefined;
  const authenticator = authenticatorOf(options);
  return {
    servers: [...options.servers],
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    reconnectJitter: 200,
    reconnectJitterTLS: 200,
    pingInterval: pingMs,
    maxPingOut: 2,
    // Only servers that the operator named: what a server tells of others may have no TLS, or be out of reach.
    ignoreClusterUpdates: true,
    ...(wantsTls
      ? { tls: { ...(ca ? { caFile: ca } : {}), ...(cert && key ? { certFile: cert, keyFile: key } : {}) } }
      : {}),
    ...(authenticator ? { authenticator } : {}),
    ...(options.login ? { user: options.login.user, pass: options.login.password } : {}),
  };
}

function authenticatorOf({ creds, nkey }: ClusterOptions): ConnectionOptions['authenticator'] {
  const file = creds ?? nkey;
  if (file === undefined) return undefined;
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new HaliteError('config.value', `cluster.${creds ? 'creds' : 'nkey'} cannot be read: ${messageOf(error)}`);
  }
  return creds ? credsAuthenticator(bytes) : nkeyAuthenticator(Buffer.from(bytes.toString('utf8').trim()));
}
