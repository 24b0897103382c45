// Charts as SVG text: no library, readable on light and dark pages, and the same bytes for the same numbers.

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
}

export interface Level {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

export interface LineChart {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly series: readonly Series[];
  /** Values that hold for a part of the x axis, as dashed lines. */
  readonly levels?: readonly Level[];
  /** Each step of the x axis is ten times the one before. */
  readonly logX?: boolean;
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  /** What it should reach; a line across the bar. */
  readonly goal?: number;
}

const colors = ['#2f6fd0', '#c4572b', '#3b8f57', '#8d5bb5'] as const;
const width = 760;
const height = 340;
const area = { left: 70, right: 20, top: 46, bottom: 56 } as const;
const style =
  'text{font:12px sans-serif;fill:#444}.title{font-size:15px;font-weight:600}.grid{stroke:#ccc;stroke-width:.6}.back{fill:#fff}' +
  '@media(prefers-color-scheme:dark){text{fill:#ccc}.grid{stroke:#555}.back{fill:#16181d}}';

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (found) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[found] ?? found);
const px = (value: number): string => String(Math.round(value * 10) / 10);
const text = (x: number, y: number, content: string, more = ''): string =>
  `<text x="${px(x)}" y="${px(y)}"${more}>${escaped(content)}</text>`;

function drawing(title: string, high: number, parts: readonly string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${high}" role="img" aria-label="${escaped(title)}">`;
  const back = `<rect class="back" width="${width}" height="${high}"/>`;
  return `${[head, `<style>${style}</style>`, back, text(16, 26, title, ' class="title"'), ...parts, '</svg>'].join('\n')}\n`;
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below the value. */
export function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((each) => each * power >= value * 0.999_999) ?? 10;
  return factor * power;
}

const short = (value: number): string =>
  value >= 10_000 ? `${Math.round(value / 1000)}k` : String(Math.round(value * 1000) / 1000);

export function lineChart(chart: LineChart): string {
  const all = chart.series.flatMap(({ points }) => points);
  const xs = all.map(([x]) => x);
  const [least, most] = [Math.min(...xs, ...(xs.length === 0 ? [0] : [])), Math.max(...xs, 1)];
  const step = niceCeiling(
    Math.max(...all.map(([, y]) => y), ...(chart.levels ?? []).map(({ value }) => value), 0) / 4,
  );
  const high = step * 4;
  const scale = (x: number): number => (chart.logX ? Math.log10(Math.max(x, 1)) : x);
  const span = scale(most) - scale(least) || 1;
  const toX = (x: number): number => area.left + ((scale(x) - scale(least)) / span) * (width - area.left - area.right);
  const toY = (y: number): number => height - area.bottom - (y / high) * (height - area.top - area.bottom);
  const grid = [0, 1, 2, 3, 4].map((n) => {
    const y = toY(step * n);
    return `<line class="grid" x1="${area.left}" x2="${width - area.right}" y1="${px(y)}" y2="${px(y)}"/>${text(area.left - 8, y + 4, short(step * n), ' text-anchor="end"')}`;
  });
  const marks = chart.logX
    ? [...new Set(xs)].sort((a, b) => a - b)
    : [0, 1, 2, 3, 4].map((n) => least + ((most - least) * n) / 4);
  const below = marks.map((x) => text(toX(x), height - area.bottom + 18, short(x), ' text-anchor="middle"'));
  const lines = chart.series.map(({ points }, at) => {
    const path = points.map(([x, y], n) => `${n === 0 ? 'M' : 'L'}${px(toX(x))} ${px(toY(y))}`).join('');
    return `<path d="${path}" fill="none" stroke="${colors[at % colors.length]}" stroke-width="2"/>`;
  });
  const levels = (chart.levels ?? []).map(
    ({ name, from, to, value }) =>
      `<line x1="${px(toX(from))}" x2="${px(toX(to))}" y1="${px(toY(value))}" y2="${px(toY(value))}" stroke="#888" stroke-width="1.5" stroke-dasharray="6 4"/>${text((toX(from) + toX(to)) / 2, toY(value) - 6, name, ' text-anchor="middle"')}`,
  );
  const legend = chart.series.map(({ name }, at) => {
    const x = area.left + at * 200;
    return `<rect x="${x}" y="${height - 20}" width="12" height="12" fill="${colors[at % colors.length]}"/>${text(x + 18, height - 10, name)}`;
  });
  const axes = [
    text(width - area.right, height - 10, chart.x, ' text-anchor="end"'),
    text(area.left - 54, area.top - 6, chart.y),
  ];
  return drawing(chart.title, height, [...grid, ...below, ...lines, ...levels, ...legend, ...axes]);
}

/** Horizontal bars, each with its text behind it. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const line = 26;
  const [left, right] = [280, 110];
  const most = niceCeiling(Math.max(...bars.map(({ value, goal = 0 }) => Math.max(value, goal)), 0));
  const toX = (value: number): number => left + (Math.max(0, value) / most) * (width - left - right);
  const parts = bars.flatMap(({ label, value, text: shown, goal }, at) => {
    const y = 46 + at * line;
    const bar = `<rect x="${left}" y="${y}" width="${px(toX(value) - left)}" height="16" fill="${colors[0]}"/>`;
    const mark =
      goal === undefined
        ? ''
        : `<line x1="${px(toX(goal))}" x2="${px(toX(goal))}" y1="${y - 3}" y2="${y + 19}" stroke="${colors[1]}" stroke-width="2"/>`;
    return [
      text(left - 10, y + 12, label, ' text-anchor="end"'),
      bar,
      mark,
      text(toX(value) + 6, y + 12, shown),
    ].filter((part) => part !== '');
  });
  return drawing(title, 60 + bars.length * line, parts);
}
