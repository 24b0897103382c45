// optparse compared with Python's optparse on the same command lines (test/fixtures/cli).
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HaliteError } from '../base/errors/index.ts';
import { commandSpecs } from './options/testing.ts';
import {
  allOptions,
  type CommandSpec,
  defaultValues,
  type OptionSpec,
  type OptionValue,
  parseCommandLine,
} from './optparse.ts';
import { formatHelp, formatUsage } from './optparse-help.ts';

const fixture = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../test/fixtures/cli/${name}`, import.meta.url), 'utf8'));

interface RecordedCase {
  argv: string[];
  error?: string;
  wants?: string;
  values?: Record<string, unknown>;
  args?: string[];
}

function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (value && typeof value === 'object' && 'float' in value) {
    const text = String(value.float);
    if (text === 'inf') return Number.POSITIVE_INFINITY;
    return text === 'nan' ? Number.NaN : Number(text);
  }
  return value;
}

function outcome(spec: CommandSpec, argv: string[]): RecordedCase {
  try {
    const parsed = parseCommandLine(spec, argv);
    if (parsed.wants) return { argv, wants: parsed.wants };
    const defaults = defaultValues(spec);
    const values: Record<string, unknown> = {};
    for (const [dest, value] of Object.entries(parsed.values)) {
      if (JSON.stringify(value) !== JSON.stringify(defaults[dest]) || Number.isNaN(value)) values[dest] = value;
    }
    return { argv, values, args: parsed.args };
  } catch (error) {
    if (error instanceof HaliteError && error.code === 'cli.usage') return { argv, error: error.message };
    throw error;
  }
}

const saltCases = fixture('optparse-salt.json');
// Salt 3008 accepts these several times, 3006 uses the last.
const nowLists = new Set(['file_root', 'pillar_root', 'states_dir']);

describe.each(Object.keys(saltCases))('%s', (prog) => {
  const recorded = saltCases[prog];
  const spec = commandSpecs[prog]!();

  it('has every option of Salt, with the same meaning', () => {
    const ours = new Map(allOptions(spec).flatMap((option) => option.flags.map((flag) => [flag, option] as const)));
    const defaults = defaultValues(spec);
    const all = [...recorded.options, ...recorded.groups.flatMap((group: { options: unknown[] }) => group.options)];
    expect(all.length).toBeGreaterThan(10);
    for (const theirs of all) {
      const option = ours.get(theirs.flags[0]) as OptionSpec;
      expect(option?.flags, theirs.flags.join()).toEqual(theirs.flags);
      if (theirs.dest === null) continue;
      expect(option.dest).toBe(theirs.dest);
      if (!nowLists.has(option.dest)) {
        expect(option.action ?? 'store', option.dest).toBe(theirs.action === 'callback' ? 'store' : theirs.action);
      }
      const type = theirs.type ?? 'string';
      expect(option.type ?? 'string', option.dest).toBe(type);
      if (theirs.choices) expect(option.choices).toEqual(theirs.choices);
      const wanted = JSON.stringify(theirs.default) === '{}' ? null : theirs.default;
      expect(defaults[option.dest], option.dest).toEqual(wanted);
      if (theirs.metavar) expect(option.metavar).toBe(theirs.metavar);
    }
  });

  it('reads random command lines as Python does', () => {
    for (const theirs of recorded.cases as RecordedCase[]) {
      const ours = outcome(spec, theirs.argv);
      const values = theirs.values && Object.fromEntries(Object.entries(theirs.values).map(([k, v]) => [k, decode(v)]));
      for (const dest of nowLists) {
        const list = ours.values?.[dest];
        if (Array.isArray(list)) ours.values![dest] = list.at(-1);
      }
      expect(ours, JSON.stringify(theirs.argv)).toEqual(values ? { ...theirs, values } : theirs);
    }
  });
});

describe('the synthetic command', () => {
  const { lab, help, usage, cases } = fixture('optparse-lab.json');
  const option = (raw: Record<string, unknown>): OptionSpec =>
    ({ help: '', ...raw, constant: raw['const'] as OptionValue }) as unknown as OptionSpec;
  const spec: CommandSpec = {
    prog: 'lab',
    usage: lab.usage,
    description: lab.description,
    epilog: lab.epilog,
    options: [
      { flags: ['--version'], dest: 'version', action: 'version', help: "show program's version number and exit" },
      { flags: ['-h', '--help'], dest: 'help', action: 'help', help: 'show this help message and exit' },
      ...lab.options.map(option),
    ],
    groups: lab.groups.map((group: { options: Record<string, unknown>[] }) => ({
      ...group,
      options: group.options.map(option),
    })),
  };

  it('is read as Python reads it', () => {
    for (const theirs of cases as RecordedCase[]) {
      const values = theirs.values && Object.fromEntries(Object.entries(theirs.values).map(([k, v]) => [k, decode(v)]));
      expect(outcome(spec, theirs.argv), JSON.stringify(theirs.argv)).toEqual(values ? { ...theirs, values } : theirs);
    }
  });

  it.each(Object.keys(help))('prints the same help at %s columns', (columns) => {
    expect(formatHelp(spec, Number(columns))).toBe(help[columns]);
    expect(formatUsage(spec)).toBe(usage);
  });
});

describe('additions to optparse', () => {
  const salt = commandSpecs['salt']!();
  it('suggests the most similar option', () => {
    expect(() => parseCommandLine(salt, ['--subsett'])).toThrowError(
      expect.objectContaining({ message: 'no such option: --subsett', hint: 'Did you mean --subset?' }),
    );
  });
  it('never makes an abbreviation of a Salt option ambiguous', () => {
    expect(parseCommandLine(salt, ['--de', '|']).values['delimiter']).toBe('|');
    expect(parseCommandLine(salt, ['--dur']).values['durable']).toBe('24h');
  });
  it('accepts an optional value only after =', () => {
    const bare = parseCommandLine(salt, ['--durable', 'web*', 'test.ping']);
    expect([bare.values['durable'], bare.args]).toEqual(['24h', ['web*', 'test.ping']]);
    expect(parseCommandLine(salt, ['--durable=2h']).values['durable']).toBe('2h');
  });
});

describe('any command line', () => {
  it('is either parsed or a usage error, and loses no argument', () => {
    const salt = commandSpecs['salt']!();
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('--', '-v', '-t', '5', '--out=json', '-b1'))),
        (argv) => {
          const got = outcome(salt, argv);
          if (got.args) for (const arg of got.args) expect(argv.includes(arg)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});
