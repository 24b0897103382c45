// Beacon `network_info`: counters of network interfaces reach their limits.
import { asNumber, defineBeacon, fieldOf, isDict, newDict, type PlainDict } from 'halite/sdk';
import { networkCounters } from '../shared/ps/system-facts.ts';
import { entriesOf, percentOf } from './shared/settings.ts';

const counters = [
  'bytes_sent',
  'bytes_recv',
  'packets_sent',
  'packets_recv',
  'errin',
  'errout',
  'dropin',
  'dropout',
] as const;

function validate({ interfaces }: PlainDict): string | undefined {
  for (const [name, limits] of entriesOf(interfaces)) {
    if (!isDict(limits)) return 'Configuration for network_info beacon must be a list of dictionaries.';
    const keys = entriesOf(limits).map(([key]) => key);
    if (!keys.some((key) => key === 'type' || (counters as readonly string[]).includes(key)))
      return 'Invalid configuration item in Beacon configuration.';
    const bad = counters.find((key) => keys.includes(key) && percentOf(fieldOf(limits, key)) === undefined);
    if (bad) return `Configuration for network_info beacon: ${bad} of ${name} must be a number.`;
  }
  return undefined;
}

function read(settings: PlainDict): PlainDict[] {
  return entriesOf(settings['interfaces']).flatMap(([name, limits]) => {
    const stats = networkCounters(name);
    if (!stats) return [];
    const greater = fieldOf(limits, 'type') === 'greater';
    const reached = counters.some((key) => {
      const limit = percentOf(fieldOf(limits, key));
      const value = asNumber(stats[key] ?? 0) ?? 0;
      return limit !== undefined && (greater ? value > Math.trunc(limit) : value === Math.trunc(limit));
    });
    return reached ? [newDict(Object.entries({ interface: name, network_info: stats }))] : [];
  });
}

export default defineBeacon({
  name: 'network_info',
  doc: 'Sends an event when a counter of an interface is equal to the given number, or with `type: greater` above it.',
  examples: [
    'network_info:\n  - interfaces:\n      eth0:\n        type: greater\n        bytes_sent: 100000\n        errin: 100',
  ],
  validate,
  open: (settings) => ({ read: () => read(settings) }),
});
