// Events per second of the last minutes, counted while the page is open.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLive } from '../live/link.ts';
import { t } from '../text/text.ts';
import { Chart } from './chart.tsx';

const step = 5;
const kept = 60;

export function EventRate({ height = 150 }: { readonly height?: number }) {
  const counted = useMemo(() => ({ now: 0 }), []);
  const [rates, setRates] = useState<readonly number[]>(() => Array.from({ length: kept }, () => 0));
  const [at, setAt] = useState(() => Math.floor(Date.now() / 1000));
  useLive('events:*', () => {
    counted.now += 1;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      const rate = counted.now / step;
      counted.now = 0;
      setRates((before) => [...before.slice(1), rate]);
      setAt(Math.floor(Date.now() / 1000));
    }, step * 1000);
    return () => clearInterval(timer);
  }, []);
  const data = useMemo(() => {
    const times = rates.map((_rate, index) => at - (kept - 1 - index) * step);
    return [times, [...rates]] satisfies [number[], number[]];
  }, [rates]);
  return <Chart label={t('events.rate')} names={[t('events.rate')]} data={data} height={height} />;
}
