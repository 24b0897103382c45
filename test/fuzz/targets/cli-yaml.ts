// Arguments of the command line, which are YAML where that makes sense.
import { conditionInput, parseCliYaml, parseInput } from '../../../src/base/codec/yaml/index.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';
import { yamlTokens } from './yaml.ts';

const target: FuzzTarget = {
  tokens: [...yamlTokens, 'key=', '=', 'a=[1, 2]', '__kwarg__', '\0'],
  seeds: ['name=value', 'x={a: 1}', '1_000\0no\0pkgs=[a, b]'],
  run: (bytes) => {
    const words = textOf(bytes).split('\0');
    for (const word of words) parseCliYaml(word);
    const input = read(() => parseInput(words));
    if (input) hold(Array.isArray(conditionInput(input)), 'a list of arguments');
  },
};
export default target;
