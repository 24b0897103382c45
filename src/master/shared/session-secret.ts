// The secret of session keys in a cluster, as the registry has it; the one before is taken for a while after a change.
import type { Value } from '../../base/codec/value.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import { type BaseRecord, readBaseRecord } from './secret-records.ts';

type Secrets = readonly [Uint8Array, ...Uint8Array[]];
const graceMs = 300_000;

export class SharedSessionSecret {
  readonly #stop = new AbortController();
  #secrets: Secrets;
  #end: NodeJS.Timeout | undefined;

  constructor(cluster: Pick<Cluster, 'registry'>, first: BaseRecord, keep: (base: BaseRecord) => void) {
    this.#secrets = [first.session];
    cluster.registry.bucket<Value>('reg').watch({
      on: (entry) => {
        const base = 'removed' in entry || entry.key !== 'session' ? undefined : readBaseRecord(entry.value);
        if (!base || Buffer.compare(base.session, this.#secrets[0]) === 0) return;
        this.#secrets = [base.session, this.#secrets[0]];
        keep(base);
        clearTimeout(this.#end);
        this.#end = setTimeout(() => {
          this.#secrets = [this.#secrets[0]];
        }, graceMs).unref();
      },
      signal: this.#stop.signal,
    });
  }

  current(): Secrets {
    return this.#secrets;
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#end);
  }
}
