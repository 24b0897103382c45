// JSON with Python's formatting and without loss.
export { type DumpOptions, dumpJson } from './dump.ts';
export { type LoadOptions, loadJson } from './load.ts';
