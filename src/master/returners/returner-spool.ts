// One spool as seen by the master: the writing end, the delivery position, and its status.
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { readPosition } from '../../store/spool/segments.ts';
import { SpoolWriter } from '../../store/spool/writer.ts';
import { type Progress, type Purpose, packRecord, type SinkRecord } from './records.ts';

/** As returned by `jobs.health`. */
export interface SpoolStatus {
  readonly returner: string;
  readonly purpose: Purpose;
  readonly state: 'delivering' | 'away' | 'full' | 'disk';
  readonly waiting: number;
  readonly bytes: number;
  readonly delivered: number;
  /** Refused by the spool because it was full. */
  readonly dropped: number;
  /** Refused by the returner, kept in refused.jsonl. */
  readonly refused: number;
  readonly damaged: number;
  readonly error?: string;
  readonly since?: number;
}

export interface ChannelHooks {
  readonly log: Logger;
  appended(upTo: number): void;
  /** The state changed. */
  changed(status: SpoolStatus): void;
}

const fullAgainBelow = 0.9;

export class ReturnerSpool {
  readonly returner: string;
  readonly purpose: Purpose;
  readonly folder: string;
  readonly #hooks: ChannelHooks;
  readonly #maxBytes: number;
  #writer!: SpoolWriter;
  #progress: Progress;
  #dropped = 0;
  #full = false;
  #state: SpoolStatus['state'] = 'delivering';
  #since = Date.now();

  private constructor(folder: string, purpose: Purpose, returner: string, maxBytes: number, hooks: ChannelHooks) {
    this.folder = folder;
    this.purpose = purpose;
    this.returner = returner;
    this.#maxBytes = maxBytes;
    this.#hooks = hooks;
    this.#progress = { position: readPosition(folder), delivered: 0, refused: 0, damaged: 0 };
  }

  static async open(
    folder: string,
    purpose: Purpose,
    returner: string,
    maxBytes: number,
    hooks: ChannelHooks,
  ): Promise<ReturnerSpool> {
    const channel = new ReturnerSpool(folder, purpose, returner, maxBytes, hooks);
    channel.#writer = await SpoolWriter.open(folder, {
      maxBytes,
      appended: (upTo) => hooks.appended(upTo),
      trouble: () => channel.#look(),
      damaged: (file) =>
        hooks.log.error('a spool was damaged: the unreadable part was moved to another file', {
          returner,
          purpose,
          file,
        }),
    });
    return channel;
  }

  get next(): number {
    return this.#writer.next;
  }
  get waiting(): number {
    return Math.max(0, this.#writer.next - this.#progress.position);
  }

  /** Resolves when it is on disk, or when it is dropped because the spool is full: that is counted and logged. */
  async add(record: SinkRecord): Promise<void> {
    try {
      await this.#writer.append(packRecord(record));
    } catch (error) {
      this.#dropped++;
      this.#full = this.#writer.bytes > this.#maxBytes * fullAgainBelow;
      this.#hooks.log.limited(`spool:${this.folder}`, 'error', 'a record could not be spooled for its returner', {
        ...{ returner: this.returner, dropped: this.#dropped, error: messageOf(error) },
      });
      this.#look();
    }
  }

  progress(progress: Progress): void {
    this.#progress = progress;
    if (progress.removed) this.#writer.delivered();
    if (this.#full && this.#writer.bytes < this.#maxBytes * fullAgainBelow) this.#full = false;
    this.#look();
  }

  status(): SpoolStatus {
    const { delivered, refused, damaged, error } = this.#progress;
    const text = this.#writer.trouble ?? error;
    return {
      ...{ returner: this.returner, purpose: this.purpose, state: this.#state, waiting: this.waiting },
      ...{ bytes: this.#writer.bytes, delivered, dropped: this.#dropped, refused, damaged },
      ...(text === undefined ? {} : { error: text }),
      ...(this.#state === 'delivering' ? {} : { since: this.#since }),
    };
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #look(): void {
    const state = this.#stateNow();
    if (state === this.#state) return;
    this.#state = state;
    this.#since = Date.now();
    this.#hooks.changed(this.status());
  }

  #stateNow(): SpoolStatus['state'] {
    if (this.#writer?.trouble !== undefined) return 'disk';
    if (this.#full) return 'full';
    return this.#progress.error === undefined ? 'delivering' : 'away';
  }
}
