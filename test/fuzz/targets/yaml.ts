// YAML text: read, written and read again.
import { dumpYaml, loadYaml, loadYamlWithPositions } from '../../../src/base/codec/yaml/index.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';
import { sameValue } from '../engine/values.ts';

export const yamlTokens =
  '- |: |\n|\n  |? |&a |*a|<<: |<<: *a|!!str |!!int |!!float |!!binary |!!set |!!omap |!!python/tuple |>-|"|\'|\\x41|\\U0001F600|[|]|{|}|,| #c|---\n|...\n|%YAML 1.1\n|%TAG ! x\n|~|.inf|-.nan|1_0:59.5|0o17|0x1F|2024-01-02 03:04:05Z|\ufeff|\u2028|\t|\r\n'
    .split('|')
    .concat('|', '|2', '|-');

const target: FuzzTarget = {
  tokens: yamlTokens,
  seeds: [
    'a: 1\nb: [x, {y: z}]\n',
    'base: &b {k: v}\nother:\n  <<: *b\n  l:\n  - |\n    text\n  - >-\n    fold\n',
    '!!set {a, b}',
  ],
  run: (bytes) => {
    const text = textOf(bytes);
    const value = read(() => loadYaml(text));
    const positioned = read(() => loadYamlWithPositions(text));
    hold((value === undefined) === (positioned === undefined), 'with and without places the same texts are YAML');
    if (value === undefined) return;
    const written = read(() => dumpYaml(value, { sortKeys: false }));
    if (written === undefined) return;
    const again = loadYaml(written);
    hold(sameValue(again, value), `what is written reads as it was: ${JSON.stringify(written)}`);
  },
};
export default target;
