// Jids, durations, names, paths, waiting times and suggestions.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HaliteError } from '../errors/index.ts';
import {
  backoff,
  exitCodes,
  generateJid,
  isInside,
  isJid,
  isPathComponent,
  isValidMinionId,
  jidDir,
  jidOf,
  jidToMillis,
  jidToTime,
  nearest,
  parseDuration,
  safeJoin,
  slotOf,
  takeJid,
  typingDistance,
  useSlot,
  yamlKey,
} from './index.ts';

interface JidVectors {
  examples: { jid: string; jid_to_time: string; jid_dir_sha256: string; jid_dir_md5: string }[];
  invalid: { jid: string }[];
  non_string: { value: number };
  from_datetime: { utc: string; jid: string };
}
const jids = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/vectors/jid.json', import.meta.url), 'utf8'),
) as JidVectors;

describe('jid', () => {
  it('agrees with the vectors', () => {
    for (const example of jids.examples) {
      expect(isJid(example.jid)).toBe(true);
      expect(jidToTime(example.jid)).toBe(example.jid_to_time);
      expect(jidDir(example.jid, 'jobs')).toBe(example.jid_dir_sha256);
      expect(jidDir(example.jid, 'jobs', 'md5')).toBe(example.jid_dir_md5);
    }
    for (const { jid } of jids.invalid) expect([jid, isJid(jid), jidToTime(jid)]).toEqual([jid, false, '']);
    expect(isJid(jids.non_string.value)).toBe(false);
    expect(jidOf(Date.parse('2024-01-02T03:04:05Z') * 1000 + 7)).toBe(jids.from_datetime.jid);
    expect(jidToTime('20180719155834031057')).toBe('2018, Jul 19 15:58:34.031057');
    expect(jidToTime('20181919155834031057')).toBe('');
  });

  it('is refused when its suffix could be a path', () => {
    for (const suffix of ['_../x', '_a/b', '_\0', '_a\n']) expect(isJid(`20240102030405678901${suffix}`)).toBe(false);
  });

  it('are not generated when another machine made them, and those it made of a far time are refused', () => {
    const soon = Array.from({ length: 2000 }, (_, i) => jidOf(Date.now() * 1000 + 2000 + i));
    const free = soon.filter((jid) => takeJid(jid));
    expect(free).toEqual(soon);
    const made = new Set<string>();
    while (generateJid() < soon.at(-1)!) made.add(generateJid());
    expect(soon.filter((jid) => made.has(jid))).toEqual([]);
    expect(takeJid(jidOf((Date.now() + 600_000) * 1000))).toBe(false);
    expect(takeJid('99999999999999999999')).toBe(false);
    expect(takeJid('20200101000000000000')).toBe(true);
  });

  it('increases strictly and contains the time', () => {
    const made = Array.from({ length: 500 }, () => generateJid());
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(500);
    expect(Math.abs((jidToMillis(made[0] as string) ?? 0) - Date.now())).toBeLessThan(5000);
    expect(generateJid({ unique: true })).toMatch(new RegExp(`^\\d{20}_${process.pid}$`));
    expect(jidToMillis('20249902030405678901')).toBeUndefined();
  });
});

describe('durations', () => {
  it('ends with the slot of a master of a cluster, and still grows with each job', () => {
    useSlot(7);
    try {
      const made = Array.from({ length: 500 }, () => generateJid());
      expect(new Set(made.map(slotOf))).toEqual(new Set([7]));
      expect([...new Set(made)].sort()).toEqual(made);
      useSlot(2);
      const next = generateJid();
      expect(slotOf(next)).toBe(2);
      expect(next > made.at(-1)!).toBe(true);
    } finally {
      useSlot(undefined);
    }
  });

  it('reads what people write', () => {
    const forms: [string | number, number][] = [
      [90, 90],
      ['90', 90],
      ['90s', 90],
      ['24h', 86400],
      ['2d', 172800],
      ['1h30m', 5400],
      ['1.5 hours', 5400],
      ['2 weeks', 1209600],
      ['500ms', 0.5],
      [' 3 Min ', 180],
    ];
    for (const [text, seconds] of forms) expect([text, parseDuration(text)]).toEqual([text, seconds]);
    expect(parseDuration(2, 'h')).toBe(7200);
    for (const text of ['', 'h', '1x', '1h30', '-5', '1 h x', '1e3'])
      expect(() => parseDuration(text), text).toThrow(HaliteError);
    expect(() => parseDuration(Number.NaN)).toThrow(HaliteError);
  });
});

