// The key folders of a member: every change is a decision of the cluster first.

import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import { KeyStore } from '../../store/keys.ts';
import type { SharedKeys } from './keys.ts';

export class SharedKeyStore extends KeyStore {
  #shared: SharedKeys | undefined;
  #member = '';

  /** From now on; the folders are read before. */
  share(shared: SharedKeys, member: string): void {
    this.#shared = shared;
    this.#member = member;
  }

  override decidedBy(id: string): string | undefined {
    return this.#shared?.decidedBy(id);
  }

  override async write(state: KeyState, id: string, pem: string, by = 'an operator'): Promise<void> {
    const decision = state === 'denied' ? { denied: pem } : { state, pem };
    await this.#decide(id, decision, by, () => super.write(state, id, pem));
  }

  override async move(id: string, from: KeyState, to: KeyState, by = 'an operator'): Promise<void> {
    const pem = this.readText(from, id);
    // Another process was faster: as the file system would say it.
    if (pem === undefined || to === 'denied') return super.move(id, from, to);
    const decision = { state: to, pem, ...(from === 'denied' ? { denied: '' } : {}) };
    await this.#decide(id, decision, by, () => super.move(id, from, to));
  }

  override async delete(state: KeyState, id: string, by = 'an operator'): Promise<boolean> {
    if (!this.has(state, id)) return super.delete(state, id);
    let deleted = false;
    const decision = state === 'denied' ? { denied: '' } : { state: 'gone' as const };
    await this.#decide(id, decision, by, async () => {
      deleted = await super.delete(state, id);
    });
    return deleted;
  }

  async #decide(
    id: string,
    decision: { state?: Exclude<KeyState, 'denied'> | 'gone'; pem?: string; denied?: string },
    by: string,
    apply: () => Promise<void>,
  ): Promise<void> {
    if (!this.#shared || !isValidMinionId(id)) return apply();
    await this.#shared.decide(id, { ...decision, by: `${by} at ${this.#member}` }, apply);
  }
}
