// The option `metrics`, read once: that of Salt 3008, of which only the exporter `prometheus` exists here.
import { asText, dictEntries, isDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';

export interface MetricsSettings {
  readonly host: string;
  readonly port: number;
}

const place = { host: '127.0.0.1', port: 9464 };
const hostName = /^[\w.:-]{1,255}$/;

/** Undefined when nothing shall listen; throws `config.value`. */
export function readMetricsSettings(value: unknown): MetricsSettings | undefined {
  if (value === null || value === undefined) return undefined;
  if (!isDict(value)) throw wrong('', 'is not a map', 'Write `enabled` and `exporter` below `metrics:`.');
  const given = new Map(dictEntries(value).map(([key, item]) => [String(key), item]));
  const enabled = given.get('enabled') ?? false;
  if (typeof enabled !== 'boolean') throw wrong('enabled', 'is neither True nor False');
  // Other exporters are reported when the configuration is read.
  if (!enabled || given.get('exporter') !== 'prometheus') return undefined;
  const where = given.get('prometheus') ?? null;
  if (where === null) return place;
  if (!isDict(where)) throw wrong('prometheus', 'is not a map', 'Write `host` and `port` below it.');
  const named = new Map(dictEntries(where).map(([key, item]) => [String(key), item]));
  return { host: hostOf(named.get('host') ?? place.host), port: portOf(named.get('port') ?? place.port) };
}

function hostOf(value: Value): string {
  const host = asText(value);
  if (host === undefined || !hostName.test(host)) throw wrong('prometheus.host', 'is not an address');
  return host;
}

function portOf(value: Value): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535) return value;
  throw wrong('prometheus.port', 'is not a whole number from 1 to 65535');
}

const wrong = (key: string, what: string, hint?: string): HaliteError =>
  new HaliteError(
    'config.value',
    `Config option metrics${key === '' ? '' : `.${key}`} ${what}`,
    hint === undefined ? {} : { hint },
  );
