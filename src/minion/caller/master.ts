// The connection of a command (salt-call) to a master: the first configured one that accepts this minion, for a few
// requests.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { type MinionOpts, masterAddresses } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { getTransport } from '../../protocol/wire/transports.ts';
import type { Credentials } from '../link/auth-reply.ts';
import { loadIdentity } from '../link/identity.ts';
import { networkOptions } from '../link/network.ts';
import { RequestChannel } from '../link/request-channel.ts';
import { signIn } from '../link/sign-in.ts';
import { MasterTrust } from '../link/trust.ts';

export interface MasterSession {
  readonly master: string;
  readonly channel: RequestChannel;
  close(): void;
}

/** Signs in to the first master that accepts; throws the error of the last one when none does. */
export async function openMasterSession(
  opts: MinionOpts,
  log: Logger,
  grains: PlainDict,
  signal: AbortSignal,
): Promise<MasterSession> {
  const [identity, transport, trust] = await Promise.all([
    loadIdentity(opts),
    getTransport(opts.transport),
    MasterTrust.load(opts),
  ]);
  let last: unknown = new HaliteError('config.value', 'No master is configured', {
    hint: 'Set master in the minion configuration.',
  });
  for (const address of masterAddresses(opts)) {
    const master = `${address.host}:${address.port}`;
    const client = transport.dial({ ...address, ...networkOptions(opts) });
    const names = opts.autosign_grains ?? [];
    const autosignGrains = () =>
      newDict(names.filter((name) => Object.hasOwn(grains, name)).map((name) => [name, grains[name]!] as const));
    const connect = (tries: number): Promise<Credentials> =>
      signIn({ opts, identity, trust, client, master, log, signal, autosignGrains, tries });
    try {
      let keys = await connect(Math.max(1, Math.min(opts.auth_tries, 3)));
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
      return { master, channel, close: () => client.close() };
    } catch (error) {
      client.close();
      signal.throwIfAborted();
      last = error;
      log.debug('this master does not accept this minion', { master, error: messageOf(error) });
    }
  }
  throw last;
}
