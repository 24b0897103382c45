// TOML: reading and writing.
export { dumpToml } from './dump.ts';
export { loadToml, TomlError } from './load.ts';
