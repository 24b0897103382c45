// Examples of execution functions: calls whose answers were recorded, and that the tests compare with what ours answer
// (src/ext/modules/golden.test.ts).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadJson } from '../../../src/base/codec/json/index.ts';
import { isDict, newDict, type PlainDict, type Value } from '../../../src/base/codec/value.ts';
import { parseInput } from '../../../src/base/codec/yaml/index.ts';
import nested from '../../../src/ext/outputters/nested.ts';

interface RecordedCall {
  readonly fun: string;
  readonly args: Value[];
  readonly kwargs: PlainDict;
  readonly ret: Value;
}

export interface CallExample {
  /** `salt web1 test.arg 1 a=1` */
  readonly command: string;
  /** What the terminal shows. */
  readonly output: string;
  readonly source: RecordedCall;
}

export const exampleMinion = 'web1';
const perFunction = 2;
const longest = 500;

const quoted = (word: string): string => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
const typed = (value: Value): string | undefined => {
  if (typeof value === 'string') return value;
  if (value === true) return 'True';
  if (value === false) return 'False';
  return value === null || value instanceof Uint8Array || value instanceof Date ? undefined : JSON.stringify(value);
};

/** The words of a command line, when reading them gives exactly these arguments. */
function wordsOf({ args, kwargs }: RecordedCall): string[] | undefined {
  const named = Object.entries(kwargs).map(([name, value]) => [name, typed(value as Value)] as const);
  const words = [...args.map(typed), ...named.map(([name, text]) => (text === undefined ? text : `${name}=${text}`))];
  if (words.some((word) => word === undefined || word === '' || /[\n\0]/.test(word))) return undefined;
  const known = words as string[];
  const read = parseInput(known, {});
  const same = JSON.stringify([read.args, read.kwargs]) === JSON.stringify([args, kwargs]);
  return same ? known.map(quoted) : undefined;
}

const failed = (ret: Value): boolean => isDict(ret) && !(ret instanceof Map) && '__exc__' in ret;

export function callExamples(root: string): ReadonlyMap<string, readonly CallExample[]> {
  const file = join(root, 'test/fixtures/modules/golden-3006.27.json');
  const { pure } = loadJson(readFileSync(file, 'utf8')) as unknown as { pure: RecordedCall[] };
  const found = new Map<string, CallExample[]>();
  for (const source of pure) {
    const known = found.get(source.fun) ?? [];
    const words = failed(source.ret) || known.length >= perFunction ? undefined : wordsOf(source);
    if (words === undefined) continue;
    const output = shown(source.ret);
    if (output.length > longest) continue;
    found.set(source.fun, [
      ...known,
      { command: ['salt', exampleMinion, source.fun, ...words].join(' '), output, source },
    ]);
  }
  return found;
}

const shown = (ret: Value): string =>
  String(nested.render(newDict([[exampleMinion, ret]]), { opts: newDict(), color: false } as never)).trimEnd();
