// Frames that wait on disk for the engine, oldest first; several go out as one.
import { packValue, unpack } from '../../../base/codec/msgpack/index.ts';
import { asList } from '../../../base/codec/value.ts';
import { messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { HeldSpool } from '../ports.ts';
import type { Frame } from './frames.ts';

const leastBytes = 64 * 1024;
const mostBytes = 512 * 1024;
const mostRecords = 64;
/** A frame that takes longer is followed by smaller ones. */
const slowMs = 500;
/** Who waits for more frames than these is not told. */
const mostWaiting = 100_000;

export interface HeldFrame {
  readonly id: string;
  readonly items: Uint8Array[];
  readonly isPart: boolean;
  readonly last: number;
}

export class HeldFrames {
  readonly #spool: HeldSpool;
  readonly #log: Pick<Logger, 'error'>;
  /** Frames of this run by their number on disk. */
  readonly #waiting = new Map<number, Frame>();
  #adding = 0;
  #added: Promise<void> = Promise.resolve();
  #limit = leastBytes;
  /** After a failure: a smaller frame may pass. */
  #alone = true;
  #items: number;

  constructor(spool: HeldSpool, log: Pick<Logger, 'error'>) {
    this.#spool = spool;
    this.#log = log;
    // Of an earlier run: at least one in each record.
    this.#items = spool.next - spool.first;
  }

  get empty(): boolean {
    return this.#adding === 0 && this.#spool.first >= this.#spool.next;
  }
  get items(): number {
    return this.empty ? 0 : Math.max(1, this.#items);
  }
  get bytes(): number {
    return this.empty ? 0 : this.#spool.bytes;
  }

  add(frame: Frame): void {
    this.#adding += 1;
    this.#items += frame.items.length;
    const done = this.#spool
      .append(packValue([frame.id, frame.items, frame.isPart ? 1 : 0]))
      .then(
        (seq) => {
          if (this.#waiting.size < mostWaiting) this.#waiting.set(seq, frame);
        },
        (error: unknown) => {
          this.#items -= frame.items.length;
          this.#log.error('results for the cluster cannot be held on disk', { error: messageOf(error) });
          frame.settle(error);
        },
      )
      .finally(() => {
        this.#adding -= 1;
      });
    this.#added = Promise.all([this.#added, done]).then(() => undefined);
  }

  /** Everything that was added is on disk. */
  settled(): Promise<void> {
    return this.#added;
  }

  /**
   * The oldest frames as one; undefined while there is none on disk. It has an id of its own: the first of them may have
   * reached the engine under its id, which would take the others for stored too.
   */
  async next(): Promise<HeldFrame | undefined> {
    if (this.#spool.first >= this.#spool.next) await this.#added;
    const records = this.#spool.peek({ records: this.#alone ? 1 : mostRecords, bytes: this.#limit });
    let merged: HeldFrame | undefined;
    let bytes = 0;
    for (const { seq, body } of records) {
      const frame = readRecord(body, seq);
      bytes += body.length;
      if (!frame) {
        this.#log.error('a record of held results is damaged and left out', { record: seq });
        if (!merged) this.#spool.delivered(seq + 1);
        else break;
      } else if (!merged) merged = frame;
      else if (frame.isPart || merged.isPart || bytes > mostBytes) break;
      else merged = { ...merged, items: [...merged.items, ...frame.items], last: seq };
    }
    const [first] = records;
    if (merged && first && merged.last > first.seq) return { ...merged, id: `${merged.id}+${merged.last - first.seq}` };
    return merged;
  }

  delivered(frame: HeldFrame): void {
    for (let seq = this.#spool.first; seq <= frame.last; seq++) {
      this.#waiting.get(seq)?.settle();
      this.#waiting.delete(seq);
    }
    this.#items = Math.max(0, this.#items - frame.items.length);
    this.#spool.delivered(frame.last + 1);
    if (this.empty) this.#items = 0;
  }

  /** Larger frames while the engine takes them quickly, smaller ones on a slow link. */
  told(sent: boolean, ms: number): void {
    this.#alone = !sent;
    this.#limit = sent && ms < slowMs ? Math.min(mostBytes, this.#limit * 2) : Math.max(leastBytes, this.#limit / 2);
  }
}

function readRecord(body: Uint8Array, last: number): HeldFrame | undefined {
  try {
    const [id, items, isPart] = asList(unpack(body, { raw: true })) ?? [];
    const some = asList(items)?.filter((item): item is Uint8Array => item instanceof Uint8Array) ?? [];
    if (!(id instanceof Uint8Array) || some.length === 0) return undefined;
    return { id: Buffer.from(id).toString('latin1'), items: some, isPart: isPart === 1, last };
  } catch {
    return undefined;
  }
}
