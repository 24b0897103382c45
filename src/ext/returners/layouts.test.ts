// Documents and messages compared with those of Salt 3006.27 for the same results (recorded from its functions).
import { readFileSync } from 'node:fs';
import { dictGet, newDict, type PlainDict, type Value } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { expect, it } from 'vitest';
import { metricBase, metricsIn } from './carbon.ts';
import { convertKeys, restoreKeys } from './elasticsearch/documents.ts';
import { reportOf } from './highstate/report.ts';
import { lineOf } from './influxdb/client.ts';
import { partitionOf } from './kafka.ts';
import { jobDocument, returnDocument } from './mongo/documents.ts';
import { toJson } from './shared/loads.ts';
import { metricLines } from './shared/metrics.ts';
import { payloadOf } from './slack_webhook/payload.ts';

const recording = new URL('../../../test/fixtures/returners/salt-3006.27.json', import.meta.url);
const salt = loadJson(readFileSync(recording, 'utf8')) as PlainDict;
const ret = salt['ret'] as PlainDict;
/** Ignores the order of keys. */
const plain = (value: unknown): unknown => JSON.parse(toJson(value as Value));
const dict = (text: string): PlainDict => loadJson(text) as PlainDict;

it('slack_webhook', () => {
  const grains = dict('{"id": "web1", "host": "h1", "localhost": "h1.local"}');
  const rules = { success_title: '{id}', failure_title: '{id} | Failed {host}', author_icon: '', show_tasks: true };
  expect(plain(payloadOf(ret, rules, grains, 'web1'))).toEqual(plain(salt['slack']));
  const other = payloadOf(salt['ret2'] as PlainDict, { ...rules, show_tasks: false }, grains, 'web1');
  expect(plain(other)).toEqual(plain(salt['slack2']));
});

it('highstate', () => {
  expect(toJson(reportOf(ret)!.rows)).toBe(toJson(salt['hs']!));
  expect(reportOf(ret)!.failed).toBe(salt['hsfailed']);
});

it('elasticsearch', () => {
  const converted = convertKeys(ret['return']!);
  expect(plain(converted)).toEqual(plain(salt['conv']));
  expect(plain(restoreKeys(converted))).toEqual(plain(ret['return']));
});

it('mongo', () => {
  const kinds = { float: Number, id: (hex: string) => hex };
  const jobOnly = (load: PlainDict) => {
    const { _id, ...job } = jobDocument('20261115120000000001', load, kinds);
    expect(_id).toMatch(/^6af99ec0[0-9a-f]{16}$/);
    return job;
  };
  expect(plain(jobOnly(dict('{"50%.$x": [{"a\\\\b.c": 1}]}')))).toEqual(plain(salt['mongo']));
  const result = newDict([
    ['id', 'x'],
    ['jid', '1'],
    ['fun', 'f'],
    ['return', dict('{"a.b": {"c.d": [{"e.f": 1}]}}')],
  ]);
  expect(plain(returnDocument(result, kinds)['return'])).toEqual(plain(salt['dots']));
});

it('carbon', () => {
  const value = dict('{"x": 1, "y": {"z": "2.5", "t": true}, "l": [3, 4.5], "s": "no", "n": null}');
  expect(metricLines(metricsIn('a.b', value, 1_000_000, true)).toString()).toBe(salt['carbon']);
  expect(metricBase('[module].[function].[minion_id]', 'disk.usage', 'web1.example')).toBe('disk.usage.web1_example');
  expect(metricBase('x.[minion_id]', 'virt.vm_cputime', 'host1')).toBe('virt.vm_cputime');
});

it('influxdb', () => {
  const point = { measurement: 'returns', tags: { fun: 'a b', id: 'x,y=z', jid: '' }, fields: { f: 'say "\\n"' } };
  expect(lineOf({ ...point, jid: 'req' })).toBe('returns,fun=a\\ b,id=x\\,y\\=z f="say \\"\\\\n\\""');
  expect(lineOf({ ...point, tags: {}, fields: { f: '1' }, jid: '20261115120000123456' })).toBe(
    'returns f="1" 1794744000123456000',
  );
  expect(dictGet(ret, 'jid')).toBe('20261115120000000001');
});

it('kafka', () => {
  expect(partitionOf('123456789', 5)).toBe(0xcbf43926 % 5);
  expect(partitionOf('x'.repeat(1_000_000), 3)).toBeLessThan(3);
});
