// Which function names and ids are covered by administrators' rules.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesIdRule, matchesRule } from './function-rule.ts';

describe('rules for functions', () => {
  it.each([
    ['test.ping', 'test.ping'],
    ['test.*', 'test.ping'],
    ['test.*', 'test.'],
    ['test.+', 'test.ping'],
    ['.*', 'anything.at_all'],
    ['.+', 'cmd.run'],
    ['(test|grains).*', 'grains.items'],
    ['test.ping|test.echo', 'test.echo'],
    ['test.(ping|echo)', 'test.ping'],
    ['(?:test.ping|match.*)', 'match.compound'],
    ['test\\.ping', 'test.ping'],
    ['test\\..*', 'test.ping'],
    ['test[.]ping', 'test.ping'],
    ['^test.ping$', 'test.ping'],
    ['network.ip.*', 'network.ip_addrs'],
    ['test.p.*g', 'test.ping'],
    ['test.(?!echo).*', 'test.ping'],
    ['(?i)TEST.ping', 'test.ping'],
    ['.*\\.ping', 'test.ping'],
    ['x509.sign_remote_certificate', 'x509.sign_remote_certificate'],
    ['mine.get|network.*', 'network.ipaddrs'],
    ['cmd.{1,9}', 'cmd.run'],
  ])('%s covers %s', (rule, name) => {
    expect(matchesRule(rule, name)).toBe(true);
  });

  it.each([
    ['test.ping', 'testXping'],
    ['test.ping', 'test.pingx'],
    ['test.ping', 'xtest.ping'],
    ['test.ping', 'Test.Ping'],
    ['test.ping', 'test.ping\n'],
    ['test.*', 'testXping'],
    ['test.*', 'testing.ping'],
    ['test.*', 'test'],
    ['test.+', 'testing'],
    ['test.ping|test.echo', 'testXecho'],
    ['(test.ping)', 'testXping'],
    ['^test.ping$', 'testXping'],
    ['test.(ping|echo)', 'test_ping'],
    ['test.(?!echo).*', 'test.echo'],
    ['pkg.*|test.ping', 'pkg_resource.version'],
    ['test.ping(', 'test.ping'],
    ['', 'test.ping'],
  ])('%s does not cover %j', (rule, name) => {
    expect(matchesRule(rule, name)).toBe(false);
  });

  it('covers no more names than the rule as written', () => {
    const name = fc.string({ unit: fc.constantFrom(...'ab._-X'), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(name, name, (rule, other) => {
        expect(matchesRule(rule, other)).toBe(rule === other);
        expect(matchesIdRule(rule, other)).toBe(rule === other);
      }),
    );
  });
});

describe('rules for ids', () => {
  it('matches a plain id literally and expressions unchanged', () => {
    expect(matchesIdRule('web.example.com', 'web.example.com')).toBe(true);
    expect(matchesIdRule('web.example.com', 'webXexample.com')).toBe(false);
    expect(matchesIdRule('web.*', 'web1')).toBe(true);
    expect(matchesIdRule('.*', 'web1')).toBe(true);
    expect(matchesIdRule('web\\d+', 'web12')).toBe(true);
    expect(matchesIdRule('web\\d+', 'web12x')).toBe(false);
  });
});
