// What has to be different in the configuration on this machine, each with its reason.
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { OldMaster } from './old-master.ts';
import { type Mapping, mapValue } from './paths.ts';

/** The file below the configuration folder that has the different values; read last, because of its name. */
export const movedFile = 'master.d/zz-moved.conf';

export interface Translation {
  readonly values: PlainDict;
  /** For the plan: `interface: 10.0.0.1 becomes 0.0.0.0, because …`. */
  readonly reasons: string[];
}

const pathOptions = ['pki_dir', 'cachedir', 'sock_dir', 'pidfile', 'log_file', 'key_logfile', 'extension_modules'];
/** Salt's own cluster of masters, which Halite replaces by another one. */
const clusterOptions: Readonly<Record<string, Value>> = { cluster_id: null, cluster_peers: [], cluster_pki_dir: null };

export function translate(old: OldMaster, mappings: readonly Mapping[], wanted: PlainDict): Translation {
  const { given, opts } = old.config;
  const values = newDict();
  const reasons: string[] = [];
  const change = (name: string, value: Value, before: Value, why: string): void => {
    values[name] = value;
    reasons.push(`${name}: ${shown(before)} becomes ${shown(value)}, ${why}`);
  };
  const moved: string[] = [];
  const move = (name: string, value: Value): void => {
    values[name] = value;
    moved.push(name);
  };
  for (const [name, value] of Object.entries(given)) {
    if (name === 'conf_file') continue;
    const here = mapValue(value, mappings);
    if (here !== value) move(name, here);
  }
  for (const name of pathOptions) {
    const before = opts.raw[name] ?? null;
    const here = mapValue(before, mappings);
    if (!Object.hasOwn(values, name) && here !== before) move(name, here);
  }
  if (moved.length > 0) reasons.push(`these options name folders that are others here: ${moved.join(', ')}`);
  for (const [name, value] of Object.entries(clusterOptions)) {
    const before = given[name] ?? null;
    const empty = before === null || isDeepStrictEqual(before, value) || before === '';
    if (!empty) change(name, value, before, "because Salt's own cluster of masters ends here");
  }
  const address = given['interface'];
  if (typeof address === 'string' && !Object.hasOwn(wanted, 'interface') && !isOwn(address))
    change(
      'interface',
      isIP(address) === 6 ? '::' : '0.0.0.0',
      address,
      'because this machine does not have that address',
    );
  for (const [name, value] of Object.entries(wanted)) {
    const before = opts.raw[name] ?? null;
    if (before !== value) change(name, value, before, 'as you said');
  }
  if (given['id'])
    reasons.push(`id stays ${shown(given['id'])}: change it in the configuration if it was the host name`);
  return { values, reasons };
}

function isOwn(address: string): boolean {
  if (isIP(address) === 0 || /^(0\.0\.0\.0|::|127\..*|::1)$/.test(address)) return true;
  return Object.values(networkInterfaces()).some((list) => (list ?? []).some((item) => item.address === address));
}

const shown = (value: Value): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
};
