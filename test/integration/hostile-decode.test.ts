// Messages that are small on the wire and large in memory: refused before anything is allocated, from unauthenticated
// peers and minions.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import type { Value } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { head32, RawMinion } from '../support/raw-minion.ts';

const many = (count: number, byte: number): Buffer => Buffer.concat([head32(0xdd, count), Buffer.alloc(count, byte)]);
/** Extension 79: a message inside the message. */
const hidden = (content: Buffer): Buffer => {
  const inner = Buffer.concat([Buffer.from([0x92, 0xa1, 0x78]), content]);
  return Buffer.concat([head32(0xc9, inner.length), Buffer.from([79]), inner]);
};
const repeated = (count: number, item: Buffer): Buffer =>
  Buffer.concat([head32(0xdd, count), Buffer.alloc(count * item.length, item)]);
const map = (entries: readonly (readonly [string, Buffer])[]): Buffer =>
  Buffer.concat([head32(0xdf, entries.length), ...entries.flatMap(([key, value]) => [pack(key), value])]);
const clear = (load: Buffer): Buffer =>
  map([
    ['enc', pack('clear')],
    ['load', load],
    ['version', pack(3)],
  ]);
const entries = (count: number, entry: Buffer): Buffer =>
  Buffer.concat([head32(0xdf, count), Buffer.alloc(count * entry.length, entry)]);

const millions = 7_900_000;
const bombs: Record<string, Buffer> = {
  'empty maps': many(millions, 0x80),
  'empty lists': many(millions, 0x90),
  'hidden messages': repeated(3, hidden(many(millions, 0x80))),
  'many small hidden messages': repeated(200_000, hidden(many(3, 0x80))),
  'a map of a million keys': entries(1_000_000, Buffer.from([0xa1, 0x61, 0xc0])),
  'a map of a million numbers': entries(1_000_000, Buffer.from([1, 2])),
  'bytes that are not text': repeated(1_500_000, Buffer.from([0xa1, 0xff])),
};
const refusal = (reply: Value): boolean => reply === 'bad load' || JSON.stringify(reply) === '{"msg":"bad load"}';

/** The most memory the master ever had, in megabytes. */
const peak = (fleet: Deployment): number => {
  const status = readFileSync(`/proc/${fleet.master.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

describe.each(['zeromq', 'tcp'] as const)('over %s', (transport) => {
  let fleet: Deployment;
  let minion: RawMinion;

  beforeAll(async () => {
    fleet = await Deployment.create({ transport });
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    minion = await RawMinion.start(fleet, 'evil', transport);
  });
  afterAll(async () => {
    minion?.stop();
    await fleet?.destroy();
  });

  it.each(Object.entries(bombs))('an unauthenticated peer is refused with %s', async (_name, bomb) => {
    expect(await minion.ask(bomb)).toSatisfy(refusal);
    const load = map([
      ['cmd', pack('ping')],
      ['x', bomb],
    ]);
    expect(await minion.ask(clear(load))).toSatisfy(refusal);
  });

  it.each(Object.entries(bombs))('an accepted minion is refused with %s', async (_name, bomb) => {
    const proof = Object.entries(minion.proof()).map(([name, value]) => [name, pack(value)] as const);
    const commands = [
      { cmd: '_minion_event', name: 'data' },
      { cmd: '_return', name: 'return' },
    ];
    for (const { cmd, name } of commands)
      expect(await minion.ask(minion.sealBytes(map([['cmd', pack(cmd)], [name, bomb], ...proof])))).toBe('bad load');
  });

  it('has not cost the master more than the messages themselves', async () => {
    expect(fleet.master.running).toBe(true);
    expect(peak(fleet)).toBeLessThan(700);
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
  });

  it('a minion may still send large valid messages', async () => {
    const lines = Array.from({ length: 50_000 }, (_, n) => `line ${n} ${'y'.repeat(120)}`);
    for (const value of ['z'.repeat(20_000_000), { lines }]) {
      const reply = await minion.ask(
        minion.seal({ cmd: '_return', jid: 'req', fun: 'test.big', return: value, retcode: 0 }),
      );
      expect(minion.open(reply)).toEqual({ value: null });
    }
    const { stdout } = await fleet.run('salt-run', ['jobs.list_jobs', 'search_function=test.big', '--out=json']);
    const jids = Object.keys(JSON.parse(stdout) as object).sort();
    const stored = await fleet.run('salt-run', ['jobs.lookup_jid', String(jids[1]), '--out=json']);
    expect(JSON.parse(stored.stdout)).toEqual({ evil: { lines } });
  });
});
