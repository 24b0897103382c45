// Limits the length of files, so that each can be read at once.
import { readTree } from './source-graph.ts';

const largest = 400;

export function findLargeFiles(root: string): string[] {
  const breaches: string[] = [];
  for (const { path, text } of readTree(root).values()) {
    const lines = text.replace(/\n$/, '').split('\n').length;
    if (lines > largest && !path.endsWith('.gen.ts')) breaches.push(`${path}: ${lines} lines, at most ${largest}`);
  }
  return breaches;
}
