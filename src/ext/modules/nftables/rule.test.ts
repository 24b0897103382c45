// Rules of nftables: their text, and finding them in what nft lists.
import { newDict } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { handleOf, hasRule, ruleText } from './rule.ts';

const text = (family: string, parts: Record<string, string | number>): string =>
  ruleText(family, newDict(Object.entries(parts)));

describe('rules of nftables', () => {
  // Expected values recorded from Salt 3006.27 (nftables.build_rule).
  it.each([
    ['ipv4', { proto: 'tcp', dport: 22, jump: 'accept' }, 'tcp dport { 22 } accept'],
    ['ipv4', { connstate: 'related,established', jump: 'accept' }, 'ct state { related,established } accept'],
    ['ipv6', { if: 'eth0', saddr: '::1', counter: '', jump: 'drop' }, 'meta iifname eth0 counter ip6 saddr ::1 drop'],
    ['ipv4', { proto: 'udp', dports: '53,123', target: 'accept' }, 'udp dport { 123, 53 } accept'],
    [
      'ipv4',
      { proto: 'tcp', sport: '1024:2048', 'reject-with': 'icmp type host-unreachable' },
      'tcp sport { 1024-2048 } reject with icmp type host-unreachable',
    ],
    ['inet', { 'icmp-type': 'echo-request', j: 'accept' }, 'icmp type { echo-request } accept'],
    ['ipv4', { proto: 'tcp', dport: 80, 'to-port': 8080 }, 'tcp dport { 80 } redirect to 8080'],
  ])('%s %j', (family, parts, expected) => {
    expect(text(family, parts as Record<string, string | number>)).toBe(expected);
  });

  const listing = [
    'table ip filter { # handle 1',
    '\tchain input { # handle 2',
    '\t\ttcp dport 22 ct state new accept # handle 3',
    '\t\ttcp dport { 80, 443 } accept # handle 4',
    '\t}',
    '}',
  ].join('\n');
  it('are found with and without braces, in any order of ports', () => {
    expect(hasRule(listing, 'tcp dport { 22 } ct state { new } accept')).toBe(true);
    expect(hasRule(listing, 'tcp dport { 443, 80 } accept')).toBe(true);
    expect(hasRule(listing, 'tcp dport { 444, 80 } accept')).toBe(false);
    expect(hasRule(listing, 'tcp dport 22')).toBe(false);
    expect(handleOf(listing, 'tcp dport { 443, 80 } accept')).toBe('4');
  });
});
