// Whether the master can do its work now, and if not, why: in words that tell a stranger nothing about it.
import { statfs } from 'node:fs/promises';
import type { ClusterState } from '../../engine/cluster/api.ts';
import type { StoreHealth } from '../../store/jobs.ts';

type CheckName = 'ports' | 'store' | 'cluster' | 'disk';

export interface Health {
  readonly ready: boolean;
  /** Of the checks that failed. */
  readonly why: Partial<Readonly<Record<CheckName, string>>>;
}

export interface HealthSources {
  readonly store: { health(): Pick<StoreHealth, 'trouble'> };
  readonly cluster: { readonly state: Pick<ClusterState, 'kind'> };
}

/** With less than this SQLite and the spools soon stop. */
const leastFreeBytes = 64 * 1024 * 1024;
const lookEveryMs = 5_000;

/** The free space of a folder's file system, looked up at most every few seconds. */
export class FreeSpace {
  readonly #folder: string;
  #bytes: number | undefined;
  #lookedAt = 0;
  #looking: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Undefined when it cannot be found out. */
  async bytes(): Promise<number | undefined> {
    if (Date.now() - this.#lookedAt >= lookEveryMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      // A file system that hangs must not keep the answer: the last number is shown meanwhile.
      if (this.#lookedAt === 0) await this.#looking;
    }
    return this.#bytes;
  }

  async #look(): Promise<void> {
    this.#bytes = await statfs(this.#folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    );
    this.#lookedAt = Date.now();
  }
}

/** Without sources the master is starting or stopping. */
export function healthOf(sources: HealthSources | undefined, freeBytes: number | undefined): Health {
  if (!sources) return { ready: false, why: { ports: 'the master is starting or stopping' } };
  const why: Partial<Record<CheckName, string>> = {};
  if (sources.store.health().trouble !== undefined) why.store = 'the job store cannot be written';
  if (sources.cluster.state.kind === 'cut-off') why.cluster = 'this master is cut off from the others';
  if (freeBytes !== undefined && freeBytes < leastFreeBytes) {
    const megabytes = leastFreeBytes / 1024 / 1024;
    why.disk = `less than ${megabytes} MB are free where the master keeps its data`;
  }
  return { ready: Object.keys(why).length === 0, why };
}
