// The shared pieces under the modules, against what Python and the shell do.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { cleanKwargs, isTrue, isTruthy, newDict, PyFloat, pyInt, pyTypeName } from 'halite/sdk';
import { baseName, dirName, joinPath, normalizeMode, normalPath } from 'halite/sdk/fs';
import * as ip from 'halite/sdk/net';
import { parseGroup, parsePasswd, which } from 'halite/sdk/system';
import {
  flagLetters,
  keepLines,
  lines,
  partition,
  pyEscape,
  pySub,
  shellQuote,
  shellSplit,
  splitTimes,
  unifiedDiff,
  words,
} from 'halite/sdk/text';
import { strftime } from 'halite/sdk/time';
import { describe, expect, it } from 'vitest';
import { addressesOf, addressMap, parseIpAddr } from '../../shared/network/interfaces.ts';
import { cryptPassword } from './crypt.ts';
import { filterBy, updateInPlace } from './data.ts';
import { PyRandom } from './mersenne.ts';
import { nestedText } from './nested-text.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../test/fixtures/modules/${name}`, import.meta.url), 'utf8');

describe('unified diff', () => {
  const cases = JSON.parse(fixture('difflib.json')) as [string[], string[], string][];
  it.each(cases.map((item, index) => [index, ...item] as const))('equals difflib, case %i', (_, a, b, wanted) => {
    const named = wanted.startsWith('--- one');
    expect(unifiedDiff(a, b, named ? { from: 'one', to: 'two' } : {})).toBe(wanted);
  });

  it('is empty for equal texts only', () => {
    const texts = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n'), { maxLength: 30 });
    fc.assert(fc.property(texts, texts, (a, b) => (unifiedDiff(a, b) === '') === (a.join('') === b.join(''))));
  });

  it('keeps line ends', () => {
    expect(keepLines('a\nb\r\nc')).toEqual(['a\n', 'b\r\n', 'c']);
    expect(keepLines('')).toEqual([]);
  });
});

describe('random numbers', () => {
  const cases = JSON.parse(fixture('random.json')) as [string, boolean, number[], number[]][];
  it.each(cases)('equal Python’s for seed %s', (text, isNumber, wanted, order) => {
    const seed = isNumber ? BigInt(text) : text;
    const generator = new PyRandom(seed);
    expect(wanted.map((_, index) => generator.below(10 ** (index + 1)))).toEqual(wanted);
    expect(
      new PyRandom(seed).sample(
        Array.from({ length: 50 }, (_, index) => index),
        50,
      ),
    ).toEqual(order);
  });
});

describe('password hashes', () => {
  // Answers of crypt(3).
  it.each([
    [
      'Hello world!',
      '$6$saltstring',
      '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
    ],
    ['Hello world!', '$5$saltstring', '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5'],
    [
      'Hello world!',
      '$5$rounds=10000$saltstringsaltstring',
      '$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA',
    ],
    ['Hello world!', '$1$saltstri', '$1$saltstri$YMyguxXMBpd2TEZ.vS/3q1'],
    ['', '$6$x', '$6$x$QSmr1Bx2g4O6BzKvdkgOcyU6H91X6I/XBv5pSalMhSPkwdH6Beo3F455xZJg0v//bxVK5F4OE5k1.0xuR26MK0'],
  ])('of %j with %s', (password, setting, wanted) => {
    expect(cryptPassword(password, setting)).toBe(wanted);
  });

  it('supports only its own schemes', () => {
    expect(cryptPassword('x', '$2b$12$x')).toBeUndefined();
    expect(cryptPassword('x', 'ab')).toBeUndefined();
  });
});

