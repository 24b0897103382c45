// A chart of figures over time. The library is loaded with the first chart.
import { useEffect, useRef } from 'preact/hooks';
import type { AlignedData, default as Plot } from 'uplot';
import { theme } from '../state/settings.ts';

export interface ChartProps {
  readonly label: string;
  readonly names: readonly string[];
  /** Times in seconds, then one list for each name. */
  readonly data: AlignedData;
  readonly height?: number;
}

const clock = (seconds: number): string => new Date(seconds * 1000).toTimeString().slice(0, 8);

const tones = ['--accent', '--v-o', '--v-c', '--v-f', '--v-m', '--v-q'];

export function Chart({ label, names, data, height = 160 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const latest = useRef(data);
  latest.current = data;
  const look = theme.value;
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let gone = false;
    const watch = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
    void import('uplot').then(({ default: Library }) => {
      if (gone) return;
      const style = getComputedStyle(element);
      const color = (name: string): string => style.getPropertyValue(name).trim();
      const axis = { stroke: color('--faint'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
      plot.current = new Library(
        {
          ...{
            width: element.clientWidth,
            height,
            // Half a label of time stands beyond the end.
            padding: [8, 30, 0, 0],
            legend: { show: names.length > 1, live: false },
          },
          cursor: { y: false, points: { size: 6 } },
          axes: [
            { ...axis, space: 80, values: (_plot, ticks) => ticks.map(clock) },
            { ...axis, size: 52 },
          ],
          scales: { y: { range: (_plot, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] } },
          series: [
            {},
            ...names.map((name, at) => ({
              label: name,
              stroke: color(tones[at % tones.length]!),
              width: 1.5,
              points: { show: false },
              ...(names.length === 1 ? { fill: `${color('--accent')}22` } : {}),
            })),
          ],
        },
        latest.current,
        element,
      );
      watch.observe(element);
    });
    return () => {
      gone = true;
      watch.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [names.join('\n'), look, height]);
  useEffect(() => plot.current?.setData(data), [data]);
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}
