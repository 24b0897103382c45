// The text format of Prometheus: names, labels, values.
export interface Sample {
  readonly labels: string;
  readonly value: number;
}

const line = /^([A-Za-z_:][\w:]*)(\{.*\})?\s+(\S+)/;
/** More lines than a master writes. */
const mostLines = 20_000;

export function parseMetrics(text: string): ReadonlyMap<string, readonly Sample[]> {
  const found = new Map<string, Sample[]>();
  for (const row of text.split('\n', mostLines)) {
    const match = row.startsWith('#') ? null : line.exec(row);
    const value = Number(match?.[3]);
    if (!match || !Number.isFinite(value)) continue;
    const sample = { labels: match[2] ?? '', value };
    const known = found.get(match[1]!);
    if (known) known.push(sample);
    else found.set(match[1]!, [sample]);
  }
  return found;
}

export const sumOf = (samples: readonly Sample[] | undefined): number | null =>
  samples === undefined ? null : samples.reduce((sum, { value }) => sum + value, 0);