describe('names and paths', () => {
  it('accepts ordinary ids and refuses dangerous ones', () => {
    for (const id of ['web-01.example', 'büro-1', 'a', 'x y', 'A_b:c@d'])
      expect([id, isValidMinionId(id)]).toEqual([id, true]);
    const wrong = [
      '',
      '.',
      '..',
      'a/b',
      'a\\b',
      'a\0b',
      '../x',
      '.key_cache',
      'a\nb',
      'x'.repeat(256),
      'é'.repeat(200),
      7,
      null,
      undefined,
      ['a'],
    ];
    for (const id of wrong) expect([id, isValidMinionId(id)]).toEqual([id, false]);
    expect(isPathComponent('.hidden')).toBe(true);
    expect(isPathComponent('..')).toBe(false);
  });

  it('never leaves the root', () => {
    const piece = fc.constantFrom('..', '.', 'a', 'b', '/', '//', '\\', '\0', '', 'x/../..', '~', '%2e%2e', ' ');
    fc.assert(
      fc.property(
        fc.array(
          fc.array(piece).map((pieces) => pieces.join('/')),
          { maxLength: 4 },
        ),
        (parts) => {
          try {
            expect(isInside('/srv/salt', safeJoin('/srv/salt', ...parts))).toBe(true);
          } catch (thrown) {
            expect((thrown as HaliteError).code).toBe('path.refused');
          }
        },
      ),
    );
    expect(safeJoin('/srv/salt', 'a/b', 'c')).toBe('/srv/salt/a/b/c');
    expect(safeJoin('/srv/salt', 'a/../b')).toBe('/srv/salt/b');
    for (const part of ['../x', '/etc/passwd', 'a/../../b', 'a\0', 'a\\..\\b'])
      expect(() => safeJoin('/srv/salt', part)).toThrow(HaliteError);
    expect(isInside('/srv/salt', '/srv/salty')).toBe(false);
    expect(isInside('/', '/etc')).toBe(true);
  });
});

describe('waiting, suggestions, keys, codes', () => {
  it('doubles up to the maximum, with jitter inside its share', () => {
    const still = backoff({ base: 100, max: 1000, jitter: 0 });
    expect([1, 2, 3, 4, 5, 6].map(() => still.next())).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(still.attempts).toBe(6);
    still.reset();
    expect(still.next()).toBe(100);
    expect(backoff({ base: 100, jitter: 0.5, random: () => 1 }).next()).toBe(50);
    expect(backoff({ base: 100, factor: 2, max: 5000, jitter: 0 }).next()).toBe(100);
  });

  it('suggests only similar names', () => {
    const names = ['test.ping', 'test.echo', 'state.apply', 'grains.items'];
    expect(nearest('test.pign', names)).toBe('test.ping');
    expect(nearest('state.aply', names)).toBe('state.apply');
    expect(nearest('zzz', names)).toBeUndefined();
    expect(typingDistance('ab', 'ba')).toBe(1);
    expect(typingDistance('kitten', 'sitting')).toBe(3);
  });

  it('reads keys as YAML scalars', () => {
    const forms = ['80', '080', '0x1f', '-3', '1.5', 'yes', 'None', '~', 'abc', '1_000', "'80'", '1e5'].map(yamlKey);
    expect(forms).toEqual([80, '080', 31, -3, 1.5, true, null, null, 'abc', '1_000', '80', '1e5']);
  });

  it('has the exit codes of Salt', () => {
    expect([exitCodes.ok, exitCodes.usage, exitCodes.keepAlive, exitCodes.noPermission]).toEqual([0, 64, 99, 77]);
  });
});
