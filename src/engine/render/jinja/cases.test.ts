// The recorded cases: the design's own set, and samples of the differential fuzzer, all with the reference's results.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createEnvironment, type EnvironmentOptions, JinjaError } from './index.ts';

interface Case {
  readonly id?: string;
  readonly area?: string;
  readonly template: string;
  readonly context?: Record<string, unknown>;
  readonly files?: Record<string, string>;
  readonly undefined?: 'lenient';
  readonly options?: Record<string, unknown>;
  readonly expected?: string;
  readonly error?: { readonly type: string; readonly message: string; readonly line: number };
}

const optionNames: Readonly<Record<string, keyof EnvironmentOptions>> = {
  trim_blocks: 'trimBlocks',
  lstrip_blocks: 'lstripBlocks',
  keep_trailing_newline: 'keepTrailingNewline',
  newline_sequence: 'newlineSequence',
  line_statement_prefix: 'lineStatementPrefix',
  line_comment_prefix: 'lineCommentPrefix',
  block_start_string: 'blockStart',
  block_end_string: 'blockEnd',
  variable_start_string: 'variableStart',
  variable_end_string: 'variableEnd',
  comment_start_string: 'commentStart',
  comment_end_string: 'commentEnd',
};

// Dates are printed in local time; the reference ran in UTC.
process.env['TZ'] = 'UTC';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../test/fixtures/jinja/${name}`, import.meta.url), 'utf8');

function at(data: unknown, path: string, fallback: unknown): unknown {
  let value = data;
  for (const key of path.split(':')) {
    if (typeof value !== 'object' || value === null || !(key in value)) return fallback;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The stub functions the design describes for area `sls`. */
function stubs(context: Record<string, unknown>): Record<string, unknown> {
  const get = (data: unknown) => (args: unknown[]) => at(data, String(args[0]), args[1] ?? '');
  return {
    'pillar.get': get(context['pillar']),
    'grains.get': get(context['grains']),
    'cmd.run': () => 'stub-output',
    'grains.filter_by': ([lookup, grain = 'os_family']: [Record<string, unknown>, string?]) =>
      lookup[String(at(context['grains'], grain, ''))] ?? lookup['default'] ?? null,
  };
}

function outcome(test: Case): Pick<Case, 'expected' | 'error'> {
  const options: Record<string, unknown> = { undefined: test.undefined ?? 'strict' };
  for (const [name, value] of Object.entries(test.options ?? {})) options[optionNames[name]!] = value;
  const files = test.files ?? {};
  const context = { ...test.context };
  if (test.area === 'sls') context['salt'] = stubs(context);
  const environment = createEnvironment({
    ...options,
    globals: context,
    loader: (name) => (Object.hasOwn(files, name) ? { source: files[name]! } : undefined),
  });
  try {
    return { expected: environment.renderSync(test.template, context) };
  } catch (error) {
    if (!(error instanceof JinjaError)) throw error;
    return { error: { type: error.pyType, message: error.message, line: error.line ?? 0 } };
  }
}

describe('cases of the design', () => {
  const { cases } = JSON.parse(fixture('jinja-cases.json')) as { cases: Case[] };
  it.each(cases)('$id', (test) => {
    const { expected, error } = test;
    expect(outcome(test)).toEqual(error === undefined ? { expected } : { error });
  });
});

describe('samples of the differential fuzzer', () => {
  const recorded = JSON.parse(fixture('reference-cases.json')) as {
    context: Record<string, unknown>;
    files: Record<string, string>;
    sets: Record<string, Case[]>;
  };
  it.each(Object.keys(recorded.sets))('%s', (name) => {
    const wrong: unknown[] = [];
    for (const test of recorded.sets[name]!) {
      const got = outcome({
        ...test,
        context: test.context ?? structuredClone(recorded.context),
        files: test.files ?? recorded.files,
      });
      const { expected, error } = test;
      const wanted = error === undefined ? { expected } : { error };
      try {
        expect(got).toEqual(wanted);
      } catch {
        wrong.push({ template: test.template, wanted, got });
      }
    }
    expect(wrong).toEqual([]);
  });
});
