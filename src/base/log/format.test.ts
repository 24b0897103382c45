import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localTime, strftime } from '../util/strftime.ts';
import { compileLayout, isLayout } from './format.ts';
import { type LogMethod, levelNumber, levels } from './levels.ts';

interface Vectors {
  lines: [string, string, string | null][];
  times: [string, number, string][];
  levels: [string | number | null, number][];
  names: string[];
}

const file = fileURLToPath(new URL('../../../test/fixtures/log/vectors.json', import.meta.url));
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const before = process.env['TZ'];

beforeAll(() => {
  process.env['TZ'] = 'Europe/Berlin';
});
afterAll(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

const inputFor = (method: LogMethod, message = 'hello world') => ({
  time: 1_700_000_000_123,
  method,
  name: 'salt.master',
  message,
  jid: '',
  minionId: '',
  pid: 4242,
});

describe('layouts as Salt writes them', () => {
  it.each(vectors.lines)('%s at %s', (layout, level, wanted) => {
    const method = level === 'warning' ? 'warn' : (level as LogMethod);
    if (wanted === null) expect(isLayout(layout)).toBe(false);
    else expect(compileLayout(layout, '%Y-%m-%d %H:%M:%S')(inputFor(method))).toBe(wanted);
  });

  it('recognizes what Python would refuse', () => {
    for (const layout of ['plain', '%s', '%(message)', '%(nope)s %(message)s', '100% %(message)s']) {
      expect(isLayout(layout), layout).toBe(false);
    }
    expect(isLayout('100%% %(message)s')).toBe(true);
  });

  it('never throws, whatever the layout', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (layout, message) => {
        expect(typeof compileLayout(`${layout}%(message)s`, layout)(inputFor('info', message))).toBe('string');
      }),
    );
  });
});

describe('times as Python writes them', () => {
  it.each(vectors.times)('%j of %d', (format, stamp, wanted) => {
    expect(strftime(localTime(new Date(stamp * 1000)), format)).toBe(wanted);
  });
});

describe('levels', () => {
  it.each(vectors.levels)('%s is %d', (name, number) => {
    expect(levelNumber(name)).toBe(number);
  });
  it('are listed in order', () => {
    expect(Object.keys(levels)).toEqual(vectors.names);
  });
});
