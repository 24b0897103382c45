// Metrics in the text format of Prometheus, version 0.0.4.

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
  /** Parts of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** One metric with all its samples. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export function metricsText(families: Iterable<Family>): string {
  let text = '';
  for (const { name, type, help, samples } of families) {
    if (samples.length === 0) continue;
    text += `# HELP ${name} ${escaped(help, false)}\n# TYPE ${name} ${type}\n`;
    for (const { labels, value, suffix = '' } of samples)
      text += `${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`;
  }
  return text;
}

function labelsText(labels: Sample['labels']): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escaped(value, true)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** The format has escapes for these only. */
function escaped(text: string, quotes: boolean): string {
  const lines = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return quotes ? lines.replaceAll('"', '\\"') : lines;
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
