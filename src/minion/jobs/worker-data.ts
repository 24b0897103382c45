// The data of the minion for job processes (options, grains, pillar of a master), packed once and used for every job.
import type { PlainDict } from '../../base/codec/value.ts';
import { packShared, type WorkerData } from '../../engine/exec/index.ts';
import type { JobLink } from '../link/master-link.ts';

export interface WorkerDataParts {
  readonly id: string;
  readonly opts: PlainDict;
  readonly sdkUrl: string | undefined;
  grains(): PlainDict;
}

export class PackedData {
  readonly #parts: WorkerDataParts;
  readonly #packed = new Map<string, WorkerData>();
  #version = 0;

  constructor(parts: WorkerDataParts) {
    this.#parts = parts;
  }

  /** For jobs of this master. */
  of({ name, pillar }: Pick<JobLink, 'name' | 'pillar'>): WorkerData {
    let data = this.#packed.get(name);
    if (!data) {
      data = this.pack(this.#parts.grains(), pillar as PlainDict);
      this.#packed.set(name, data);
    }
    return data;
  }

  /** With other grains and pillar than the current ones. */
  pack(grains: PlainDict, pillar: PlainDict): WorkerData {
    const { id, opts, sdkUrl } = this.#parts;
    return { version: `${id} ${++this.#version}`, id, sdkUrl, body: packShared({ opts, grains, pillar }) };
  }

  /** The pillar of a master changed. */
  forget(name: string): void {
    this.#packed.delete(name);
  }

  /** The grains changed. */
  forgetAll(): void {
    this.#packed.clear();
  }
}