describe('addresses', () => {
  it('reads and writes every IPv4 and IPv6 address', () => {
    fc.assert(fc.property(fc.ipV4(), (text) => ip.formatIp(ip.parseIp(text) as ip.IpAddress) === text));
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
        (value) => ip.parseIp(ip.formatIp({ version: 6, value }))?.value === value,
      ),
    );
  });

  it.each(['1.2.3', '1.2.3.256', '01.2.3.4', ':::', '1::2::3', 'g::1', '', '1.2.3.4.5', '1:2:3:4:5:6:7'])(
    'refuses %s',
    (text) => {
      expect(ip.parseIp(text)).toBeUndefined();
    },
  );

  it('shortens as Python does', () => {
    const same = (text: string): string => ip.formatIp(ip.parseIp(text) as ip.IpAddress);
    expect(same('2001:0db8:0:0:1:0:0:1')).toBe('2001:db8::1:0:0:1');
    expect(same('::')).toBe('::');
    expect(same('1:0:2:3:4:5:6:7')).toBe('1:0:2:3:4:5:6:7');
    expect(same('::ffff:1.2.3.4')).toBe('::ffff:102:304');
  });

  it('knows networks', () => {
    expect(ip.formatNetwork(ip.parseNetwork('10.1.2.3/255.255.0.0') as ip.IpNetwork)).toBe('10.1.0.0/16');
    expect(ip.parseNetwork('10.1.2.3/16', true)).toBeUndefined();
    expect(ip.parseNetwork('10.0.0.0/33')).toBeUndefined();
    expect(ip.parseNetwork('10.0.0.0/255.0.255.0')).toBeUndefined();
    const inside = (address: string, network: string): boolean =>
      ip.inNetwork(ip.parseIp(address) as ip.IpAddress, ip.parseNetwork(network) as ip.IpNetwork);
    expect(inside('10.1.2.3', '10.0.0.0/8')).toBe(true);
    expect(inside('::1', '10.0.0.0/8')).toBe(false);
  });

  it('reads the output of ip', () => {
    const found = parseIpAddr(
      [
        '1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000',
        '    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00',
        '    inet 127.0.0.1/8 scope host lo',
        '       valid_lft forever preferred_lft forever',
        '    inet6 ::1/128 scope host ',
        '2: eth0@if5: <BROADCAST,MULTICAST> mtu 1500 qdisc mq state DOWN group default qlen 1000',
        '    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff',
        '    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0',
        '    inet 192.0.2.9/24 brd 192.0.2.255 scope global secondary eth0:1',
      ].join('\n'),
    );
    expect(found.get('lo')).toEqual({
      up: true,
      hwaddr: '00:00:00:00:00:00',
      inet: [{ address: '127.0.0.1', netmask: '255.0.0.0', broadcast: null, label: 'lo' }],
      inet6: [{ address: '::1', prefixlen: '128', scope: 'host' }],
    });
    expect(found.get('eth0')).toMatchObject({
      up: false,
      parent: 'if5',
      secondary: [{ type: 'inet', address: '192.0.2.9', label: 'eth0:1' }],
    });
    expect(addressesOf(found, 'inet', false)).toEqual(['192.0.2.2', '192.0.2.9']);
    expect(addressMap(found, ['inet', 'inet6'])).toEqual({
      lo: ['127.0.0.1', '::1'],
      eth0: ['192.0.2.2', '192.0.2.9'],
    });
  });
});

describe('text', () => {
  it('splits as Python', () => {
    expect(words('  a\t b \n')).toEqual(['a', 'b']);
    expect(lines('a\r\nb\n\nc')).toEqual(['a', 'b', '', 'c']);
    expect(partition('a.b.c', '.')).toEqual(['a', '.', 'b.c']);
    expect(splitTimes('a,b,c,d', ',', 2)).toEqual(['a', 'b', 'c,d']);
  });

  it('splits command lines as a shell, and back', () => {
    expect(shellSplit(`a "b c" 'd"e' f\\ g "h\\"i"`)).toEqual(['a', 'b c', 'd"e', 'f g', 'h"i']);
    expect(() => shellSplit("it's")).toThrow('No closing quotation');
    expect(() => shellSplit('a\\')).toThrow('No escaped character');
    const word = fc.string({ minLength: 0, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (list) => {
        expect(shellSplit(list.map(shellQuote).join(' '))).toEqual(list);
      }),
    );
  });

  it('writes times', () => {
    const at = new Date(2024, 0, 1, 15, 4, 5, 678);
    expect(strftime(at, '%Y-%m-%d %H:%M:%S %I %p %j %a %B %e %y %f %% %-d %Q')).toBe(
      '2024-01-01 15:04:05 03 PM 001 Mon January  1 24 678000 % 1 %Q',
    );
    expect(strftime(new Date(2021, 0, 3), '%U %W %V %G %u %w')).toBe('01 00 53 2020 7 0');
  });

  it('indents data', () => {
    expect(nestedText({ errors: ['E: no\nsecond'], changes: newDict(), a: { b: 1 } } as never)).toBe(
      'a:\n    ----------\n    b:\n        1\nchanges:\n    ----------\nerrors:\n    - E: no\n      second',
    );
  });
});

