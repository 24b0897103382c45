// Targets, functions and their arguments.
import { describe, expect, it } from 'vitest';
import { functionCall, targetKind, targetList } from './arguments.ts';

const call = (name: string, words: string[], separator = ',', noParse: string[] = []) =>
  functionCall(name, { words, separator, noParse });

describe('targets', () => {
  it('are globs unless an option says otherwise', () => {
    expect(targetKind({})).toEqual({ kind: 'glob' });
    expect(targetKind({ pillar_target: true })).toEqual({ kind: 'pillar' });
    expect(targetKind({ grain_pcre: true, pcre: false })).toEqual({ kind: 'grain_pcre' });
  });
  it('have only one kind', () => {
    expect(targetKind({ pcre: true, grain: true })).toEqual({
      error: 'The options --pcre/--grain are mutually exclusive. Please only choose one of them',
    });
    expect(targetKind({ list_hosts: true })).toHaveProperty('error');
  });
  it('lists allow commas, blanks and a trailing comma', () => {
    expect(targetList('a, b,c,')).toEqual(['a', 'b', 'c']);
    expect(targetList('a  b\tc')).toEqual(['a', 'b', 'c']);
    expect(targetList('10.0.0.1,10.0.0.2,')).toEqual(['10.0.0.1', '10.0.0.2']);
  });
});

describe('one function', () => {
  it('gets its words as values', () => {
    expect(call('test.arg', ['1', 'a=[1, 2]', 'x y', 'k=v'])).toEqual({
      fun: 'test.arg',
      arg: [1, 'x y', { __kwarg__: true, a: [1, 2], k: 'v' }],
    });
    expect(call('test.arg', ['a=1', 'b=2'], ',', ['a'])).toMatchObject({ arg: [{ a: '1', b: 2 }] });
  });
});

describe('several functions', () => {
  it('split at separators that stand alone', () => {
    expect(call('test.ping,cmd.run,test.arg', [',', 'ls -l,a', ',', 'x=1'])).toEqual({
      fun: ['test.ping', 'cmd.run', 'test.arg'],
      arg: [[], ['ls -l,a'], [{ __kwarg__: true, x: 1 }]],
    });
  });
  it('split inside words, the older way', () => {
    expect(call('test.echo,test.echo', ['a,b'])).toEqual({ fun: ['test.echo', 'test.echo'], arg: [['a'], ['b']] });
    expect(call('test.ping,test.echo', [',', 'b'])).toEqual({ fun: ['test.ping', 'test.echo'], arg: [[], ['b']] });
  });
  it('accept another separator', () => {
    expect(call('test.echo,test.echo', ['a,b', '::', 'c'], '::')).toMatchObject({ arg: [['a,b'], ['c']] });
  });
  it('need arguments for each', () => {
    const few = 'Cannot execute compound command without defining all arguments.\n';
    expect(call('test.ping,test.echo', [])).toEqual({ error: few });
    const many = 'Cannot execute compound command with more arguments than commands.\n';
    expect(call('test.ping,test.echo', ['a,b,c'])).toEqual({ error: many });
  });
});
