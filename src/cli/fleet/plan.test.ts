import { describe, expect, it } from 'vitest';
import { saltFleetSpec } from '../options/salt-fleet.ts';
import { parseCommandLine } from '../optparse.ts';
import { planFleet, readMaster } from './plan.ts';

const plan = (...argv: string[]) => planFleet(parseCommandLine(saltFleetSpec(), argv));

describe('the plan of a fleet', () => {
  it('gives each process its part, and nothing twice', async () => {
    const { parts } = await plan(
      '--minions',
      '12001',
      '--connections',
      '10',
      '--fill',
      '7',
      '--processes',
      '3',
      '--share',
      '4',
    );
    expect(parts.map(({ offset, minions }) => [offset, minions])).toEqual([
      [0, 4000],
      [4000, 4000],
      [8000, 4001],
    ]);
    expect(parts.reduce((sum, { connections }) => sum + connections, 0)).toBe(10);
    expect(parts.reduce((sum, { fill }) => sum + fill, 0)).toBe(7);
    expect(parts.every(({ width, address }) => width === 5 && address === '127.0.0.1')).toBe(true);
  });

  it('one process for five thousand minions, and a connection for each when asked', async () => {
    expect((await plan('--minions', '5000')).parts).toHaveLength(1);
    expect((await plan('--minions', '20000')).parts).toHaveLength(4);
    expect((await plan('--minions', '30', '--connections', '-1')).parts[0]?.connections).toBe(30);
  });

  it('reads the master', () => {
    expect(readMaster('salt')).toEqual({ host: 'salt', port: 4506 });
    expect(readMaster('127.0.0.1:14506')).toEqual({ host: '127.0.0.1', port: 14_506 });
    expect(readMaster('[::1]:14506')).toEqual({ host: '[::1]', port: 14_506 });
    expect(readMaster('::1')).toEqual({ host: '::1', port: 4506 });
    for (const wrong of ['', ':4506', 'a:b', 'a:0', 'a:65536', 'a:1:2'])
      expect(() => readMaster(wrong)).toThrow(/is not <master>/);
  });

  it.each([
    [['--minions', '0'], /--minions must be/],
    [['--jitter', '1.1'], /--jitter must be/],
    [['--fail', 'nan'], /--fail/],
    [['--prefix', '/'], /--prefix/],
    [['--key-size', '1024'], /--key-size/],
    [['a', 'b'], /one master/],
  ])('%j is refused', async (argv, message) => {
    await expect(plan(...argv)).rejects.toThrow(message);
  });

  it('another machine only with permission', async () => {
    await expect(plan('192.0.2.7')).rejects.toThrow(/not this machine/);
    expect((await plan('192.0.2.7:5', '--i-own-this-master')).parts[0]).toMatchObject({
      address: '192.0.2.7',
      requestPort: 5,
    });
  });

  it('says when the open files do not suffice', async () => {
    await expect(plan('--minions', '100000', '--processes', '1', '--connections', '20000')).rejects.toThrow(
      /open files/,
    );
  });
});
