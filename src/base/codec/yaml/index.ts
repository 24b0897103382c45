// Salt's YAML: loader, dumper and command-line values.
export { type CliInput, conditionInput, type ParseInputOptions, parseCliYaml, parseInput } from './cli-value.ts';
export { isOrdered, markOrdered, PySet, PyTuple, setOf, tupleOf } from './collections.ts';
export { type DumpYamlOptions, dumpYaml } from './dump.ts';
export { excerptOf, YamlError, type YamlErrorCode, type YamlErrorKind } from './error.ts';
export { type LoadYamlOptions, loadYaml, loadYamlWithPositions, type PositionedYaml } from './load.ts';
export { YamlPositions } from './positions.ts';
