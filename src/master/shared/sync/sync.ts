// Files of plain folders between the members of a cluster: given and taken only when an operator says so.
import type { SyncRootsOptions } from '../../../extend/sdk/cluster.ts';
import { Offers } from './offer.ts';
import { type PushParts, syncRoots } from './push.ts';
import { type ReceiveParts, RootReceiver } from './receive.ts';

export class RootSync {
  readonly #push: PushParts;

  constructor(parts: ReceiveParts & Omit<PushParts, 'offers'>) {
    const offers = new Offers();
    this.#push = { ...parts, offers };
    const receiver = new RootReceiver(parts);
    if (parts.cluster.name === undefined) return;
    parts.cluster.signals.answer('files', (body, from, signal) => offers.answer(body, from, signal));
    parts.cluster.signals.answer('sync', (body, from, signal) => receiver.answer(body, from, signal));
  }

  run(options: SyncRootsOptions): ReturnType<typeof syncRoots> {
    return syncRoots(this.#push, options);
  }
}
