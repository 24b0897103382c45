// Calls on the master's local socket as any user of the machine could make them: with that user's key and any fields.
import { readFileSync } from 'node:fs';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { messageOf } from '../../src/base/errors/index.ts';
import { connectIpc, type IpcClient } from '../../src/protocol/wire/ipc.ts';
import type { Deployment } from './deployment.ts';

export interface Answer {
  readonly items: readonly PlainDict[];
  /** Why the call failed. */
  readonly error?: string;
}

export const socketPath = (fleet: Deployment): string => fleet.path('run/master/halite.ipc');
export const userKey = (fleet: Deployment, user: string): string =>
  readFileSync(fleet.path(`cache/master/.${user}_key`), 'utf8');

export class LocalCaller {
  readonly #ipc: IpcClient;
  readonly #identity: PlainDict;

  private constructor(ipc: IpcClient, identity: PlainDict) {
    this.#ipc = ipc;
    this.#identity = identity;
  }

  static async connect(fleet: Deployment, user: string): Promise<LocalCaller> {
    const ipc = await connectIpc(socketPath(fleet), { what: 'salt-master' });
    return new LocalCaller(ipc, newDict(Object.entries({ user, key: userKey(fleet, user) })));
  }

  /** Without a key: the calls bring their own credentials. */
  static async anonymous(fleet: Deployment): Promise<LocalCaller> {
    return new LocalCaller(await connectIpc(socketPath(fleet), { what: 'salt-master' }), newDict());
  }

  /** Each item as it comes. */
  async *stream(verb: string, args: Record<string, Value>): AsyncIterable<PlainDict> {
    for await (const item of this.#ipc.call(verb, { ...this.#identity, ...args })) yield item as PlainDict;
  }

  /** Everything that is answered, to the end of the call. */
  async call(verb: string, args: Record<string, Value>): Promise<Answer> {
    const items: PlainDict[] = [];
    try {
      for await (const item of this.stream(verb, args)) items.push(item);
      return { items };
    } catch (error) {
      return { items, error: messageOf(error) };
    }
  }

  publish(args: Record<string, Value>): Promise<Answer> {
    return this.call('publish', { tgt_type: 'glob', arg: [], timeout: 10, ...args });
  }

  close(): void {
    this.#ipc.close();
  }
}
