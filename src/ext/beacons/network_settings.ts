// Beacon `network_settings`: settings of network interfaces that change.
import { networkInterfaces } from 'node:os';
import { defineBeacon, fieldOf, isDict, isTruthy, newDict, type PlainDict, pyEquals, type Value } from 'halite/sdk';
import { listDir, readTrimmed } from 'halite/sdk/fs';
import { pyRegexSearch } from 'halite/sdk/text';
import { entriesOf } from './shared/settings.ts';

/** Every setting Salt knows; those that the kernel does not show in /sys never change here. */
const attributes = [
  ...['family', 'txqlen', 'ipdb_scope', 'index', 'operstate', 'group', 'carrier_changes', 'ipaddr', 'neighbours'],
  ...['ifname', 'promiscuity', 'linkmode', 'broadcast', 'address', 'num_tx_queues', 'ipdb_priority', 'kind', 'qdisc'],
  ...['mtu', 'num_rx_queues', 'carrier', 'flags', 'ifi_type', 'ports'],
];

const files: Readonly<Record<string, string>> = {
  txqlen: 'tx_queue_len',
  index: 'ifindex',
  group: 'netdev_group',
  carrier_changes: 'carrier_changes',
  linkmode: 'link_mode',
  mtu: 'mtu',
  carrier: 'carrier',
  ifi_type: 'type',
};
const promiscuous = 0x100;

/** The settings of one interface as the kernel shows them. */
function settingsOf(name: string, addresses: ReturnType<typeof networkInterfaces>): PlainDict {
  const file = (of: string): string | undefined => readTrimmed(`/sys/class/net/${name}/${of}`);
  const found: PlainDict = newDict([['ifname', name]]);
  for (const [key, of] of Object.entries(files)) {
    const text = file(of);
    if (text) found[key] = Number(text);
  }
  const flags = Number(file('flags') ?? 0);
  found['flags'] = flags;
  found['promiscuity'] = (flags & promiscuous) === 0 ? 0 : 1;
  found['operstate'] = (file('operstate') ?? 'unknown').toUpperCase();
  for (const key of ['address', 'broadcast']) found[key] = file(key) ?? null;
  const listed = addresses[name] ?? [];
  found['ipaddr'] = listed.map(({ address, cidr }) => [address, Number(cidr?.split('/')[1] ?? 0)]);
  found['num_tx_queues'] = listDir(`/sys/class/net/${name}/queues`).filter((queue) => queue.startsWith('tx')).length;
  found['num_rx_queues'] = listDir(`/sys/class/net/${name}/queues`).filter((queue) => queue.startsWith('rx')).length;
  return found;
}

export function interfaceSettings(): Map<string, PlainDict> {
  const addresses = networkInterfaces();
  return new Map(listDir('/sys/class/net').map((name) => [name, settingsOf(name, addresses)]));
}

function validate({ interfaces }: PlainDict): string | undefined {
  if (Array.isArray(interfaces)) return 'interfaces section for network_settings beacon must be a dictionary.';
  for (const [, wanted] of entriesOf(interfaces)) {
    if (!isDict(wanted)) return 'Interface attributes for network_settings beacon must be a dictionary.';
    const bad = entriesOf(wanted).find(([key]) => !attributes.includes(key));
    if (bad) return `Invalid attributes in beacon configuration. ${bad[0]}`;
  }
  return undefined;
}

/** Each interface with its settings, which are configured by its name or by a regular expression. */
function wantedOf(settings: PlainDict, names: readonly string[]): Map<string, Value> {
  const found = new Map<string, Value>();
  for (const [pattern, wanted] of entriesOf(settings['interfaces'])) {
    const matched = names.includes(pattern) ? [pattern] : names.filter((name) => pyRegexSearch(pattern).test(name));
    for (const name of matched) found.set(name, wanted);
  }
  return found;
}

function changes(wanted: Value, before: PlainDict, now: PlainDict): PlainDict {
  return newDict(
    entriesOf(wanted).flatMap(([key, rule]): [string, Value][] => {
      const value = now[key];
      if (value === undefined || pyEquals(value, before[key] ?? null)) return [];
      const only = fieldOf(rule, 'onvalue');
      return isTruthy(only) && !pyEquals(only as Value, value) ? [] : [[key, value]];
    }),
  );
}

export function openSettings(settings: PlainDict, look: () => Map<string, PlainDict>) {
  let last = look();
  return {
    read(): PlainDict[] {
      const before = last;
      last = look();
      const changed: [string, PlainDict][] = [];
      for (const [name, wanted] of wantedOf(settings, [...last.keys()])) {
        const change = changes(wanted, before.get(name) ?? newDict(), last.get(name) ?? newDict());
        if (Object.keys(change).length > 0) changed.push([name, change]);
      }
      if (settings['coalesce'] === true)
        return changed.length > 0 ? [newDict(Object.entries({ tag: 'result', changes: newDict(changed) }))] : [];
      return changed.map(([name, change]) => newDict(Object.entries({ tag: name, interface: name, change })));
    },
  };
}

export default defineBeacon({
  name: 'network_settings',
  doc: 'Sends an event when a setting of an interface changes, or with `onvalue` when it changes to that value.',
  examples: [
    'network_settings:\n  - interfaces:\n      eth0:\n        ipaddr:\n        promiscuity:\n          onvalue: 1\n      eth.*:\n        operstate:',
  ],
  validate,
  open: (settings) => openSettings(settings, interfaceSettings),
});
