import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { ReturnerSession, StoredEvent } from '../../extend/sdk/index.ts';
import { SpoolWriter } from '../../store/spool/writer.ts';
import { Delivery, type DeliveryOptions } from './deliver.ts';
import { type Progress, packRecord, type SinkRecord } from './records.ts';

let folder: string;
let writer: SpoolWriter;
let delivery: Delivery | undefined;
let progress: Progress[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halite-deliver-'));
  writer = await SpoolWriter.open(folder, { maxBytes: 1e9, appended: (upTo) => delivery?.appended(upTo) });
  progress = [];
});
afterEach(async () => {
  await delivery?.stop();
  delivery = undefined;
  await writer.close();
  rmSync(folder, { recursive: true, force: true });
});

function deliver(session: Partial<ReturnerSession>, more: Partial<DeliveryOptions> = {}): void {
  delivery = new Delivery({
    ...{ returner: 'test', folder, upTo: writer.next, log: nullLogger() },
    open: async () => ({ save: async () => {}, ...session }),
    report: (each) => progress.push(each),
    ...more,
  });
}

const ret = (n: number): SinkRecord => ({ k: 'ret', load: newDict([['n', n]]) });
const add = (...records: SinkRecord[]): Promise<number[]> =>
  Promise.all(records.map((record) => writer.append(packRecord(record))));
const numbers = (loads: readonly PlainDict[]): number[] => loads.map((load) => Number(load['n']));
const until = async (test: () => boolean): Promise<void> => {
  for (const end = Date.now() + 20_000; !test(); ) {
    if (Date.now() > end) throw new Error(`timed out: ${JSON.stringify(progress.at(-1))}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

describe('delivery from a spool', () => {
  it('delivers records in order, loads before results, and reports its progress', async () => {
    const seen: string[] = [];
    await add({ k: 'load', jid: 'j', load: newDict([['fun', 'x']]), minions: ['a'] }, ret(1), ret(2));
    deliver({
      saveMany: async (loads) => void seen.push(`returns ${numbers(loads)}`),
      jobCache: { saveLoad: async (jid: string) => void seen.push(`load ${jid}`) } as never,
    });
    await until(() => progress.at(-1)?.position === 3);
    expect(seen).toEqual(['load j', 'returns 1,2']);
    await add(ret(3));
    await until(() => progress.at(-1)?.position === 4);
    expect(seen.at(-1)).toBe('returns 3');
  });

  it('retries until the server is available again, and then stores each once', async () => {
    const kept: number[] = [];
    let away = true;
    await add(...Array.from({ length: 20 }, (_, n) => ret(n)));
    deliver({
      saveMany: async (loads) => {
        if (away) throw new Error('connect ECONNREFUSED');
        kept.push(...numbers(loads));
      },
    });
    await until(() => progress.at(-1)?.error === 'connect ECONNREFUSED');
    await add(ret(20));
    away = false;
    await until(() => progress.at(-1)?.position === 21);
    expect(progress.at(-1)?.error).toBeUndefined();
    expect(kept).toEqual(Array.from({ length: 21 }, (_, n) => n));
  });

  it('moves a record away that the server refuses, when it accepts the next one', async () => {
    const kept: number[] = [];
    await add(ret(1), ret(2), ret(3), ret(4));
    deliver({
      save: async (load) => {
        if (load['n'] === 2) throw new Error('Data too long');
        kept.push(Number(load['n']));
      },
    });
    await until(() => progress.at(-1)?.position === 4);
    // Results are saved one by one here, so those before the refused one are repeated: returners recognize them by job
    // and minion.
    expect([...new Set(kept)]).toEqual([1, 3, 4]);
    expect(progress.at(-1)).toMatchObject({ refused: 1 });
    expect(readFileSync(join(folder, 'refused.jsonl'), 'utf8')).toMatch(/"error": "Data too long".*"n": 2/);
  });

  it('keeps a refused record when nothing else is accepted either', async () => {
    let tries = 0;
    await add(ret(1), ret(2));
    deliver({
      saveMany: async () => {
        tries++;
        throw new Error('away');
      },
    });
    await until(() => tries > 5);
    expect(existsSync(join(folder, 'refused.jsonl'))).toBe(false);
    expect(progress.at(-1)).toMatchObject({ position: 0, refused: 0, error: 'away' });
  });

  it('collects events, and delivers them when it stops', async () => {
    const batches: number[] = [];
    const saveEvents = async (events: readonly StoredEvent[]): Promise<void> => void batches.push(events.length);
    const event: SinkRecord = { k: 'event', tag: 't', data: newDict() };
    await add(event, event);
    deliver({ saveEvents }, { gather: { count: 5, ms: 60_000 } });
    await add(event, event, event);
    await until(() => batches.length === 1);
    expect(batches).toEqual([5]);
    await add(event);
    await delivery?.stop();
    expect(batches).toEqual([5, 1]);
  });

  it('marks events that may already be stored: the next ones of a master that was killed, and those of a failed attempt', async () => {
    const seen: string[] = [];
    let away = false;
    const saveEvents = async (events: readonly StoredEvent[]): Promise<void> => {
      seen.push(events.map(({ tag, again }) => `${tag}${again ? '?' : ''}`).join(' '));
      if (away) throw new Error('gone while it answered');
    };
    const event = (tag: string): SinkRecord => ({ k: 'event', tag, data: newDict() });
    await add(event('a'), event('b'));
    deliver({ saveEvents });
    await until(() => progress.at(-1)?.position === 2);
    away = true;
    await add(event('c'));
    await until(() => progress.at(-1)?.error !== undefined);
    away = false;
    await until(() => progress.at(-1)?.position === 3);
    await add(event('d'));
    await until(() => progress.at(-1)?.position === 4);
    expect(seen).toEqual(['a? b?', 'c', 'c?', 'd']);
  });

  it('opens one session per set of options', async () => {
    const opened: (string | undefined)[] = [];
    const open = async (config?: string): Promise<ReturnerSession> => {
      opened.push(config);
      return { save: async () => {} };
    };
    const load = newDict();
    await add({ k: 'ret', load }, { k: 'ret', load, config: 'other' }, { k: 'ret', load });
    deliver({}, { open });
    await until(() => progress.at(-1)?.position === 3);
    expect(opened).toEqual([undefined, 'other']);
  });
});
