// The text of an nftables rule from named parts, in the order Salt writes it.
import { commandError, type PlainDict, pyStr, type Value } from 'halite/sdk';

const families: Readonly<Record<string, string>> = {
  ipv4: 'ip',
  ip4: 'ip',
  ip: 'ip',
  ipv6: 'ip6',
  ip6: 'ip6',
  inet: 'inet',
  arp: 'arp',
  bridge: 'bridge',
  netdev: 'netdev',
};
export const allFamilies = [...new Set(Object.values(families))];

export function familyOf(name: string): string {
  const found = families[name];
  if (!found) throw commandError(`Unknown family ${name}`);
  return found;
}

/** Ports in descending order, as nft lists them. */
const descending = (ports: Value): string =>
  (Array.isArray(ports) ? ports.map(pyStr) : pyStr(ports).split(','))
    .map(Number)
    .sort((a, b) => b - a)
    .join(', ');

export function ruleText(family: string, given: PlainDict): string {
  const text = (...keys: string[]): string | undefined => {
    const key = keys.find((name) => name in given && given[name]) ?? keys.find((name) => name in given);
    return key === undefined ? undefined : pyStr(given[key] as Value);
  };
  const parts: string[] = [];
  const add = (value: string | undefined, write: (value: string) => string): void => {
    if (value !== undefined) parts.push(write(value));
  };
  const ip = familyOf(family);
  const proto = text('proto') ?? '';
  add(text('if'), (value) => `meta iifname ${value}`);
  add(text('of'), (value) => `meta oifname ${value}`);
  add(text('connstate'), (value) => `ct state { ${value} }`);
  add(text('icmp-type'), (value) => `icmp type { ${value} }`);
  add(text('pkttype'), (value) => `meta pkttype { ${value} }`);
  add(text('counter'), () => 'counter');
  add(text('saddr', 'source'), (value) => `${ip} saddr ${value}`);
  add(text('daddr', 'destination'), (value) => `${ip} daddr ${value}`);
  add(text('dport'), (value) => `${proto} dport { ${value.replaceAll(':', '-')} }`);
  add(text('sport'), (value) => `${proto} sport { ${value.replaceAll(':', '-')} }`);
  add('dports' in given ? descending(given['dports'] as Value) : undefined, (value) => `${proto} dport { ${value} }`);
  add('sports' in given ? descending(given['sports'] as Value) : undefined, (value) => `${proto} sport { ${value} }`);
  add(text('jump', 'target'), (value) => value);
  add(text('j'), (value) => value);
  add(text('redirect-to', 'to-port'), (value) => `redirect to ${value}`);
  add(text('to-ports'), (value) => `--to-ports ${value}`);
  add(text('to-source'), (value) => value);
  add(text('to-destination'), (value) => value);
  add(text('reject-with'), (value) => `reject with ${value}`);
  return parts.join(' ').trim();
}

/** A rule in one form: sets with one element without braces, others in order. */
function normal(rule: string): string {
  return rule
    .replace(/\{([^{}]*)\}/g, (_, inner: string) => {
      const items = inner
        .split(',')
        .map((item) => item.trim())
        .sort();
      return items.length > 1 ? `{ ${items.join(', ')} }` : (items[0] ?? '');
    })
    .replace(/ +/g, ' ')
    .trim();
}

/** Whether a listing with handles contains the rule; versions of nft write sets differently. */
export function hasRule(listing: string, rule: string): boolean {
  return listing.split('\n').some((line) => {
    const stripped = line.replace(/ # handle \d+\s*$/, '');
    return stripped !== line && normal(stripped).endsWith(normal(rule));
  });
}

/** The handle of a rule. */
export function handleOf(listing: string, rule: string): string | undefined {
  const line = listing.split('\n').find((text) => hasRule(text, rule));
  return line && /# handle (\d+)/.exec(line)?.[1];
}
