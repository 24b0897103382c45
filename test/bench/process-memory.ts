// Memory of a process and everything below it.
import { readdirSync, readFileSync } from 'node:fs';

/** In MB. `Rss` counts what several processes share for each of them, `Pss` once. */
export function memoryOf(root: number, kind: 'Rss' | 'Pss'): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // Ended meanwhile.
    }
  }
  const mine = (pid: number): boolean => pid === root || (parents.has(pid) && pid > 1 && mine(parents.get(pid) ?? 0));
  const pattern = new RegExp(`^${kind}:\\s+(\\d+)`, 'm');
  let kb = 0;
  for (const pid of parents.keys())
    if (mine(pid)) kb += Number(pattern.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  return kb / 1024;
}
