// salt-key with external authentication: the keys are read and changed by wheel functions of the running master, which
// checks the rights of the caller.
import { asList, asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { ExternalCaller, LocalClient } from '../../engine/client/api.ts';
import { connectLocal, type LocalClientOptions } from '../../engine/client/local.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { KeyAct } from '../../store/keys.ts';
import type { KeyChange } from './change.ts';
import { folderOf, type KeySelection, keyStates } from './folders.ts';
import type { ChangeOptions, Keys } from './local.ts';

export class RemoteKeys implements Keys {
  readonly #client: LocalClient;

  private constructor(client: LocalClient) {
    this.#client = client;
  }

  /** Several calls follow: they use one token, which is deleted at the end. A password may be valid only once. */
  static async with<T>(
    opts: LocalClientOptions,
    caller: ExternalCaller,
    work: (keys: RemoteKeys) => Promise<T>,
  ): Promise<T> {
    const first = await connectLocal(opts, caller);
    const own = 'token' in caller ? undefined : await first.login().finally(() => first.close());
    const client = own === undefined ? first : await connectLocal(opts, { token: own });
    try {
      return await work(new RemoteKeys(client));
    } finally {
      if (own !== undefined) await client.logout();
      client.close();
    }
  }

  async list(states: readonly KeyState[]): Promise<PlainDict> {
    const all = await this.#call('list_all', {});
    return newDict(states.map((state) => [folderOf[state], asList(all[folderOf[state]]) ?? []]));
  }

  async match(match: string, among: readonly KeyState[]): Promise<KeySelection> {
    const found = await this.#call('name_match', { match });
    const ids = (state: KeyState): string[] => (asList(found[folderOf[state]]) ?? []).map(String);
    return new Map(among.map((state) => [state, ids(state)] as const).filter(([, list]) => list.length > 0));
  }

  print(match: string): Promise<PlainDict> {
    return this.#call('key_str', { match });
  }

  finger(match: string): Promise<PlainDict> {
    return this.#call('finger', { match });
  }

  async change(
    act: KeyAct,
    selection: KeySelection,
    _options: ChangeOptions,
    told: (changes: readonly KeyChange[]) => void,
  ): Promise<void> {
    const ids = [...new Set([...selection.values()].flat())];
    const match = newDict([...selection].map(([state, those]) => [folderOf[state], [...those]]));
    const includes = ['rejected', 'denied', 'accepted'].map((state) => [`include_${state}`, true] as const);
    await this.#call(`${act}_dict`, act === 'delete' ? { match } : { match, ...Object.fromEntries(includes) });
    const after = await this.match(ids.join(','), keyStates);
    const isThere = (id: string, states: readonly KeyState[]): boolean =>
      states.some((state) => after.get(state)?.includes(id));
    const done: Readonly<Record<KeyAct, (id: string) => boolean>> = {
      accept: (id) => isThere(id, ['accepted']),
      reject: (id) => isThere(id, ['rejected']),
      delete: (id) => !isThere(id, keyStates),
    };
    told(ids.filter(done[act]).map((id) => ({ act, id })));
  }

  async #call(name: string, kwargs: Readonly<Record<string, Value>>): Promise<PlainDict> {
    const { ret, success } = await this.#client.wheel(`key.${name}`, [], newDict(Object.entries(kwargs)));
    if (!success) throw new HaliteError('call.failed', String(ret));
    return asPlainDict(ret) ?? newDict();
  }
}
