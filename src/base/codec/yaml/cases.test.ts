// The YAML cases of the design, and generated documents, all recorded from real Salt.
import { describe, expect, it } from 'vitest';
import { dumpYaml } from './dump.ts';
import { YamlError } from './error.ts';
import { loadYaml } from './load.ts';
import { decodeValue, type Encoded, encodeValue, type LoadOutcome, readFixture } from './testing.ts';

interface LoadCase {
  readonly id: string;
  readonly area: string;
  readonly yaml: string;
  readonly salt: LoadOutcome;
}
interface DumpCase {
  readonly id: string;
  readonly area: 'dump';
  readonly data: Encoded;
  readonly flow: string;
  readonly block: string;
  readonly auto: string;
}

const { cases } = readFixture<{ cases: (LoadCase | DumpCase)[] }>('yaml-cases.json');
const loadCases = cases.filter((one): one is LoadCase => 'yaml' in one);
const dumpCases = cases.filter((one): one is DumpCase => 'data' in one);

/** The result of loading, reduced to the fields that the expectation names. */
function outcomeOf(text: string, expected: LoadOutcome): LoadOutcome {
  try {
    return { value: inAnyOrder(encodeValue(loadYaml(text))) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const all: Record<string, unknown> = {
      error: error.kind,
      problem: error.problem,
      context: error.context ?? null,
      line: error.line,
      column: error.column,
      cline: error.contextLine,
      ccolumn: error.contextColumn,
    };
    return Object.fromEntries(Object.keys(expected).map((name) => [name, all[name]]));
  }
}

/** Python's sets have no order. */
function inAnyOrder(data: Encoded): Encoded {
  if (data === null || typeof data !== 'object') return data;
  if (Array.isArray(data)) return data.map(inAnyOrder);
  return Object.fromEntries(
    Object.entries(data).map(([mark, content]) => {
      const inner = inAnyOrder(content);
      if (mark !== '$set' || !Array.isArray(inner)) return [mark, inner];
      return [mark, inner.map((item) => JSON.stringify(item)).sort()];
    }),
  );
}

function expectedOf(outcome: LoadOutcome): LoadOutcome {
  return outcome.value === undefined ? outcome : { value: inAnyOrder(outcome.value) };
}

describe('load cases', () => {
  it('are complete', () => {
    expect(loadCases.length + dumpCases.length).toBe(193);
  });

  it.each(loadCases.map((one) => [one.id, one] as const))('%s', (_id, { yaml, salt }) => {
    expect(outcomeOf(yaml, salt)).toEqual(expectedOf(salt));
  });
});

describe('dump cases', () => {
  it.each(dumpCases.map((one) => [one.id, one] as const))('%s', (_id, { data, flow, block, auto }) => {
    const value = decodeValue(data);
    const texts = [true, false, null].map((style) => dumpYaml(value, { flow: style }));
    expect(texts).toEqual([flow, block, auto]);
  });
});

describe('generated documents', () => {
  const generated = readFixture<{ cases: { yaml: string; salt: LoadOutcome }[] }>('generated-cases.json').cases;

  it.each(generated.map((one) => [JSON.stringify(one.yaml).slice(0, 60), one] as const))('%s', (_id, one) => {
    expect(outcomeOf(one.yaml, one.salt)).toEqual(expectedOf(one.salt));
  });
});
