// The history of jobs of salt-ssh: with a running master through its socket, so that others hear of them; without one
// straight into its store; without both there is none.
import { join } from 'node:path';
import { newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import type { MasterOpts } from '../base/config/opts.ts';
import { messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import type { LocalClient } from '../engine/client/api.ts';
import { connectLocal } from '../engine/client/local.ts';
import type { PublishedJob } from '../protocol/job/job.ts';
import type { JobReturn } from '../protocol/job/job-return.ts';
import type { Reason } from '../protocol/job/verdict.ts';
import { jobFields } from '../protocol/wire/messages/job.ts';
import { returnFields } from '../protocol/wire/messages/job-return.ts';
import type { JobStore } from '../store/jobs.ts';
import { jobRecord, returnRecord } from '../store/records.ts';

export interface SshHistory {
  job(job: PublishedJob, ids: readonly string[]): Promise<void>;
  returned(ret: JobReturn): Promise<void>;
  missing(jid: string, id: string, reason: Reason): Promise<void>;
  close(): Promise<void>;
}

const verdictKind = (reason: Reason): string => (reason.code === 'deadline' ? 'deadline' : 'missing');

/** Never fails: what cannot be stored is logged once, and the job goes on. */
export async function openHistory(opts: MasterOpts, log: Logger): Promise<SshHistory> {
  const client = await connectLocal(opts).catch(() => undefined);
  if (client) return guarded(masterHistory(client), log);
  const { SqliteJobStore } = await import('../store/sqlite/store.ts');
  const quiet = (): void => undefined;
  const store = await SqliteJobStore.open(join(opts.cachedir, 'halite.db'), { news: quiet }).catch((error: unknown) => {
    log.info('this job is not in the history: no master runs, and its store cannot be opened', {
      error: messageOf(error),
    });
    return undefined;
  });
  return store ? guarded(storeHistory(store), log) : guarded(nowhere, log);
}

const nowhere: SshHistory = {
  job: async () => undefined,
  returned: async () => undefined,
  missing: async () => undefined,
  close: async () => undefined,
};

function masterHistory(client: LocalClient): SshHistory {
  const tell = (act: string, fields: Readonly<Record<string, Value>>): Promise<void> =>
    client.recordSsh(newDict([['act', act], ...Object.entries(fields)]));
  return {
    job: (job, ids) => tell('job', { job: jobFields(job), ids: [...ids] }),
    returned: (ret) => tell('return', { ret: returnFields(ret) }),
    missing: (jid, id, { code, text, evidence }) => tell('missing', { jid, id, code, text, evidence }),
    close: async () => client.close(),
  };
}

function storeHistory(store: JobStore): SshHistory {
  return {
    job: (job, ids) => store.saveJob(jobRecord(job, { expected: [...ids], started: Date.now(), internal: false })),
    returned: async (ret) => {
      // A target may bring results of earlier jobs, but only of those that were its own.
      if (!(await store.expected(ret.jid)).includes(ret.id)) return;
      await store.saveReturn(returnRecord(ret, returnFields(ret), Date.now()));
    },
    missing: (jid, id, reason) => {
      const { code, text, evidence } = reason;
      const row = { ...{ jid, id, text, evidence, reason: code }, verdict: verdictKind(reason), at: Date.now() };
      return store.saveVerdicts([row]);
    },
    close: () => store.close(),
  };
}

function guarded(history: SshHistory, log: Logger): SshHistory {
  const keep = async (work: Promise<void>): Promise<void> => {
    await work.catch((error: unknown) =>
      log.limited('history', 'warn', 'the history of this job is not complete', { error: messageOf(error) }),
    );
  };
  return {
    job: (job, ids) => keep(history.job(job, ids)),
    returned: (ret) => keep(history.returned(ret)),
    missing: (jid, id, reason) => keep(history.missing(jid, id, reason)),
    close: () => keep(history.close()),
  };
}

/** What `-r` ran is no function, but a job all the same. */
export const rawFunction = 'ssh._raw';

export const plainResult = (stdout: string, stderr: string, retcode: number): PlainDict =>
  newDict(Object.entries({ retcode, stderr, stdout }));
