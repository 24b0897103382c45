import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { type ErrorCode, HaliteError } from '../../base/errors/index.ts';
import { lastingRequest } from './lasting-request.ts';

class Master {
  ready = true;
  asked: unknown[] = [];
  readonly #answer: () => Value;
  constructor(answer: () => Value) {
    this.#answer = answer;
  }
  async request(load: PlainDict): Promise<Value> {
    this.asked.push(load['cmd']);
    return this.#answer();
  }
}
const failing = (code: ErrorCode) =>
  new Master(() => {
    throw new HaliteError(code, 'gone');
  });
const load = (cmd: string): PlainDict => newDict([['cmd', cmd]]);

describe('a request of a job', () => {
  it('that only reads is asked of the master that took the place of a lost one', async () => {
    const lost = failing('wire.closed');
    const next = new Master(() => 'content');
    lost.ready = false;
    let current = lost;
    setTimeout(() => {
      current = next;
    }, 20);
    expect(await lastingRequest(() => current, load('_serve_file'), { timeoutMs: 5000 })).toBe('content');
    expect([lost.asked, next.asked]).toEqual([['_serve_file'], ['_serve_file']]);
  });

  it('that changes something is never sent twice, nor after a refusal', async () => {
    for (const [cmd, code] of [
      ['_mine', 'wire.timeout'],
      ['_minion_event', 'wire.closed'],
      ['_serve_file', 'auth.failed'],
    ] as const) {
      const master = failing(code);
      await expect(lastingRequest(() => master, load(cmd), { timeoutMs: 5000 })).rejects.toMatchObject({ code });
      expect(master.asked).toEqual([cmd]);
    }
  });

  it('fails with the first reason when nobody comes', async () => {
    const lost = failing('wire.closed');
    lost.ready = false;
    await expect(lastingRequest(() => lost, load('_file_hash'), { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'wire.closed',
    });
    expect(lost.asked).toHaveLength(1);
  });
});
