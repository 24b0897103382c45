// Looks at the nats-servers of a cluster one by one, without joining: what is wrong with them, for `halite doctor`.
import { connect } from '@nats-io/transport-node';
import { messageOf } from '../../../base/errors/index.ts';
import type { ClusterOptions } from '../options.ts';
import { settingsOf } from './connection.ts';
import { asJson, type Json, wholeNumber } from './jetstream.ts';
import { streamName } from './streams.ts';

export interface ServerProbe {
  readonly url: string;
  /** Why it cannot be used. */
  readonly error?: string;
  readonly version?: string;
  /** Limits of the account in bytes; below zero there is none. */
  readonly storage?: { readonly used: number; readonly most: number };
  /** Copies of the ledger; absent while there is none. */
  readonly replicas?: number;
  /** Absent when its monitoring port does not answer. */
  readonly syncs?: boolean;
}

const patienceMs = 3000;

export function probeServers(options: ClusterOptions): Promise<ServerProbe[]> {
  return Promise.all(options.servers.map((url) => probe(url, options)));
}

async function probe(url: string, options: ClusterOptions): Promise<ServerProbe> {
  try {
    const settings = { ...settingsOf(options, 'halite doctor'), servers: [url], reconnect: false };
    const nc = await connect({ ...settings, maxReconnectAttempts: 0, timeout: patienceMs });
    try {
      const ask = async (subject: string): Promise<Json> =>
        asJson((await nc.request(subject, '', { timeout: patienceMs })).json()) ?? {};
      const account = await ask('$JS.API.INFO');
      const failed = asJson(account['error']);
      if (failed) return { url, error: `JetStream cannot be used: ${String(failed['description'])}` };
      const log = await ask(`$JS.API.STREAM.INFO.${streamName.log(options.name)}`);
      const replicas = wholeNumber(asJson(log['config'])?.['num_replicas']);
      const limits = asJson(account['limits']);
      const syncs = await syncsBeforeAnswering(url);
      return {
        url,
        ...(nc.info?.version ? { version: nc.info.version } : {}),
        storage: { used: wholeNumber(account['storage']) ?? 0, most: wholeNumber(limits?.['max_storage']) ?? -1 },
        ...(replicas === undefined ? {} : { replicas }),
        ...(syncs === undefined ? {} : { syncs }),
      };
    } finally {
      await nc.close();
    }
  } catch (error) {
    return { url, error: messageOf(error) };
  }
}

/** The usual monitoring port tells it, where it is open. */
async function syncsBeforeAnswering(url: string): Promise<boolean | undefined> {
  const { hostname } = new URL(url.replace(/^(tls|nats):/, 'http:'));
  try {
    const answer = await fetch(`http://${hostname}:8222/varz`, { signal: AbortSignal.timeout(1000) });
    const config = asJson(asJson(asJson(await answer.json())?.['jetstream'])?.['config']);
    return config && (config['sync_always'] === true || config['sync_interval'] === 0);
  } catch {
    return undefined;
  }
}
