// Results for returners: what they are given, what is reported when they fail, and delivery through the master.
import { describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { ReturnerChoice, ReturnerProblem, WorkerData } from '../../engine/exec/index.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../../protocol/wire/messages/job.ts';
import { returnMessage } from '../../protocol/wire/messages/job-return.ts';
import type { MasterLink } from '../link/master-link.ts';
import { Returners } from './returners.ts';

const dict = (value: Record<string, Value>): PlainDict => newDict(Object.entries(value));

function scene(opts: Record<string, Value>) {
  const seen = { choices: [] as ReturnerChoice[], errors: [] as string[], events: [] as string[] };
  let problems: ReturnerProblem[] = [];
  const line = (message: string) => void seen.errors.push(message);
  const log = { debug: () => undefined, info: () => undefined, error: line } as unknown as Logger;
  const link = { ready: true, fire: async (tag: string) => void seen.events.push(tag) } as unknown as MasterLink;
  const worker = {
    async save(_data: WorkerData, choice: ReturnerChoice) {
      seen.choices.push(choice);
      return problems;
    },
    recycle: () => undefined,
    stop: () => undefined,
  };
  const all = { id: 'm1', ...opts } as unknown as MinionOpts;
  const returners = new Returners(all, log, worker, () => ({}) as WorkerData);
  const hand = async (job: Record<string, Value>, failing: ReturnerProblem[] = []) => {
    problems = failing;
    const read = readPublishedJob(dict({ fun: 'test.ping', arg: [], tgt: '*', ...job }));
    if (isProblem(read)) throw new Error(read.problem);
    const sent = returners.hand(link, read, { id: 'm1', jid: read.jid, fun: 'test.ping', return: true });
    await new Promise((resolve) => setImmediate(resolve));
    return returnMessage(sent);
  };
  return { seen, hand };
}

describe('returners of a minion', () => {
  it('are those of the job and of the configuration, with the options of the job', async () => {
    const { seen, hand } = scene({ return: 'redis,mysql' });
    const kwargs = dict({ db: 'other' });
    await hand({ jid: '1', ret: 'mysql,smtp', ret_config: 'alternative', ret_kwargs: kwargs });
    expect(seen.choices).toEqual([{ names: ['mysql', 'smtp', 'redis'], config: 'alternative', kwargs }]);
  });

  it('are not called when there are none', async () => {
    const { seen, hand } = scene({});
    expect(Object.keys(await hand({ jid: '1', ret: '' }))).not.toContain('returners');
    expect(seen.choices).toEqual([]);
  });

  it('are logged once when they fail, and reported to the master each time', async () => {
    const { seen, hand } = scene({});
    const away = [{ returner: 'mysql', error: 'away' }];
    await hand({ jid: '1', ret: 'mysql' }, away);
    await hand({ jid: '2', ret: 'mysql' }, away);
    expect(seen.errors).toEqual(['The return failed for job 1: away']);
    await hand({ jid: '3', ret: 'mysql' });
    await hand({ jid: '4', ret: 'mysql' }, away);
    expect(seen.errors).toHaveLength(2);
    expect(seen.events).toEqual(['1', '2', '4'].map((jid) => `salt/job/${jid}/returner/m1`));
  });

  it('are left to the master with return_via_master', async () => {
    const { seen, hand } = scene({ return_via_master: true });
    const load = await hand({ jid: '1', ret: 'mysql', ret_config: 'alternative' });
    expect(load['returners']).toEqual({ names: ['mysql'], config: 'alternative' });
    expect(seen.choices).toEqual([]);
  });
});
