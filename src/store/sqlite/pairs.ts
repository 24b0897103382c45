// Rows of a name and a JSON text are passed between the threads as a few long texts: far cheaper than one object per
// row.

import { parseValue } from '../../base/codec/json/index.ts';
import { asDict, type Dict, newDict } from '../../base/codec/value.ts';
import type { SqlValue } from './driver.ts';

const longest = 4 * 1024 * 1024;

/** In the reader thread: rows with the columns `name` and `data` as JSON lists of pairs. */
export function joinPairs(rows: readonly Record<string, SqlValue>[]): string[] {
  const texts: string[] = [];
  let parts: string[] = [];
  let length = 0;
  const flush = (): void => {
    if (parts.length > 0) texts.push(`[${parts.join(',')}]`);
    [parts, length] = [[], 0];
  };
  for (const { name, data } of rows) {
    const part = `[${JSON.stringify(String(name))},${String(data)}]`;
    if (length + part.length > longest) flush();
    parts.push(part);
    length += part.length;
  }
  flush();
  return texts;
}

/** In the main thread: parses the pairs. */
export function readPairs(texts: readonly string[]): [string, Dict][] {
  return texts.flatMap((text) =>
    (parseValue(text) as [string, Dict][]).map(([name, data]): [string, Dict] => [name, asDict(data) ?? newDict()]),
  );
}
