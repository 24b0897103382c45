// The ledger against an engine that takes a frame and loses the answer.
import { describe, expect, it, vi } from 'vitest';
import { unpack } from '../../../base/codec/msgpack/index.ts';
import { asList, newDict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { nullLogger } from '../../../base/log/index.ts';
import type { LedgerItem } from '../messages.ts';
import type { HeldSpool } from '../ports.ts';
import type { Core } from './core.ts';
import { NatsLedger } from './ledger.ts';
import { Gatherer, partsOf } from './parts.ts';

class Memory {
  first = 0;
  next = 0;
  readonly bytes = 1;
  readonly #records: Uint8Array[] = [];

  async append(body: Uint8Array): Promise<number> {
    this.#records.push(body);
    return this.next++;
  }
  peek({ records }: { records: number }): { seq: number; body: Uint8Array }[] {
    const until = Math.min(this.next, this.first + records);
    return this.#records.slice(this.first, until).map((body, at) => ({ seq: this.first + at, body }));
  }
  delivered(next: number): void {
    this.first = next;
  }
}

/** What it has stored, each id once; it may be away, or lose an answer or a frame. */
class Engine {
  readonly items: number[] = [];
  /** Items as a reader puts them together. */
  readonly read: number[] = [];
  readonly #reader = new Gatherer();
  readonly #ids = new Set<string>();
  isAway = false;
  /** Its next answer is lost when this resolves. */
  losing: Promise<void> | undefined;
  /** The frame behind so many others is lost when this resolves. */
  dropping: { after: number; until: Promise<void> } | undefined;

  publish = async (_subject: string, bytes: Uint8Array, { id }: { id: string }): Promise<void> => {
    if (this.isAway) throw new HaliteError('cluster.cut-off', 'away');
    if (this.dropping && this.dropping.after-- === 0) {
      const { until } = this.dropping;
      this.dropping = undefined;
      await until;
      throw new HaliteError('cluster.cut-off', 'timeout');
    }
    if (!this.#ids.has(id)) {
      this.#ids.add(id);
      const [items, isPart] = asList(unpack(bytes)) ?? [];
      const packed = (asList(items) ?? []) as Uint8Array[];
      this.items.push(...packed.map(({ length }) => length));
      if (isPart === 1) {
        const whole = this.#reader.add('boot', packed[0]!, 1);
        if (whole instanceof Uint8Array) this.read.push(whole.length);
      } else this.read.push(...packed.map(({ length }) => length));
    }
    const { losing } = this;
    if (!losing) return;
    this.losing = undefined;
    await losing;
    throw new HaliteError('cluster.cut-off', 'timeout');
  };
}

function setUp() {
  const engine = new Engine();
  const js = { publish: engine.publish, connection: { connected: false } };
  const core = {
    ...{ js: () => js, slot: () => 0, options: { name: 'test' }, log: nullLogger() },
    envelope: { boot: 'boot', seal: (_subject: string, _key: null, bytes: Uint8Array) => ({ bytes }) },
    signal: new AbortController().signal,
  } as unknown as Core;
  return { engine, ledger: new NatsLedger(core, new Memory() as unknown as HeldSpool) };
}

/** Items are told apart by their length. */
const item = (length: number): LedgerItem => ({
  ...{ kind: 'ret', jid: '20261118120000000000', id: 'web1', attempt: 1, fun: 'test.ping', retcode: 0 },
  ...{ success: true, received: 0, load: newDict([['return', 'x'.repeat(length)]]) },
});

describe('a frame whose answer is lost', () => {
  it('does not take those behind it along when it is sent again', async () => {
    const { engine, ledger } = setUp();
    // Held once, and sent: the next time several frames go out as one.
    engine.isAway = true;
    const first = ledger.append(item(1));
    await vi.waitFor(() => expect(ledger.held().items).toBe(1));
    engine.isAway = false;
    await first;
    await vi.waitFor(() => expect(ledger.held().items).toBe(0));
    // Stored, but it does not say so; meanwhile there are more.
    let lose = (): void => undefined;
    engine.losing = new Promise((resolve) => {
      lose = resolve;
    });
    const second = ledger.append(item(2));
    await vi.waitFor(() => expect(new Set(engine.items).size).toBe(2));
    const others = Array.from({ length: 100 }, (_, n) => ledger.append(item(3 + n)));
    lose();
    await Promise.all([second, ...others]);
    expect(new Set(engine.items).size).toBe(102);
  });
});

describe('a frame that is lost on its way', () => {
  it.each([
    ['a small one', 0, [1000, 12_000_000, 30_000]],
    ['a part', 3, [5_000_000, 5_100_000, 30_000]],
  ])('is sent again before those behind it, which went to disk meanwhile: %s', async (_name, after, lengths) => {
    const { engine, ledger } = setUp();
    let drop = (): void => undefined;
    const until = new Promise<void>((resolve) => {
      drop = resolve;
    });
    engine.dropping = { after, until };
    const [first, ...others] = lengths.map(item);
    const all = [ledger.append(first!)];
    await vi.waitFor(() => expect(engine.dropping).toBeUndefined());
    all.push(...others.map((each) => ledger.append(each)));
    // More than what may wait in memory.
    await vi.waitFor(() => expect(ledger.held().since).toBeGreaterThan(0));
    drop();
    await Promise.all(all);
    // Without the few bytes of their other fields.
    const thousands = (sizes: readonly number[]): number[] => sizes.map((size) => Math.round(size / 1000));
    expect(thousands(engine.read)).toEqual(thousands(lengths));
  });
});

describe('a small frame behind large ones', () => {
  it('does not wait for another item', async () => {
    const { engine, ledger } = setUp();
    let lose = (): void => undefined;
    engine.losing = new Promise((resolve) => {
      lose = resolve;
    });
    const first = ledger.append(item(1));
    await vi.waitFor(() => expect(engine.items).toHaveLength(1));
    const others = [ledger.append(item(1_000_000)), ledger.append(item(2))];
    lose();
    await Promise.all([first, ...others]);
    expect(engine.read).toHaveLength(3);
  });
});

describe('a part that comes twice', () => {
  it('spoils nothing', () => {
    const item = Buffer.alloc(1_000_000, 'abc');
    const reader = new Gatherer();
    const parts = [...partsOf(item)];
    const twice = parts.flatMap((part, at) => (at < parts.length - 1 ? [part, part] : [part]));
    const read = twice.map((part, seq) => reader.add('boot', part, seq));
    expect(read.slice(0, -1)).toEqual(Array(twice.length - 1).fill('more'));
    expect(item.equals(read.at(-1) as Uint8Array)).toBe(true);
  });
});
