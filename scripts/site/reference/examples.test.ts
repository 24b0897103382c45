// What the reference shows as an example is what the functions do: the text on the page is read back and run.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtinModules, builtinStates, runCase } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import { callExamples } from './call-examples.ts';
import { exampleFolder, readSls, type StateExample, stateExamples } from './state-examples.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('examples of states', () => {
  const names = readdirSync(`${root}/src/ext/states`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const examples = names.flatMap(({ name }) =>
    [...stateExamples(root, name).values()].flat().map((example) => ({ name, ...example })),
  );

  it('are many, and mean the case they come from', () => {
    expect(examples.length).toBeGreaterThan(200);
    for (const { sls, source } of examples) {
      const { state, args } = readSls(sls);
      expect([state, JSON.stringify(args)]).toEqual([source.state, JSON.stringify(source.args)]);
    }
  });

  // All cases run in src/ext/states/cases.test.ts; here those whose text on the page is run as it stands there.
  const shown = ['cmd', 'file', 'ini', 'host', 'user', 'grains'].flatMap((name) => {
    const [first] = examples.filter((each) => each.name === name);
    return first ? [first] : [];
  });
  it.each(shown.map((example) => [example.source.state, example] as const))('%s', async (_, example) => {
    const states = await builtinStates([...new Set([example.name, 'file'])]);
    const modules = await builtinModules([
      'file',
      'cmd',
      'hashutil',
      'config',
      'pillar',
      'grains',
      'environ',
      'test',
      'ini_manage',
    ]);
    const { got, wanted } = await runCase(asRow(example), { states, modules });
    expect(got).toEqual(wanted);
  });

  /** The case with what the page says: arguments from the state file, the comment from below it. */
  const asRow = ({ source, sls, comment }: StateExample): StateExample['source'] => ({
    ...source,
    ...readSls(sls),
    ...(source.apply ? { apply: { ...source.apply, comment: comment.replaceAll(exampleFolder, '{tmp}') } } : {}),
  });
});

it('calls of functions are as a shell would give them, with the answer of a terminal', () => {
  const examples = callExamples(root);
  expect(examples.size).toBeGreaterThan(50);
  expect(examples.get('test.ping')).toEqual([
    expect.objectContaining({ command: 'salt web1 test.ping', output: 'web1:\n    True' }),
  ]);
});
