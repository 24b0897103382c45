// Answers of programs that stay the same as long as the program does, so that refreshing grains costs little.
import { statSync } from 'node:fs';

const known = new Map<string, { readonly stamp: string; readonly answer: Promise<unknown> }>();

/** Runs the work once per program file; a changed file (an upgrade) is asked again. */
export function oncePerProgram<T>(path: string, work: () => Promise<T>): Promise<T> {
  let stamp = '';
  try {
    const stats = statSync(path, { bigint: true });
    stamp = `${stats.ino} ${stats.mtimeNs}`;
  } catch {
    return work();
  }
  const before = known.get(path);
  if (before?.stamp === stamp) return before.answer as Promise<T>;
  const answer = work();
  known.set(path, { stamp, answer });
  answer.catch(() => known.delete(path));
  return answer;
}
