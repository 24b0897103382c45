// The shapes of jobs.list_jobs_filter, last_run and list_jobs, as Salt 3006.27 gives them.
import { dictOf, type JobFilter, type MasterContext, type Value } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { bindArguments } from '../../../engine/exec/bind.ts';
import jobs from './index.ts';

const jids = ['20260131080000000001', '20260131080000000002', '20260131080000000003'];
const load = dictOf([
  ['fun', 'test.ping'],
  ['arg', []],
  ['tgt', '*'],
  ['tgt_type', 'glob'],
  ['user', 'root'],
]);

function call(fun: keyof typeof jobs.functions, named: Record<string, Value>): Promise<unknown> {
  const asked: JobFilter[] = [];
  const master = {
    jobs: {
      list: async (filter: JobFilter) => {
        asked.push(filter);
        return [...jids]
          .reverse()
          .slice(0, filter.limit ?? jids.length)
          .map((jid) => ({ jid, load }));
      },
      listText: async () => undefined,
      load: async () => load,
      expected: async () => ['web1'],
      returns: async () => ({ web1: dictOf([['return', true]]) }),
      query: async () => [],
    },
  };
  const found = jobs.functions[fun]!;
  const args = bindArguments(String(fun), found.params, [], named);
  return Promise.resolve(found.run(args as never, { master } as unknown as MasterContext));
}

describe('the runner jobs', () => {
  it('list_jobs_filter is a list with the id in each entry, oldest first', async () => {
    const shown = (jid: string, second: string) => ({
      ...{ Function: 'test.ping', Arguments: [], Target: '*', 'Target-type': 'glob', User: 'root', JID: jid },
      StartTime: `2026, Jan 31 08:00:00.00000${second}`,
    });
    expect(await call('list_jobs_filter', { count: 2 })).toEqual([shown(jids[1]!, '2'), shown(jids[2]!, '3')]);
    expect(await call('list_jobs_filter', { count: 0 })).toEqual([]);
    expect(await call('list_jobs_filter', { count: 1, outputter: 'yaml' })).toMatchObject({
      outputter: 'yaml',
      data: [{ JID: jids[2] }],
    });
  });

  it('last_run equals print_job', async () => {
    const last = await call('last_run', {});
    expect(last).toEqual(await call('print_job', { jid: jids[2]! }));
    expect(Object.keys((last as Record<string, object>)[jids[2]!]!)).not.toContain('jid');
    expect(await call('last_run', { metadata: 'text' })).toBe(false);
  });

  it('list_jobs finds nothing by metadata that is not a map, and everything by an empty one', async () => {
    expect(await call('list_jobs', { search_metadata: 'text' })).toEqual({});
    expect(Object.keys((await call('list_jobs', { search_metadata: dictOf([]) })) as object)).toEqual(jids);
  });
});
