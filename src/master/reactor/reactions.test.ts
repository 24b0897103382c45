import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { loadYaml } from '../../base/codec/yaml/index.ts';
import type { Chunk } from '../../engine/state/data.ts';
import { type Params, p } from '../../extend/sdk/index.ts';
import { reactionArguments } from './arguments.ts';
import { compileReactions, declarations } from './compile.ts';
import { Rules } from './rules.ts';

const compiled = (...files: string[]): Chunk[] => {
  const high = new Map<Value, Value>();
  files.forEach((text, at) => {
    for (const [id, body] of declarations(loadYaml(text), `file${at}.sls`)) high.set(id, body);
  });
  return compileReactions(high);
};
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the calls of a rendered file', () => {
  it('uses everything after the first dot as the function, in any form', () => {
    const calls = compiled(
      'long: {local.state.apply: [{tgt: web}]}\nlist: {local: [state.apply, {tgt: db}]}\nshort: runner.manage.up\nold: {cmd.cmd.run: [{tgt: x}]}',
    );
    expect(calls.map((call) => [call['__id__'], call['state'], call['fun'], call['tgt'] ?? null])).toEqual([
      ['old', 'local', 'cmd.run', 'x'],
      ['list', 'local', 'state.apply', 'db'],
      ['long', 'local', 'state.apply', 'web'],
      ['short', 'runner', 'manage.up', null],
    ]);
  });

  it('has calls in their order, and the last file that has an id', () => {
    const calls = compiled(
      'a: {local.test.ping: [{tgt: one}, {order: last}]}\nb: {local.test.ping: [{tgt: two}, {order: 1}]}',
      'c: {local.test.ping: [{tgt: three}]}\na: {local.test.ping: [{tgt: four}]}',
    );
    expect(calls.map(({ __id__, __sls__, tgt }) => [__id__, __sls__, tgt])).toEqual([
      ['b', 'file0.sls', 'two'],
      ['a', 'file1.sls', 'four'],
      ['c', 'file1.sls', 'three'],
    ]);
  });

  it('has no calls when it renders to nothing, and refuses data that are not reactions', () => {
    expect(compiled('', '{}')).toEqual([]);
    expect(() => compiled('- a\n- b')).toThrow('file0.sls does not render to a map of reactions');
    expect(() => compiled('a: {local.test.ping: {tgt: x}}')).toThrow(
      "State 'a' in SLS 'file0.sls' is not formed as a list",
    );
  });
});

describe('arguments', () => {
  const of = (text: string, params?: Params): unknown => plain(reactionArguments(compiled(text)[0] as Chunk, params));
  const orchestrate: Params = { mods: p.any({}), pillar: p.any({ default: null }) };

  it('are named in args, as a list or a map', () => {
    expect(of('a: {local.x.y: [{tgt: t}, {args: [{b: 1}, {c: [2]}]}]}')).toEqual({
      args: [],
      kwargs: { b: 1, c: [2] },
    });
    expect(of('a: {runner.x.y: [{args: {b: 1}}]}')).toEqual({ args: [], kwargs: { b: 1 } });
    expect(of('a: {caller.x.y: [{args: [one, two]}]}')).toEqual({ args: ['one', 'two'], kwargs: {} });
  });

  it('are in arg and kwarg in old files, or under their own names for runners', () => {
    expect(of('a: {local.x.y: [{tgt: t}, {arg: [1, two]}, {kwarg: {b: 3}}]}')).toEqual({
      args: [1, 'two'],
      kwargs: { b: 3 },
    });
    expect(of('a: {local.x.y: [{tgt: t}, {arg: uptime}]}')).toEqual({ args: ['uptime'], kwargs: {} });
    expect(of('a: {runner.x.y: [{mods: web}, {pillar: {v: 1}}, {other: 2}]}', orchestrate)).toEqual({
      args: ['web'],
      kwargs: { pillar: { v: 1 } },
    });
    expect(of('a: {runner.x.y: [{mods: web}, {other: 2}]}', { ...orchestrate, rest: p.kwargs({}) })).toEqual({
      args: ['web'],
      kwargs: { other: 2 },
    });
  });

  it('given by position replace all required parameters of a runner', () => {
    expect(of('a: {runner.salt.cmd: [{arg: [test.ping]}]}', { fun: p.text({}), args: p.rest({}) })).toEqual({
      args: ['test.ping'],
      kwargs: {},
    });
  });

  it('in another form are an error that names the reaction and its file', () => {
    expect(() => of('mine: {local.x.y: [{tgt: t}, {args: [one, two]}]}')).toThrow(
      "The reaction 'mine' of file0.sls (local.x.y) has arguments in an invalid form",
    );
  });
});

describe('rules', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'halite-rules-'));
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    rmSync(folder, { recursive: true });
  });

  it('return the files of every matching tag, in their order, and can be changed', () => {
    const rules = new Rules(loadYaml("- 'a/*': [one, two]\n- '*/b': three\n- c: [four]"), (text) => {
      throw new Error(text);
    });
    expect(rules.filesFor('a/b')).toEqual(['one', 'two', 'three']);
    expect(rules.filesFor('d')).toEqual([]);
    expect([rules.add('c', ['x']), rules.add('d', ['five']), rules.delete('a/*'), rules.delete('a/*')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(rules.filesFor('d')).toEqual(['five']);
    expect(plain(rules.list())).toEqual([{ '*/b': 'three' }, { c: ['four'] }, { d: ['five'] }]);
  });

  it('skip invalid entries, and report them', () => {
    const said: string[] = [];
    const rules = new Rules(loadYaml('- {a: x, b: y}\n- text\n- c: []\n- d: e'), (text) => said.push(text));
    expect(plain(rules.list())).toEqual([{ d: 'e' }]);
    expect(said).toHaveLength(3);
    expect(said[2]).toContain('the tag c needs a file or a list of files');
    expect(new Rules(loadYaml('{a: b}'), (text) => said.push(text)).empty).toBe(true);
    expect(said[3]).toContain('The option reactor is not a list');
  });

  it('of a file apply when it is saved, and stay when it cannot be read', () => {
    const path = join(folder, 'map.yaml');
    const said: string[] = [];
    writeFileSync(path, '- a: one\n');
    const rules = new Rules(path, (text) => said.push(text));
    expect(rules.filesFor('a')).toEqual(['one']);
    writeFileSync(path, '- a: other\n');
    utimesSync(path, 5, 5);
    expect(rules.filesFor('a')).toEqual(['one']);
    vi.advanceTimersByTime(1100);
    expect(rules.filesFor('a')).toEqual(['other']);
    rmSync(path);
    vi.advanceTimersByTime(1100);
    expect(rules.filesFor('a')).toEqual(['other']);
    expect(said.join()).toContain(`The reactors of ${path} cannot be read`);
  });
});
