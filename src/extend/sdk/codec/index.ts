// `halite/sdk/codec`: values as JSON, YAML, TOML, msgpack and as Python prints them.
export { compareText } from '../../../base/codec/json/compare-text.ts';
export { type DumpOptions, dumpJson } from '../../../base/codec/json/dump.ts';
export { indentJson } from '../../../base/codec/json/indent.ts';
export { JsonText, readValue } from '../../../base/codec/json/json-text.ts';
export { type LoadOptions, loadJson } from '../../../base/codec/json/load.ts';
export { unpack } from '../../../base/codec/msgpack/decode.ts';
export { pack } from '../../../base/codec/msgpack/encode.ts';
export { type PprintOptions, pprintValue } from '../../../base/codec/python/pprint.ts';
export { type Tagged, untag } from '../../../base/codec/python/tagged.ts';
export { dumpToml, loadToml, TomlError } from '../../../base/codec/toml/index.ts';
export { decodeBase64 } from '../../../base/codec/yaml/base64.ts';
export { isOrdered, markOrdered } from '../../../base/codec/yaml/collections.ts';
export { type DumpYamlOptions, dumpYaml } from '../../../base/codec/yaml/dump.ts';
export { YamlError } from '../../../base/codec/yaml/error.ts';
export { type LoadYamlOptions, loadYaml } from '../../../base/codec/yaml/load.ts';
export { loadYamlex } from './yamlex.ts';
