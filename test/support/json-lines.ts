// Files to which a daemon appends a line of JSON at a time.
import { existsSync, readFileSync } from 'node:fs';

/** The lines written whole so far: the daemon may be about to write another. None when the file does not exist yet. */
export function jsonLines<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  // What follows the last line end is nothing, or a line that is still being written.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as T);
}
