// Every message reader, with fields of any type: the answer is a problem or has the declared types.
import { pack } from '../../../src/base/codec/msgpack/index.ts';
import type { Dict, Value } from '../../../src/base/codec/value.ts';
import { authLoad, readAuthAnswer, readAuthReply, readAuthRequest } from '../../../src/protocol/wire/messages/auth.ts';
import { readClearCommand } from '../../../src/protocol/wire/messages/clear.ts';
import { isProblem } from '../../../src/protocol/wire/messages/fields.ts';
import { jobFields, readPublishedJob } from '../../../src/protocol/wire/messages/job.ts';
import { readJobReturn, returnMessage } from '../../../src/protocol/wire/messages/job-return.ts';
import * as loads from '../../../src/protocol/wire/messages/minion-loads.ts';
import { publishEnvelopeValue, readPublishEnvelope } from '../../../src/protocol/wire/messages/publish.ts';
import {
  isRetryLater,
  readPillarContent,
  readPillarReply,
  readSignedPillar,
} from '../../../src/protocol/wire/messages/reply.ts';
import { envelopeValue, readEnvelope, readOpenedLoad } from '../../../src/protocol/wire/messages/request.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';
import { anyDict, anyValue, Choices, sameValue } from '../engine/values.ts';

const keys =
  'enc|load|version|id|cmd|nonce|ts|tok|enc_algo|sig_algo|pub|token|ret|aes|session|sig|publish_port|pillar|key|data|error|cluster_retry|jid|fun|arg|tgt|tgt_type|user|delimiter|master_id|serial|return|retcode|success|fun_args|events|tag|pretag|grains|saltenv|pillarenv|pillar_override|extra_minion_data|ver|clear|path|loc|gzip|size|expr_form|timeout|kwarg|kwargs|username|password|eauth|tgt_type|mine|exclude_minion|file_roots|env|prefix|list|sls|allow_tgt|out|metadata'.split(
    '|',
  );

type Reader = (value: Dict) => unknown;
const loadReaders = Object.entries(loads).filter(([name]) => name.startsWith('read'));
const readers: readonly (readonly [string, Reader])[] = [
  ...Object.entries({ readAuthAnswer, readAuthReply, readAuthRequest, readClearCommand, readPublishEnvelope }),
  ...Object.entries({ readPillarContent, readPillarReply, readSignedPillar, isRetryLater, readOpenedLoad }),
  ...loadReaders.map(([name, reader]) => [name, reader as Reader] as const),
];

/** Written again and read again, a message is the same. */
function roundTrips(value: Dict): void {
  const envelope = read(() => readEnvelope(pack(value)));
  if (envelope && !isProblem(envelope)) same(readEnvelope(pack(envelopeValue(envelope))), envelope, 'envelope');
  const publish = readPublishEnvelope(value);
  if (!isProblem(publish) && publish.sig) same(readPublishEnvelope(publishEnvelopeValue(publish)), publish, 'publish');
  const job = readPublishedJob(value);
  if (!isProblem(job)) same(readPublishedJob(jobFields(job)), job, 'job');
  const ret = readJobReturn(value);
  if (!isProblem(ret)) same(readJobReturn(returnMessage(ret)), ret, 'result');
  const auth = readAuthRequest(value);
  if (!isProblem(auth)) same(readAuthRequest(authLoad(auth)), auth, 'sign-in');
}

function same(again: object, first: object, what: string): void {
  const bare = (message: object): Value =>
    new Map(Object.entries(message).filter(([, item]) => item !== undefined)) as Value;
  hold(!isProblem(again) && sameValue(bare(again), bare(first)), `a ${what} reads as it was written`);
}

/** What a reader gives is named by it: nothing of the load can add or replace a field. */
function checkFields(answer: unknown, reader: string): void {
  if (typeof answer !== 'object' || answer === null) return;
  hold(Object.getPrototypeOf(answer) !== null || Array.isArray(answer), `${reader} makes its own object`);
  for (const name of ['id', 'jid', 'tag', 'cmd', 'path', 'loc']) {
    const field = (answer as Record<string, unknown>)[name];
    if (name === 'loc') hold(field === undefined || typeof field === 'number', `${reader}: ${name} is a number`);
    else hold(field === undefined || typeof field === 'string', `${reader}: ${name} is text`);
  }
}

const target: FuzzTarget = {
  maxLength: 400,
  run: (bytes) => {
    const choices = new Choices(bytes);
    const [name, reader] = choices.pick(readers);
    const value = anyDict(choices, keys);
    const answer = reader(value);
    if (Array.isArray(answer)) for (const item of answer) checkFields(item, name);
    else checkFields(answer, name);
    roundTrips(value);
    const any = anyValue(choices, keys);
    read(() => readEnvelope(pack(any)));
    for (const reader of [readOpenedLoad, readAuthRequest, readPublishedJob, readPillarReply]) reader(any);
  },
};
export default target;
