// The option `metrics`, and what makes a master not ready.
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { FreeSpace, healthOf } from './health.ts';
import { readMetricsSettings } from './settings.ts';

const dict = (entries: object) => newDict(Object.entries(entries));

it('listens only when it is enabled with the exporter prometheus', () => {
  expect(readMetricsSettings(null)).toBeUndefined();
  expect(readMetricsSettings(dict({ enabled: true }))).toBeUndefined();
  expect(readMetricsSettings(dict({ enabled: false, exporter: 'prometheus' }))).toBeUndefined();
  const on = { enabled: true, exporter: 'prometheus' };
  expect(readMetricsSettings(dict(on))).toEqual({ host: '127.0.0.1', port: 9464 });
  const place = dict({ host: '::1', port: 1234 });
  expect(readMetricsSettings(dict({ ...on, prometheus: place }))).toEqual({ host: '::1', port: 1234 });
});

const on = (more: object): unknown => dict({ enabled: true, exporter: 'prometheus', ...more });
const wrong: [text: string, value: unknown][] = [
  ['metrics is not a map', 'yes'],
  ['metrics.enabled is neither', dict({ enabled: 'yes' })],
  ['metrics.prometheus is not a map', on({ prometheus: 9464 })],
];
for (const port of [0, 65_536, 1.5, '9464', true])
  wrong.push(['metrics.prometheus.port is not', on({ prometheus: dict({ port }) })]);
for (const host of ['', 'a b', 'x\n', '/run/socket', 5])
  wrong.push(['metrics.prometheus.host is not', on({ prometheus: dict({ host }) })]);

it.each(wrong)('refuses: %s', (text, value) => {
  expect(() => readMetricsSettings(value)).toThrowError(
    expect.objectContaining({ code: 'config.value', message: expect.stringContaining(text) }),
  );
});

it('says why a master is not ready, without names of files, servers or members', () => {
  const store = { health: () => ({ trouble: 'disk full at /var/cache/salt/master/halite.db' }) };
  const cluster = { state: { kind: 'cut-off', why: 'nats://10.0.0.1 is gone' } as const };
  const health = healthOf({ store, cluster }, 1024);
  expect(health).toMatchObject({ ready: false, why: { store: expect.any(String), cluster: expect.any(String) } });
  expect(health.why.disk).toContain('less than 64 MB');
  expect(JSON.stringify(health)).not.toMatch(/halite\.db|10\.0\.0\.1|\//);
  const well = { store: { health: () => ({}) }, cluster: { state: { kind: 'alone' } as const } };
  expect(healthOf(well, 1e10)).toEqual({ ready: true, why: {} });
  expect(healthOf(well, undefined).ready).toBe(true);
  expect(healthOf(undefined, 1e10)).toMatchObject({
    ready: false,
    why: { ports: expect.stringContaining('starting') },
  });
});

it('looks up the free space of a folder, and does not fail where there is none', async () => {
  expect(await new FreeSpace(tmpdir()).bytes()).toBeGreaterThan(0);
  expect(await new FreeSpace('/nonexistent/folder').bytes()).toBeUndefined();
});
