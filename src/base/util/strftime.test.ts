// strftime compared with Python's time.strftime in several zones, and the fractions of a second that Python adds.
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { localTime, strftime } from './strftime.ts';

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/python-text/strftime.json', import.meta.url), 'utf8'),
) as [zone: string, seconds: number, format: string, text: string][];

const before = process.env['TZ'];
afterEach(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

describe('strftime', () => {
  it.skipIf(!existsSync('/usr/share/zoneinfo/Europe/Berlin'))('writes what Python writes', () => {
    const different: unknown[] = [];
    for (const [zone, seconds, format, text] of recorded) {
      process.env['TZ'] = zone;
      const ours = strftime(localTime(new Date(seconds * 1000)), format);
      if (ours !== text) different.push({ zone, seconds, format, text, ours });
    }
    expect(different).toEqual([]);
  });

  it('has microseconds only when they are given, and no zone for plain fields', () => {
    const fields = { year: 2026, month: 11, day: 5, hour: 13, minute: 4, second: 9 };
    expect(strftime(fields, '%f %z|%Z|%Q %')).toBe('%f ||%Q %');
    expect(strftime({ ...fields, micro: 42 }, '%H.%f')).toBe('13.000042');
    expect(strftime(new Date(2026, 0, 1, 0, 0, 0, 7), '%f')).toBe('007000');
  });

  it('leaves unknown directives unchanged, and bounds the width', () => {
    expect(strftime(new Date(0), '%i %Q %Ea %OY %')).toBe('%i %Q %Ea %OY %');
    expect(strftime(new Date(0), '%999999999Y').length).toBe(10_000);
  });
});
