// Publishing a job: the published message stays small for any target, and the steps are done in order.
import { describe, expect, it } from 'vitest';
import { pack } from '../../base/codec/msgpack/index.ts';
import { dictOf, type PlainDict } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { AskedJob, PublishedJob } from '../../protocol/job/job.ts';
import { jobFields } from '../../protocol/wire/messages/job.ts';
import { Fleet } from '../fleet/fleet.ts';
import { Reasons } from '../tracking/reasons.ts';
import { Tracker } from '../tracking/tracker.ts';
import { type PublishParts, prepareBatch, prepareJob, publishSteps } from './publish.ts';
import { Targets } from './targets.ts';

const count = 10_000;
const ids = Array.from({ length: count }, (_, at) => `web-${at}.example.com`);

interface Sent {
  readonly job: PlainDict;
  readonly ids: readonly string[] | undefined;
}

/** Parts without ports and disk: every minion has an accepted key and known grains. */
async function partsOf(sent: Sent[]): Promise<PublishParts> {
  const nothing = async (): Promise<undefined> => undefined;
  const unused = (): never => expect.fail('nobody is asked, and nothing is kept');
  const grains = dictOf([['role', 'web']]);
  const data = new Map(ids.map((id) => [id, { grains, pillar: dictOf([]) }]));
  const store = {
    ...{ saveJob: nothing, load: nothing, saveVerdicts: nothing },
    ...{ loadMinionData: async () => data, saveMinionData: nothing, dropMinionData: nothing },
  };
  const fleet = new Fleet(
    store,
    () => [],
    () => undefined,
  );
  await fleet.restore();
  const opts = {
    ...{ timeout: 5, gather_job_timeout: 10, ext_job_cache: '', unique_jid: false, publish_port: 4505 },
    ...{ syndic_wait: 5, master_id: undefined },
    raw: {
      nodegroups: { all: 'G@role:web and not db*', named: ['web-1.example.com', 'gone'], mixed: 'N@named or db*' },
    },
  };
  const keys = { ids: () => ids, has: (state: string) => state === 'accepted', readText: () => undefined };
  const log = nullLogger();
  const reasons = new Reasons({ opts, keys, fleet });
  const durable = { keep: unused, arrived: unused };
  return {
    ...{ opts, log, store, fleet, reasons },
    bus: { fire: () => undefined },
    targets: new Targets({ opts, keys, fleet, log }),
    tracker: new Tracker({ opts, log, keys, store, fleet, reasons, durable, ask: unused, kill: nothing }),
    publications: {
      send: async (job: PublishedJob, to?: readonly string[]) => {
        sent.push({ job: jobFields(job), ids: to });
        return {};
      },
    },
  };
}

const request: AskedJob = {
  tgt: '*',
  tgt_type: 'glob',
  fun: 'test.ping',
  arg: [],
  user: 'root',
  unwatched: true,
};

describe('publishing', () => {
  it('goes through its steps in order', () => {
    expect(Object.keys(publishSteps)).toEqual(['expandTarget', 'chooseSubset', 'assignJid']);
  });

  it.each([
    ['glob', '*'],
    ['grain', 'role:web'],
    ['nodegroup', 'all'],
    ['compound', 'web-* and not N@all or G@role:w*'],
  ])('a %s for ten thousand minions is a few hundred bytes', async (tgt_type, tgt) => {
    const sent: Sent[] = [];
    const job = prepareJob(await partsOf(sent), { ...request, tgt, tgt_type });
    expect(job.active.size).toBe(count);
    await job.send();
    expect(sent).toHaveLength(1);
    expect(pack(sent[0]?.job ?? {}).length).toBeLessThan(400);
  });

  it.each([
    ['list', 'web-1.example.com,gone', ['gone']],
    ['compound', 'L@web-1.example.com,gone or web-2.*', ['gone']],
    ['compound', 'web-1.* and not L@gone', []],
    ['compound', 'web-1.* and not ( L@gone or db* )', []],
    ['nodegroup', 'named', ['gone']],
    ['nodegroup', 'mixed', ['gone']],
  ])('names in the lists of a %s (%s) get a verdict without a key', async (tgt_type, tgt, wanted) => {
    const { missing } = prepareBatch(await partsOf([]), { ...request, tgt, tgt_type });
    expect(missing).toEqual(wanted);
  });

  it('a step of a batch names only its own minions, with one jid', async () => {
    const sent: Sent[] = [];
    const batch = prepareBatch(await partsOf(sent), request);
    const there = await batch.begin();
    expect(there).toHaveLength(count);
    await batch.sendTo(there.slice(0, 3));
    await batch.sendTo(there.slice(3, 5));
    expect(sent.map(({ job }) => job['tgt'])).toEqual([ids.slice(0, 3), ids.slice(3, 5)]);
    expect(new Set(sent.map(({ job }) => job['jid'])).size).toBe(1);
    expect(batch.active.open()).toEqual(ids.slice(0, 5));
    expect(batch.active.balance().waiting).toBe(count);
  });

  it('has a deadline and a durable time only when requested', async () => {
    const sent: Sent[] = [];
    const parts = await partsOf(sent);
    await prepareJob(parts, request).send();
    await prepareJob(parts, { ...request, deadlineSeconds: 90, durableSeconds: 60 }).send();
    const fields = sent.map(({ job }) => Object.keys(job).filter((name) => name.startsWith('halite')));
    expect(fields).toEqual([[], ['halite_deadline', 'halite_durable']]);
  });
});
