// Texts and the times that Python's dateutil 2.x reads from them, on a Sunday in November 2026.
import { describe, expect, it } from 'vitest';
import { parseDateText } from './date-text.ts';
import { parseLocalTime } from './strptime.ts';

const recorded: readonly (readonly [string, string | undefined])[] = [
  ['Monday 5:00pm', '2026-11-16T17:00:00'],
  ['5:00pm', '2026-11-15T17:00:00'],
  ['5pm', '2026-11-15T17:00:00'],
  ['17:30', '2026-11-15T17:30:00'],
  ['2026-11-30 14:00', '2026-11-30T14:00:00'],
  ['Nov 30, 2026 2pm', '2026-11-30T14:00:00'],
  ['November 30, 2017', '2017-11-30T00:00:00'],
  ['11/30/2017 14:00', '2017-11-30T14:00:00'],
  ['30/11/2017 14:00', '2017-11-30T14:00:00'],
  ['20171130T140000', '2017-11-30T14:00:00'],
  ['20171130', '2017-11-30T00:00:00'],
  ['2017-11-30T14:00:00', '2017-11-30T14:00:00'],
  ['Sun 3am', '2026-11-15T03:00:00'],
  ['Sunday 10:15:30 am', '2026-11-15T10:15:30'],
  ['10:15 Monday', '2026-11-16T10:15:00'],
  ['12:00am', '2026-11-15T00:00:00'],
  ['12pm', '2026-11-15T12:00:00'],
  ['1 Jan 2027 10:00', '2027-01-01T10:00:00'],
  ['15th 10:00', '2026-11-15T10:00:00'],
  ['Tuesday', '2026-11-17T00:00:00'],
  ['tues 3:00 pm', undefined],
  ['11/30', '2026-11-30T00:00:00'],
  ['Wednesday 5:00pm', '2026-11-18T17:00:00'],
  ['thurs 9am', undefined],
  ['bogus', undefined],
  ['25:00', undefined],
  ['', undefined],
  ['2027', '2027-11-15T00:00:00'],
  ['Dec 2027', '2027-12-15T00:00:00'],
  ['Feb 31', undefined],
  ['2026-11-30 14:00:00.250', '2026-11-30T14:00:00.250000'],
  ['8:00 am', '2026-11-15T08:00:00'],
  ['8:00AM', '2026-11-15T08:00:00'],
  ['Thu Nov 26 10:00:00 2026', '2026-11-26T10:00:00'],
  ['10.11.2026', '2026-10-11T00:00:00'],
  ['2017/11/30 1:05pm', '2017-11-30T13:05:00'],
  ['noon', undefined],
  ['Mon, 5 pm', '2026-11-16T17:00:00'],
];

describe('dates as people write them', () => {
  for (const [text, expected] of recorded)
    it(`${text || 'nothing'} is ${expected ?? 'no date'}`, () => {
      const moment = expected === undefined ? undefined : new Date(expected);
      expect(parseDateText(text, new Date(2026, 10, 15, 13, 37))).toEqual(moment);
    });

  it('zones count', () => {
    expect(parseDateText('2026-11-30T14:00:00Z', new Date())).toEqual(new Date('2026-11-30T14:00:00Z'));
    expect(parseDateText('2026-11-30 14:00 +0200', new Date())).toEqual(new Date('2026-11-30T12:00:00Z'));
  });

  it('formats are read in local time', () => {
    expect(parseLocalTime('2026-11-30T14:00:05', '%Y-%m-%dT%H:%M:%S')).toEqual(new Date(2026, 10, 30, 14, 0, 5));
    expect(parseLocalTime('30.11.26', '%Y-%m-%d')).toBeUndefined();
  });
});
