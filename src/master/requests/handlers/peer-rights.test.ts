// Which functions minions may run through the master: exactly those that a rule means.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict } from '../../../base/codec/value.ts';
import { mayPublish, mayRun } from './peer-rights.ts';

const rules = (id: string, ...functions: string[]): PlainDict => newDict([[id, functions]]);

describe('peer', () => {
  it.each([
    ['web1', 'web1', 'test.ping', ['test.ping'], true],
    ['web1', 'web10', 'test.ping', ['test.ping'], false],
    ['web1.example', 'web1xexample', 'test.ping', ['test.ping'], false],
    ['web.*', 'web1', 'test.*', ['test.ping', 'test.echo'], true],
    ['web.*', 'web1', 'test.*', ['test.ping', 'cmd.run'], false],
    ['.*', 'web1', 'test.ping', ['testXping'], false],
    ['.*', 'web1', '.*', ['publish.publish'], false],
  ])('%s: a minion %s with %s publishes %j: %s', (expression, id, rule, functions, may) => {
    expect(mayPublish(rules(expression, rule), id, functions)).toBe(may);
  });

  it('is nothing when it is not a map of lists', () => {
    for (const value of [undefined, null, 'x', ['.*'], newDict([['.*', 'test.ping']])])
      expect(mayPublish(value, 'web1', ['test.ping'])).toBe(false);
  });
});

describe('peer_run', () => {
  it.each([
    ['jobs.*', 'jobs.active', true],
    ['jobs.*', 'jobs.query', false],
    ['jobs.query', 'jobs.query', true],
    ['.*', 'manage.up', true],
    ['.*', 'pillar.show_pillar', false],
    ['.*', 'cache.pillar', false],
    ['.*', 'salt.cmd', false],
    ['vault.*', 'vault.generate_token', false],
    ['vault.generate_token', 'vault.generate_token', true],
  ])('%s gives %s: %s', (rule, fun, may) => {
    expect(mayRun(rules('.*', rule), 'web1', fun)).toBe(may);
  });
});
