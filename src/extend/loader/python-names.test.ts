import { expect, it } from 'vitest';
import { namesInText } from './python-names.ts';

const virtual = (...lines: string[]): string =>
  `def __virtual__():\n${lines.map((line) => `    ${line}\n`).join('')}\ndef f():\n    return 'no'\n`;

it.each([
  ['def f(): pass', ['stem'], false],
  ["__virtualname__ = 'other'\ndef f(): pass", ['stem'], false],
  [`__virtualname__ = "other"\n${virtual('return __virtualname__')}`, ['other'], false],
  [`__virtualname__ = 'other'\n${virtual('if HAS:', '    return True', "return (False, 'why')")}`, ['other'], false],
  [virtual("return 'named'"), ['stem', 'named'], false],
  [virtual("return 'named' if __grains__['x'] else False"), ['stem', 'named'], false],
  [virtual('return NAME'), ['stem'], true],
  [virtual('return make()'), ['stem'], true],
  [virtual("return 'cmd.run' in __salt__"), ['stem'], false],
  [`__virtual_aliases__ = ('one', 'two')\n${virtual('return True')}`, ['stem', 'one', 'two'], false],
])('finds the names in %j', (source, names, dynamic) => {
  expect(namesInText('stem', source)).toEqual({ names, dynamic });
});

it('reads a hostile text in linear time', () => {
  const source = `def __virtual__():\n${'    x\n \n'.repeat(50_000)}`;
  expect(namesInText('stem', source).dynamic).toBe(false);
});
