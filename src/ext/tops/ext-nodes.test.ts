// The program's answer becomes environment and state files, as Salt's ext_nodes reads it.
import { dictOf, newDict, type TopsContext } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import extNodes from './ext_nodes.ts';

function asked(stdout: string, retcode = 0): { ctx: TopsContext; calls: string[][] } {
  const calls: string[][] = [];
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const ctx: TopsContext = {
    ...{
      minionOpts: newDict(),
      minionId: 'web; rm -rf /',
      grains: newDict(),
      opts: {},
      log,
      signal: new AbortController().signal,
    },
    exec: async (file, args) => {
      calls.push([file, ...args]);
      return { pid: 1, retcode, stdout, stderr: 'sorry', timedOut: false };
    },
  };
  return { ctx, calls };
}

describe('ext_nodes', () => {
  it('passes the id as one argument and reads lists and maps', async () => {
    const list = asked('classes: [a, b.c]\nenvironment: dev\n');
    expect(await extNodes.assign('/usr/bin/classify "two words"', list.ctx)).toEqual(dictOf([['dev', ['a', 'b.c']]]));
    expect(list.calls).toEqual([['/usr/bin/classify', 'two words', 'web; rm -rf /']]);
    const map = asked('classes: {a: {}, b: null}\n');
    expect(await extNodes.assign('x', map.ctx)).toEqual(dictOf([['base', ['a', 'b']]]));
  });

  it('returns nothing for empty output and reports failures', async () => {
    expect(await extNodes.assign('x', asked('').ctx)).toEqual(newDict());
    expect(await extNodes.assign('x', asked('environment: dev').ctx)).toEqual(newDict());
    await expect(extNodes.assign('x', asked('', 3).ctx)).rejects.toThrow('x ended with 3: sorry');
  });
});
