// How many files and connections this process may have open.
import { readFileSync } from 'node:fs';

const fallback = 4096;

export function openFilesLimit(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return line ? Number(line[1]) : fallback;
  } catch {
    return fallback;
  }
}
