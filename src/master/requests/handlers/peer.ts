// Jobs and runners that minions start themselves (`publish.*`), allowed only by `peer` and `peer_run`.

import { textField } from '../../../base/codec/fields.ts';
import { readValue } from '../../../base/codec/json/index.ts';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { MasterOpts } from '../../../base/config/index.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import { splitArguments } from '../../../engine/exec/index.ts';
import type { AskedJob } from '../../../protocol/job/job.ts';
import type { JobReturn } from '../../../protocol/job/job-return.ts';
import { isProblem } from '../../../protocol/wire/messages/fields.ts';
import { readJobReturn, returnFields } from '../../../protocol/wire/messages/job-return.ts';
import { type PeerPublish, readPeerPublish, readPeerRunner } from '../../../protocol/wire/messages/minion-loads.ts';
import type { JobStore } from '../../../store/jobs.ts';
import type { MasterFunctions } from '../../local/functions.ts';
import { type PreparedJob, runToEnd } from '../../publish/publish.ts';
import type { Sender } from '../sender.ts';
import { PeerJobs } from './peer-jobs.ts';
import { mayPublish, mayRun } from './peer-rights.ts';
import type { Handlers } from './table.ts';

export interface PeerParts {
  readonly opts: Pick<MasterOpts, 'raw' | 'timeout'>;
  readonly log: Pick<Logger, 'limited'>;
  readonly store: Pick<JobStore, 'returns'>;
  readonly functions: Pick<MasterFunctions, 'paramsOf' | 'start'>;
  prepareJob(request: AskedJob): PreparedJob;
}

export function peerHandlers(parts: PeerParts): Handlers {
  const jobs = new PeerJobs();
  return {
    minion_pub: {
      run: async (load, sender) => {
        const request = readPeerPublish(load);
        const job = isProblem(request) ? undefined : peerJob(parts, request, sender, jobs, true);
        await job?.send();
        return job ? { jid: job.jid, minions: [...job.minions] } : newDict();
      },
    },
    minion_publish: { run: (load, sender) => publishAndWait(parts, load, sender, jobs) },
    pub_ret: { run: (load, sender) => results(parts, load, sender, jobs) },
    minion_runner: { run: (load, sender) => callRunner(parts, load, sender) },
  };
}

/** The job that a minion requests, ready to be sent; undefined when it is not allowed, or no minion matches. */
function peerJob(
  parts: PeerParts,
  request: PeerPublish,
  sender: Sender,
  jobs: PeerJobs,
  unwatched: boolean,
): PreparedJob | undefined {
  const { tgt, tgt_type, arg, ret, timeout, functions } = request;
  const refuse = (why: string): undefined =>
    parts.log.limited(`peer:${sender.id}:${why}`, 'warn', why, { minion: sender.id, functions }) as undefined;
  if (!mayPublish(parts.opts.raw['peer'], sender.id, functions)) return refuse('minion may not publish this function');
  if (!jobs.mayStart(sender.id)) return refuse('minion has too many jobs open and may not publish more');
  const [only, ...more] = functions;
  try {
    const job = parts.prepareJob({
      tgt,
      tgt_type,
      fun: only !== undefined && more.length === 0 ? only : functions,
      arg,
      ret,
      user: sender.id,
      foreign: true,
      options: { id: sender.id },
      timeoutSeconds: timeout > 0 ? timeout : parts.opts.timeout,
      unwatched,
    });
    jobs.started(sender.id, job.active);
    return job;
  } catch (error) {
    if (error instanceof HaliteError && error.code === 'target.empty') return undefined;
    throw error;
  }
}

async function publishAndWait(parts: PeerParts, load: PlainDict, sender: Sender, jobs: PeerJobs): Promise<Value> {
  const request = readPeerPublish(load);
  const job = isProblem(request) ? undefined : peerJob(parts, request, sender, jobs, false);
  const found = newDict();
  if (!job || isProblem(request)) return found;
  const take = (ret: JobReturn): void => {
    found[ret.id] = request.full ? { ...returnFields(ret), ret: ret.return } : ret.return;
  };
  await runToEnd(job, take);
  return found;
}

async function results({ store }: PeerParts, load: PlainDict, sender: Sender, jobs: PeerJobs): Promise<Value> {
  const jid = textField(load, 'jid') ?? '';
  if (!jobs.isOf(sender.id, jid)) return newDict();
  const found = newDict();
  for (const [id, result] of await store.returns(jid)) {
    const ret = readJobReturn(result, { id, jid });
    if (!isProblem(ret)) found[id] = { ret: ret.return };
  }
  return found;
}

/** A runner on behalf of a minion; a forbidden request is answered with an empty result, as in Salt. */
async function callRunner(parts: PeerParts, load: PlainDict, sender: Sender): Promise<Value> {
  const request = readPeerRunner(load);
  if (isProblem(request)) return newDict();
  const { fun, arg } = request;
  if (!mayRun(parts.opts.raw['peer_run'], sender.id, fun)) {
    const fields = { minion: sender.id, runner: fun, hint: 'peer_run' };
    parts.log.limited(`peer_run:${sender.id}`, 'warn', 'minion may not start this runner', fields);
    return newDict();
  }
  const params = (await parts.functions.paramsOf('runners', fun)) ?? {};
  const { args, kwargs } = await splitArguments(params, arg, undefined);
  const { ret } = await parts.functions.start('runners', fun, args, kwargs, sender.id).result;
  return readValue(ret);
}