describe('replacements', () => {
  it('knows groups, names and escapes', () => {
    expect(pySub('(a)(?P<n>b)?', '', '[\\1\\g<n>\\n]', 'ab a', 0)).toEqual({ text: '[ab\n] [a\n]', count: 2 });
    expect(pySub('a', '', 'b', 'aaa', 2)).toEqual({ text: 'bba', count: 2 });
    expect(pySub('a', '', '\\1', 'b', 0, true).text).toBe('b');
    expect(() => pySub('a', '', '\\9', 'a')).toThrow('invalid group reference 9');
    expect(() => pySub('a', '', '\\q', 'a')).toThrow('bad escape \\q');
  });

  it('reads flags', () => {
    expect([...flagLetters(10)].sort().join('')).toBe('im');
    expect(flagLetters(['DOTALL', 'i'])).toBe('si');
    expect(() => flagLetters('nope')).toThrow('Invalid re flag given: nope');
    expect(pyEscape('a.b*c')).toBe('a\\.b\\*c');
  });
});

describe('values', () => {
  it('converts as Python', () => {
    expect([pyInt('12'), pyInt(1.9), pyInt(true), pyInt(new PyFloat(3))]).toEqual([12, 1, 1, 3]);
    expect(() => pyInt('x')).toThrow("invalid literal for int() with base 10: 'x'");
    expect([isTruthy(''), isTruthy('0'), isTruthy([]), isTruthy(new PyFloat(0)), isTruthy({})]).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
    expect([isTrue('True'), isTrue('yes'), isTrue('2'), isTrue(0), isTrue([1])]).toEqual([
      true,
      false,
      true,
      false,
      true,
    ]);
    expect([null, 'a', 1, 1.5, true, [], {}, new PyFloat(1)].map((value) => pyTypeName(value))).toEqual([
      'NoneType',
      'str',
      'int',
      'float',
      'bool',
      'list',
      'dict',
      'float',
    ]);
    expect(cleanKwargs({ a: 1, __pub_jid: 'x' })).toEqual({ a: 1 });
  });

  it('reads modes', () => {
    expect([normalizeMode(644), normalizeMode('0755'), normalizeMode('0o600'), normalizeMode(null)]).toEqual([
      '0644',
      '0755',
      '0600',
      null,
    ]);
  });

  it('merges in place', () => {
    const base = newDict([['a', newDict([['b', [1]]])]]);
    const inner = base['a'];
    updateInPlace(base, { a: { b: [1, 2], c: 3 } } as never, true);
    expect(base).toEqual({ a: { b: [1, 2], c: 3 } });
    expect(base['a']).toBe(inner);
  });

  it('handles special names such as __proto__', () => {
    const base = newDict();
    updateInPlace(base, JSON.parse('{"__proto__": {"polluted": 1}}') as never, false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(filterBy(newDict([['x', 1]]), ['constructor'], { default: '__proto__' })).toBeNull();
  });
});

describe('paths', () => {
  it.each([
    ['/a/b/', '', '/a/b'],
    ['a', 'a', ''],
    ['/a', 'a', '/'],
    ['//a', 'a', '//'],
  ])('%s', (path, base, dir) => {
    expect([baseName(path), dirName(path)]).toEqual([base, dir]);
  });

  it('joins and cleans', () => {
    expect(joinPath('/a', 'b', '/c', 'd')).toBe('/c/d');
    expect(normalPath('a/../../b//./c')).toBe('../b/c');
    expect(normalPath('/../..')).toBe('/');
  });

  it('never takes a bare name from the working folder', () => {
    expect(which('package.json')).toBeNull();
    expect(which('package.json', ':')).toBeNull();
  });
});

describe('accounts', () => {
  it('reads entries and leaves out broken lines', () => {
    expect(parsePasswd('root:x:0:0:root,1,2:/root:/bin/sh\nbroken\n+::::::\nx:y:z:1:::\n')).toEqual([
      { name: 'root', passwd: 'x', uid: 0, gid: 0, gecos: 'root,1,2', home: '/root', shell: '/bin/sh' },
    ]);
    expect(parseGroup('a:x:5:u1,u2\nb:x:6:\nbroken:x\n')).toEqual([
      { name: 'a', passwd: 'x', gid: 5, members: ['u1', 'u2'] },
      { name: 'b', passwd: 'x', gid: 6, members: [] },
    ]);
  });
});
