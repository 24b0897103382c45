// A few requests to one master, without a subscription: of salt-call, and of a minion that brings a result to a master it
// does not use now.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import type { MasterAddress, MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Transport } from '../../protocol/wire/transport.ts';
import type { Credentials } from './auth-reply.ts';
import type { Identity } from './identity.ts';
import { nameOf } from './masters/order.ts';
import { networkOptions } from './network.ts';
import { RequestChannel } from './request-channel.ts';
import { signIn } from './sign-in.ts';
import type { MasterTrust } from './trust.ts';

export interface MasterSession {
  readonly master: string;
  readonly channel: RequestChannel;
  /** Of the first sign-in. */
  readonly credentials: Credentials;
  close(): void;
}

export interface SessionParts {
  readonly opts: MinionOpts;
  readonly identity: Identity;
  readonly transport: Transport;
  readonly trust: MasterTrust;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** For the master's automatic acceptance of keys. */
  readonly grains: () => PlainDict;
  readonly tries?: number;
}

/** Signs in; throws when the master does not accept this minion. */
export async function openSession(parts: SessionParts, address: MasterAddress): Promise<MasterSession> {
  const { opts, identity, transport, trust, log, signal } = parts;
  const client = transport.dial({ ...address, ...networkOptions(opts) });
  const names = opts.autosign_grains ?? [];
  const autosignGrains = (): PlainDict => {
    const grains = parts.grains();
    return newDict(names.filter((name) => Object.hasOwn(grains, name)).map((name) => [name, grains[name]!] as const));
  };
  const master = nameOf(address);
  const connect = (tries: number): Promise<Credentials> =>
    signIn({ opts, identity, trust, client, master, log, signal, autosignGrains, tries });
  try {
    const credentials = await connect(parts.tries ?? Math.max(1, Math.min(opts.auth_tries, 3)));
    let keys = credentials;
    let renewing: Promise<Credentials> | undefined;
    // Many concurrent requests notice at the same time that the keys have changed.
    const renew = async (stale: Credentials): Promise<Credentials> => {
      if (keys !== stale) return keys;
      renewing ??= connect(1).finally(() => {
        renewing = undefined;
      });
      keys = await renewing;
      return keys;
    };
    const channel = new RequestChannel({ identity, client, credentials: async () => keys, renew });
    return { master, channel, credentials, close: () => client.close() };
  } catch (error) {
    client.close();
    throw error;
  }
}
