// What became of each minion of a job: names, signs and colours, and the bar that always adds up.
import { count, t, word } from '../text/text.ts';
import { Badge } from './basics.tsx';

/** In the order of the bar. */
const verdictCodes = ['o', 'c', 'f', 'm', 'd', 'x', 'r', 'q', 'w'] as const;
export type VerdictCode = (typeof verdictCodes)[number];

const verdictNames: Readonly<Record<VerdictCode, string>> = {
  o: 'ok',
  c: 'changed',
  f: 'failed',
  m: 'missing',
  d: 'deadline',
  x: 'expired',
  r: 'running',
  q: 'queued',
  w: 'waiting',
};

/** Beside the colour, for those who do not see it. */
const verdictSigns: Readonly<Record<VerdictCode, string>> = {
  o: '✓',
  c: '△',
  f: '✕',
  m: '?',
  d: '⏱',
  x: '∅',
  r: '▸',
  q: '≡',
  w: '·',
};

export const isVerdictCode = (code: string): code is VerdictCode => Object.hasOwn(verdictNames, code);

const codeOfName = (name: string): VerdictCode | undefined =>
  name === 'returned' || name === 'ok' ? 'o' : verdictCodes.find((code) => verdictNames[code] === name);

export type Counts = Readonly<Record<VerdictCode, number>>;

export const noCounts = (): Record<VerdictCode, number> => ({ o: 0, c: 0, f: 0, m: 0, d: 0, x: 0, r: 0, q: 0, w: 0 });

/** A balance of the API has names or letters. */
export function countsFrom(balance: Readonly<Record<string, number>>): Counts {
  const counts = noCounts();
  for (const [name, value] of Object.entries(balance)) {
    const code = isVerdictCode(name) ? name : codeOfName(name);
    if (code) counts[code] += value;
  }
  return counts;
}

export const totalOf = (counts: Counts): number => verdictCodes.reduce((sum, code) => sum + counts[code], 0);
export const openOf = (counts: Counts): number => counts.r + counts.q + counts.w;

export const verdictWord = (code: VerdictCode): string => word('verdict', verdictNames[code]);

export const balanceText = (counts: Counts): string =>
  verdictCodes
    .filter((code) => counts[code] > 0)
    .map((code) => `${count(counts[code])} ${verdictWord(code)}`)
    .join(', ');

export function VerdictBadge({ code }: { readonly code: VerdictCode }) {
  return (
    <Badge tone={`v-${code}`}>
      <span aria-hidden="true">{verdictSigns[code]}</span> {verdictWord(code)}
    </Badge>
  );
}

export function BalanceBar({ counts, thin }: { readonly counts: Counts; readonly thin?: boolean }) {
  const text = balanceText(counts);
  const parts = verdictCodes.filter((code) => counts[code] > 0);
  return (
    <div class={`balance ${thin ? 'thin' : ''}`} role="img" aria-label={text || t('job.none')} title={text}>
      {parts.map((code) => (
        <span key={code} class={`v-${code}`} style={{ flexGrow: counts[code] }} />
      ))}
    </div>
  );
}

export interface LegendProps {
  readonly counts: Counts;
  readonly chosen: VerdictCode | undefined;
  readonly onChoose: (code: VerdictCode | undefined) => void;
}

/** The numbers below the bar; each one is a filter. */
export function BalanceLegend({ counts, chosen, onChoose }: LegendProps) {
  const parts = verdictCodes.filter((code) => counts[code] > 0 || code === chosen);
  return (
    <div class="legend">
      {parts.map((code) => (
        <button
          key={code}
          type="button"
          class={`chip v-${code}`}
          aria-pressed={chosen === code}
          onClick={() => onChoose(chosen === code ? undefined : code)}
        >
          <span class="sign" aria-hidden="true">
            {verdictSigns[code]}
          </span>
          {verdictWord(code)} <strong>{count(counts[code])}</strong>
        </button>
      ))}
      <span class="legend-total">{t('job.total', { n: totalOf(counts) })}</span>
    </div>
  );
}
