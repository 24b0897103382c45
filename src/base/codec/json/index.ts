// JSON with Python's formatting and without loss.
export { compareText } from './compare-text.ts';
export { type DumpOptions, dumpJson } from './dump.ts';
export { type LoadOptions, loadJson } from './load.ts';
