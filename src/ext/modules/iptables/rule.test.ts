// Rules of iptables: their text, and reading what iptables-save prints.
import { newDict, type Value } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { ruleText } from './rule.ts';
import { parseSaved } from './saved.ts';

describe('rules of iptables', () => {
  // Recorded from Salt 3006.27 (iptables.build_rule).
  it.each<[Record<string, Value>, string]>([
    [
      { match: 'state', connstate: 'RELATED,ESTABLISHED', jump: 'ACCEPT' },
      '-m state --state RELATED,ESTABLISHED --jump ACCEPT',
    ],
    [
      { proto: 'tcp', dport: '!22', source: 'not 10.0.0.0/8', jump: 'DROP' },
      '-p tcp ! --dport 22 ! --source 10.0.0.0/8 --jump DROP',
    ],
    [
      { if: 'not eth0', of: 'eth1', proto: 'udp', sport: 53, jump: 'LOG', 'log-prefix': 'a b', 'log-level': 4 },
      '! -i eth0 -o eth1 -p udp --sport 53 --jump LOG --log-level 4 --log-prefix "a b"',
    ],
    [
      { proto: 'tcp', dports: [80, 443], jump: 'REJECT', 'reject-with': 'tcp-reset' },
      '-p tcp -m multiport --dports 80,443 --jump REJECT --reject-with tcp-reset',
    ],
    [{ proto: 'tcp', dports: '! 80,443', j: 'ACCEPT' }, '-p tcp -m multiport ! --dports 80,443 --j ACCEPT'],
    [{ proto: 'tcp', sports: ['!1', '2'], jump: 'X' }, '-p tcp -m multiport ! --sports 1,2 --jump X'],
    [{ dports: '80' }, 'Error: protocol must be specified'],
    [
      { match: ['recent', 'comment'], name_: 'SSH', comment: 'my rule', set: '', jump: 'ACCEPT' },
      '-m recent --name SSH -m comment --comment "my rule" --set --jump ACCEPT',
    ],
    [{ match: 'policy', proto: 'esp', dir: 'in', pol: 'ipsec' }, '-m policy --proto esp --dir in --pol ipsec'],
    [
      { 'match-set': ['!banned src', 'good dst'], jump: 'DROP' },
      '-m set ! --match-set banned src -m set --match-set good dst --jump DROP',
    ],
    [{ set: '!x src', jump: 'DROP' }, '! --match-set x src --jump DROP'],
    [{ target: 'MASQUERADE', of: 'eth0', random: '' }, '-o eth0 --jump MASQUERADE --random'],
    [
      {
        protocol: '!icmp',
        s: '1.2.3.4',
        jump: 'SNAT',
        'to-source': '5.6.7.8',
        save: true,
        chain: 'C',
        table: 'nat',
        name: 'n',
      },
      '! -p icmp -s 1.2.3.4 --jump SNAT --to-source 5.6.7.8',
    ],
    [
      { jump: 'MARK', 'set-mark': '0x1', 'tcp-flags': 'ALL SYN', syn: null, proto: 'tcp' },
      '-p tcp --tcp-flags ALL SYN --syn --jump MARK --set-mark 0x1',
    ],
  ])('%j', (parts, expected) => {
    expect(ruleText(newDict(Object.entries(parts)))).toBe(expected);
  });

  it('are read from what is saved', () => {
    const text = [
      '# Generated',
      '*filter',
      ':INPUT ACCEPT [12:345]',
      ':OWN - [0:0]',
      '-A INPUT ! -s 10.0.0.0/8 -p tcp -m tcp --dport 22 -m comment --comment "let them in" -j ACCEPT',
      '-A OWN -p tcp --tcp-flags FIN,SYN SYN -j LOG',
      'COMMIT',
    ].join('\n');
    const tables = JSON.parse(JSON.stringify(parseSaved(text)));
    const rule = {
      source: ['! 10.0.0.0/8'],
      protocol: ['tcp'],
      match: ['tcp', 'comment'],
      dport: ['22'],
      comment: ['let them in'],
      jump: ['ACCEPT'],
    };
    expect(tables.filter.INPUT).toEqual({
      policy: 'ACCEPT',
      'packet count': '12',
      'byte count': '345',
      rules: [rule],
      rules_comment: { 'let them in': rule },
    });
    expect(tables.filter.OWN.rules).toEqual([{ protocol: ['tcp'], 'tcp-flags': ['FIN,SYN SYN'], jump: ['LOG'] }]);
  });
});
