// JSON in Python's formatting; no value changes its type when it is written and read.
export { compareText } from './compare-text.ts';
export { dumpJson } from './dump.ts';
export { indentJson } from './indent.ts';
export { JsonText, type JsonTextFacts, readValue } from './json-text.ts';
export { loadJson } from './load.ts';
export { isPlainJson, parseDict, parsePlain, parseValue } from './parse.ts';
