// What a real Salt minion says about its connections, and the steps that an operator copies.

import { type JobRequest, type MasterContext, newDict } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { askPatiently, isConnected, saltSteps } from './salt-minions.ts';

const ss = (peer: string): string => `0      0          10.0.0.9:40122      ${peer}`;
const getent = (address: string): string =>
  ['STREAM new', 'DGRAM', 'RAW'].map((kind) => `${address}        ${kind}`).join('\n');

describe('isConnected', () => {
  it('does not take a connection to the old master for one to the new one, though the port is the same', () => {
    expect(isConnected(`${getent('10.0.0.2')}\n${ss('10.0.0.1:4505')}`, 4505)).toBe(false);
    expect(isConnected(`${getent('10.0.0.2')}\n${ss('10.0.0.1:4505')}\n${ss('10.0.0.2:4505')}`, 4505)).toBe(true);
    expect(isConnected(`${getent('10.0.0.2')}\n${ss('10.0.0.2:4506')}`, 4505)).toBe(false);
    expect(isConnected(ss('10.0.0.2:4505'), 4505)).toBe(false);
    expect(isConnected('/bin/sh: 1: ss: not found', 4505)).toBe(false);
  });

  it('knows the forms of IPv6 addresses', () => {
    expect(isConnected(`${getent('2001:db8::2')}\n${ss('[2001:db8::2]:4505')}`, 4505)).toBe(true);
    expect(isConnected(`${getent('10.0.0.2')}\n${ss('[::ffff:10.0.0.2]:4505')}`, 4505)).toBe(true);
  });
});

describe('saltSteps', () => {
  it('quotes ids, which may contain what a shell reads as its own', () => {
    const move = { finish: true, publish_port: 4505, batch: 10, wait: 1 };
    const steps = saltSteps({ ...move, ids: ["a;touch b'c"], address: 'new:4506', restart: "sh -c 'x'" }) as string[];
    expect(steps[0]).toContain(`-L 'a;touch b'"'"'c' file.write`);
    expect(steps[1]).toContain(`cmd.run_bg 'sh -c '"'"'x'"'"''`);
  });
});

describe('askPatiently', () => {
  it('asks only those again that gave no answer, some times', async () => {
    const asked: string[][] = [];
    const runJob = async ({ tgt }: JobRequest): Promise<unknown> => {
      asked.push([...(tgt as string[])]);
      const answers = (tgt as string[]).filter((id) => id === 'quick' || (id === 'busy' && asked.length === 3));
      return { returns: Object.fromEntries(answers.map((id) => [id, { ret: asked.length, success: true }])) };
    };
    const ctx = { master: { runJob } } as unknown as MasterContext;
    const answers = await askPatiently(ctx, ['quick', 'busy', 'dead'], 'config.get', [newDict()]);
    expect(Object.fromEntries(Object.entries(answers).map(([id, { ret }]) => [id, ret]))).toEqual({
      quick: 1,
      busy: 3,
    });
    expect(asked).toEqual([['quick', 'busy', 'dead'], ['busy', 'dead'], ['busy', 'dead'], ['dead']]);
  });
});
