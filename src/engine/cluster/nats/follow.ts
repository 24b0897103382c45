// Reads the ledger: the frames of all members in one order, from where this member left off.
import { unpack } from '../../../base/codec/msgpack/index.ts';
import { asList } from '../../../base/codec/value.ts';
import type { Ledger } from '../api.ts';
import { readItem } from '../codec.ts';
import type { LedgerItem } from '../messages.ts';
import type { Core } from './core.ts';
import { Gatherer } from './parts.ts';
import { positionText, readPosition } from './position.ts';
import { readStream, type Start, type StreamMessage } from './reader.ts';
import { Ascending } from './replay.ts';
import { streamName } from './streams.ts';

/** Places of different streams: that of a later one is larger. */
const epochFactor = 2 ** 32;
type Apply = Parameters<Ledger['follow']>[1];

export async function followLedger(core: Core, ...[from, apply, signal]: Parameters<Ledger['follow']>): Promise<void> {
  const stream = streamName.log(core.options.name);
  const both = AbortSignal.any([signal, core.signal]);
  try {
    await core.established();
  } catch (error) {
    if (both.aborted) return;
    throw error;
  }
  const before = from === undefined ? undefined : readPosition(from);
  const isSame = before !== undefined && before.birth === core.birth(stream);
  let follower = new Follower(core, stream, apply, isSame ? before.boots : []);
  const start: Start = { from: isSame ? before.seq + 1 : 1 };
  await readStream({
    ...{ js: core.js(), stream, start, signal: both, log: core.log },
    onMessage: (message) => follower.take(message),
    onLost: async () => {
      await core.lost(stream, 'the history');
      follower = new Follower(core, stream, apply, []);
      return { from: 1 };
    },
  });
}

class Follower {
  readonly #core: Core;
  readonly #apply: Apply;
  readonly #birth: string;
  readonly #seen: Ascending;
  readonly #gatherer = new Gatherer();
  #last: number | undefined;
  /** Where a reader that starts again loses nothing. */
  #position: string;

  constructor(core: Core, stream: string, apply: Apply, boots: Iterable<readonly [string, number]>) {
    this.#core = core;
    this.#apply = apply;
    this.#birth = core.birth(stream);
    this.#seen = new Ascending(boots);
    this.#position = positionText({ birth: this.#birth, seq: 0, boots: this.#seen.known() });
  }

  async take({ subject, seq, data }: StreamMessage): Promise<void> {
    if (this.#last !== undefined && seq !== this.#last + 1)
      this.#missing(`${seq - this.#last - 1} frames of the history are gone`);
    this.#last = seq;
    const opened = this.#core.envelope.open(subject, data, { raw: true });
    if (typeof opened === 'string') {
      this.#core.refused(`history, frame ${seq}`, opened);
      return;
    }
    if (!subject.endsWith(`.${opened.slot}`)) {
      this.#core.refused(`history, frame ${seq}`, 'wrong');
      return;
    }
    if (!this.#seen.accept(opened.boot, opened.n)) {
      this.#core.refused(`history, frame ${seq}`, 'replayed');
      return;
    }
    const [packed, isPart] = asList(opened.body) ?? [];
    if (!Array.isArray(packed)) {
      this.#core.refused(`history, frame ${seq}`, 'wrong');
      return;
    }
    const items = isPart === 1 ? this.#gather(opened.boot, packed[0], seq) : this.#items(opened.boot, packed, seq);
    if (this.#gatherer.first === undefined) {
      this.#position = positionText({ birth: this.#birth, seq, boots: this.#seen.known() });
    }
    if (items.length === 0) return;
    const place = this.#core.epoch() * epochFactor + seq;
    await this.#apply({ from: opened.slot, position: this.#position, place, items });
  }

  #gather(boot: string, packed: unknown, seq: number): LedgerItem[] {
    const whole = packed instanceof Uint8Array ? this.#gatherer.add(boot, packed, seq) : 'wrong';
    if (whole === 'wrong') this.#core.refused(`history, frame ${seq}`, 'wrong');
    return typeof whole === 'string' ? [] : this.#read([whole], seq);
  }

  #items(boot: string, packed: readonly unknown[], seq: number): LedgerItem[] {
    this.#gatherer.whole(boot);
    return this.#read(packed, seq);
  }

  #read(packed: readonly unknown[], seq: number): LedgerItem[] {
    const items: LedgerItem[] = [];
    for (const bytes of packed) {
      const item = bytes instanceof Uint8Array ? readItem(unpack(bytes)) : undefined;
      if (item) items.push(item);
      else this.#core.refused(`history, frame ${seq}`, 'unknown-kind');
    }
    return items;
  }

  #missing(why: string): void {
    this.#core.log.limited('ledger:gap', 'error', 'the engine lost data', { why });
    this.#core.changed({ kind: 'engine-lost-data' });
  }
}
