// The result of a check as text: what is missing first, each with its places; what works is counted.
import { listFirst } from '../../../../base/util/list-first.ts';
import { visibleLine } from '../../../../base/util/visible.ts';
import type { CheckReport } from './check.ts';
import { type Entry, type Verdict, verdicts } from './entry.ts';

const titles: Readonly<Record<Verdict, string>> = {
  missing: 'MISSING: does not work with Halite as it is',
  differs: 'DIFFERS: works, but not quite as with Salt',
  unknown: 'LOOK: only you can tell',
  works: 'WORKS',
};
const mostPlaces = 5;

export const countOf = ({ entries }: CheckReport, wanted: Verdict): number =>
  entries.filter(({ verdict }) => verdict === wanted).length;

function entryLines({ kind, name, why, places, uses }: Entry): string[] {
  const more = uses > 1 ? ` (${uses} uses)` : '';
  const where = places.length === 0 ? '' : `: ${listFirst(places.map(visibleLine), mostPlaces)}`;
  const what = `  ${kind} ${visibleLine(name)}${more}${name === places[0] ? '' : where}`;
  return why === undefined ? [what] : [what, `      ${visibleLine(why)}`];
}

/** One line for each kind: `state: 41`. */
function counted(entries: readonly Entry[]): string[] {
  const kinds = new Map<string, number>();
  for (const { kind } of entries) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return [...kinds].map(([kind, count]) => `  ${kind}: ${count}`);
}

/** `all`: also the names of what works. */
export function checkText(report: CheckReport, all: boolean): string {
  const { source, configDir, roles, entries, notes } = report;
  const lines = [`${source}: ${roles.join(' and ')}, configuration ${configDir}`];
  for (const verdict of verdicts) {
    const some = entries.filter((entry) => entry.verdict === verdict);
    if (some.length === 0) continue;
    lines.push('', titles[verdict], ...(verdict === 'works' && !all ? counted(some) : some.flatMap(entryLines)));
  }
  if (notes.length > 0) lines.push('', 'Note:', ...notes.map((note) => `  ${visibleLine(note)}`));
  lines.push('', verdicts.map((verdict) => `${countOf(report, verdict)} ${verdict}`).join(', '));
  return `${lines.join('\n')}\n`;
}
