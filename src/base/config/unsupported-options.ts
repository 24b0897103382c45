// Options of Salt that Halite reads but that have no effect yet: reported when a daemon starts and by the doctor.
import { dictGet, isDict, type PlainDict, type Value } from '../codec/value.ts';
import type { ConfigReport } from './problems.ts';

interface Unsupported {
  readonly option: string;
  /** The missing feature, when this value asks for one. */
  readonly missing: (value: Value) => string | undefined;
  readonly advice: string;
}

const enabled = (value: Value): boolean => isDict(value) && dictGet(value, 'enabled') === true;
const otherExporter = (value: Value): string | undefined => {
  const exporter = isDict(value) ? (dictGet(value, 'exporter') ?? 'otlp-http') : '';
  return enabled(value) && exporter !== 'prometheus' ? 'exporters other than prometheus' : undefined;
};

const ofMaster: readonly Unsupported[] = [
  { option: 'metrics', missing: otherExporter, advice: 'set exporter: prometheus, and let a collector read /metrics' },
];

const ofMinion: readonly Unsupported[] = [
  {
    option: 'metrics',
    missing: (value) => (enabled(value) ? 'metrics of a minion' : undefined),
    advice: 'the metrics of the master count its minions',
  },
];

/** Adds a problem for every option that asks for a feature that is not implemented yet. */
export function reportUnsupported(kind: 'master' | 'minion', given: PlainDict, report: ConfigReport): void {
  for (const { option, missing, advice } of kind === 'master' ? ofMaster : ofMinion) {
    const value = given[option];
    const what = value === undefined || value === null ? undefined : missing(value);
    if (what)
      report.warn('unsupported', `The option ${option} asks for a feature that is not implemented yet: ${what}`, {
        option,
        advice,
      });
  }
}
