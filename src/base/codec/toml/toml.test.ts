// TOML: what Python's tomllib reads and the package toml writes, recorded.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dumpJson, loadJson } from '../json/index.ts';
import type { Dict } from '../value.ts';
import { dumpToml, loadToml, TomlError } from './index.ts';

type Recorded = ['load', string, { ok?: string; err?: string }] | ['dump', string, string];
const recorded = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/toml/cases.json', import.meta.url), 'utf8'),
) as Recorded[];

describe('toml', () => {
  it.each(recorded.filter((item) => item[0] === 'load'))('%s %j', (_, text, wanted) => {
    const { ok } = wanted as { ok?: string };
    if (ok !== undefined) expect(dumpJson(loadToml(text), { ensureAscii: true })).toBe(ok);
    else expect(() => loadToml(text)).toThrow(TomlError);
  });

  it('writes what Python writes, and reads it back', () => {
    const dumps = recorded.filter((item) => item[0] === 'dump');
    expect(dumps.length).toBeGreaterThan(20);
    for (const [, data, text] of dumps) {
      expect(dumpToml(loadJson(data) as Dict), data).toBe(text);
      expect(Object.keys(loadToml(text as string)).length, data).toBeGreaterThan(0);
    }
  });

  it('names line and column, and stops at data that is nested too deeply', () => {
    expect(() => loadToml('a = 1\nb = ?\n')).toThrow('This is not a value (line 2 column 5)');
    expect(() => loadToml(`a = ${'['.repeat(100_000)}`)).toThrow('nested too deeply');
  });

  it('keeps dates as texts and has no prototype that input could modify', () => {
    expect(loadToml('d = 1979-05-27T07:32:00Z\n__proto__ = 5\n[x.__proto__]\ny = 1')).toEqual(
      JSON.parse('{"d": "1979-05-27T07:32:00Z", "__proto__": 5, "x": {"__proto__": {"y": 1}}}'),
    );
  });
});
