// Abbreviations and offsets of time zones, in the past and in the future, for which the file contains only a rule.
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { zoneAbbreviation, zoneOffset } from './time-zone.ts';

const before = process.env['TZ'];
afterEach(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

describe.skipIf(!existsSync('/usr/share/zoneinfo/Europe/Berlin'))('zones', () => {
  it.each([
    ['Europe/Berlin', 1700000000, 'CET +0100'],
    ['Europe/Berlin', 1720000000, 'CEST +0200'],
    ['Europe/Berlin', 4000000000, 'CEST +0200'],
    ['America/New_York', 1700000000, 'EST -0500'],
    ['Asia/Kolkata', 1700000000, 'IST +0530'],
    ['America/Sao_Paulo', 1700000000, '-03 -0300'],
    ['UTC', 1700000000, 'UTC +0000'],
  ])('%s at %i', (zone, seconds, wanted) => {
    process.env['TZ'] = zone;
    const at = new Date(seconds * 1000);
    expect(`${zoneAbbreviation(at)} ${zoneOffset(at)}`).toBe(wanted);
  });

  it('falls back to UTC for an unknown zone', () => {
    process.env['TZ'] = 'No/Such';
    expect(zoneAbbreviation()).toBe('UTC');
  });
});
