// An accepted minion that means harm: it signs in over the real wire and then sends whatever a test wants.
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { loadMinionConfig } from '../../src/base/config/index.ts';
import { nullLogger } from '../../src/base/log/index.ts';
import type { Credentials } from '../../src/minion/link/auth-reply.ts';
import { loadIdentity } from '../../src/minion/link/identity.ts';
import { RequestChannel } from '../../src/minion/link/request-channel.ts';
import { signIn } from '../../src/minion/link/sign-in.ts';
import { MasterTrust } from '../../src/minion/link/trust.ts';
import type { RequestClient } from '../../src/protocol/wire/transport.ts';
import { getTransport } from '../../src/protocol/wire/transports.ts';
import type { Deployment } from './deployment.ts';

export class HostileMinion {
  readonly id: string;
  readonly #channel: RequestChannel;
  readonly #client: RequestClient;

  private constructor(id: string, channel: RequestChannel, client: RequestClient) {
    this.id = id;
    this.#channel = channel;
    this.#client = client;
  }

  /** Signs in to the master of a deployment, which accepts every key. */
  static async start(fleet: Deployment, id: string): Promise<HostileMinion> {
    const { opts } = loadMinionConfig({ configDir: fleet.configureMinion(id), env: {}, overrides: newDict() });
    const identity = await loadIdentity(opts);
    const transport = await getTransport('zeromq');
    const client = transport.dial({ host: '127.0.0.1', port: fleet.ports.requests });
    const enter = async (): Promise<Credentials> =>
      signIn({
        ...{ opts, identity, client, master: '127.0.0.1', log: nullLogger() },
        trust: await MasterTrust.load(opts),
        signal: new AbortController().signal,
        autosignGrains: () => undefined,
      });
    let keys = await enter();
    const channel = new RequestChannel({
      ...{ identity, client },
      credentials: async () => keys,
      renew: async () => {
        keys = await enter();
        return keys;
      },
    });
    return new HostileMinion(id, channel, client);
  }

  /** Sends a command as a minion does, sealed under its own session. */
  send(cmd: string, load: PlainDict, timeoutMs = 20_000): Promise<Value> {
    return this.#channel.request(newDict([['cmd', cmd], ...Object.entries(load)]), { timeoutMs });
  }

  /** A result, true or not. */
  returnOf(jid: string, value: Value, more: PlainDict = newDict()): Promise<Value> {
    return this.send('_return', {
      jid,
      fun: 'test.ping',
      fun_args: [],
      return: value,
      retcode: 0,
      success: true,
      ...more,
    });
  }

  stop(): void {
    this.#client.close();
  }
}
