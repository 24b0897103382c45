// Jobs that salt-ssh runs beside this master: stored like its own, and announced on its bus.
import { dictField, listField, textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { jobNewTag, jobReturnTag } from '../../protocol/event/tags.ts';
import { wireTexts } from '../../protocol/job/job.ts';
import { isReasonCode } from '../../protocol/job/verdict.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readPublishedJob } from '../../protocol/wire/messages/job.ts';
import { readJobReturn, returnFields } from '../../protocol/wire/messages/job-return.ts';
import type { JobStore } from '../../store/jobs.ts';
import { jobRecord, returnRecord } from '../../store/records.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';

export interface SshRecordParts {
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'saveJob' | 'saveReturn' | 'saveVerdicts' | 'load' | 'expected'>;
}

const refuse = (why: string): HaliteError => new HaliteError('call.arguments', `A job of salt-ssh is refused: ${why}.`);

/** For the command `salt-ssh`, which runs as a user with full rights. */
export async function* recordSsh(
  parts: SshRecordParts & { readonly authorization: Pick<Authorization, 'authorizeOperator'> },
  args: PlainDict,
  caller: Caller,
): AsyncIterable<Value> {
  parts.authorization.authorizeOperator(caller, 'records of salt-ssh');
  yield await record(parts, args);
}

async function record(parts: SshRecordParts, args: PlainDict): Promise<true> {
  switch (textField(args, 'act')) {
    case 'job':
      await job(parts, args);
      return true;
    case 'return':
      await returned(parts, args);
      return true;
    case 'missing':
      await missing(parts, args);
      return true;
    default:
      throw refuse('the act is not known');
  }
}

async function job({ store, bus }: SshRecordParts, args: PlainDict): Promise<void> {
  const found = readPublishedJob(dictField(args, 'job') ?? null);
  if (isProblem(found)) throw refuse(found.problem);
  const { jid, tgt, tgt_type, fun, arg, user = 'root' } = found;
  const ids = (listField(args, 'ids') ?? []).map(String);
  if (!isJid(jid) || !ids.every(isValidMinionId)) throw refuse('the job id or an id of a target is not acceptable');
  if (await store.load(jid)) throw refuse(`the job id ${jid} is in use`);
  await store.saveJob(jobRecord(found, { expected: ids, started: Date.now(), internal: false }));
  const about = {
    jid,
    tgt_type,
    tgt: wireTexts(tgt),
    user,
    fun: wireTexts(fun),
    arg: [...arg],
    minions: ids,
    missing: [],
  };
  bus.fire(jobNewTag(jid), newDict(Object.entries(about)));
}

/** Only of targets of a job that was recorded before. */
async function known({ store }: SshRecordParts, jid: string, id: string): Promise<void> {
  if (!isJid(jid) || !isValidMinionId(id) || !(await store.expected(jid)).includes(id))
    throw refuse(`there is no job ${isJid(jid) ? jid : ''} of this target`);
}

async function returned(parts: SshRecordParts, args: PlainDict): Promise<void> {
  const ret = readJobReturn(dictField(args, 'ret') ?? newDict());
  if (isProblem(ret)) throw refuse(ret.problem);
  await known(parts, ret.jid, ret.id);
  const load = returnFields(ret);
  const stored = await parts.store.saveReturn(returnRecord(ret, load, Date.now()));
  if (stored === 'stored') parts.bus.fire(jobReturnTag(ret.jid, ret.id), load);
}

async function missing(parts: SshRecordParts, args: PlainDict): Promise<void> {
  const [jid = '', id = '', code = '', text = ''] = ['jid', 'id', 'code', 'text'].map((name) => textField(args, name));
  if (!isReasonCode(code)) throw refuse('the reason is not known');
  await known(parts, jid, id);
  const evidence = dictField(args, 'evidence') ?? newDict();
  const verdict = code === 'deadline' ? 'deadline' : 'missing';
  await parts.store.saveVerdicts([{ ...{ jid, id, verdict, text, evidence, reason: code }, at: Date.now() }]);
}
