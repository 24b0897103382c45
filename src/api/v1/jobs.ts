// Jobs: start, list, look at, stop, start again.
import { z } from 'zod';
import { textField } from '../../base/codec/fields.ts';
import { asPlainDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { given } from '../../protocol/wire/messages/fields.ts';
import { type LocalPublish, localPublishArgs, readJobItem } from '../../protocol/wire/messages/local.ts';
import type { Api } from '../api.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { MasterSession } from '../master.ts';
import { needClient } from './clients.ts';
import { exportReturns } from './export.ts';
import { streamResults, wantsStream } from './results.ts';
import { argsOf, type Route, route } from './route.ts';
import * as shapes from './schemas.ts';
import { sendJson, sendList } from './send.ts';

const one = z.strictObject({ jid: shapes.jid });
const oneReturn = z.strictObject({ jid: shapes.jid, id: shapes.minionId });
const seen = 'own, @jobs, or a rule for its function on all its minions';

/** The header that makes a request safe to repeat. */
function onceOf({ request }: Exchange): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(key))
    throw new ApiError(400, 'An Idempotency-Key has 1 to 128 visible characters.');
  return key;
}

function callOf(body: z.output<typeof shapes.publish>): LocalPublish {
  const { tgt, tgt_type, fun, arg = [], kwarg, timeout, deadline, durable, subset, batch, require, metadata } = body;
  const marked = kwarg ? [markedKeywords(kwarg)] : [];
  const args = typeof fun === 'string' ? [...arg, ...marked] : arg;
  return {
    job: {
      ...{ tgt, tgt_type: tgt_type || (typeof tgt === 'string' ? 'glob' : 'list'), fun, arg: args, unwatched: !batch },
      ...given({ timeoutSeconds: timeout, deadlineSeconds: deadline, durableSeconds: durable, subset }),
      ...(metadata === undefined ? {} : { options: { metadata } }),
    },
    ...given({ batch: batch && given(batch), require }),
  } as LocalPublish;
}

const markedKeywords = (kwarg: Value): Value =>
  kwarg instanceof Map
    ? new Map([...kwarg, ['__kwarg__', true]])
    : newDict([...Object.entries(asPlainDict(kwarg) ?? newDict()), ['__kwarg__', true]]);

function sendStarted(api: Api, exchange: Exchange, item: Value): void {
  const job = asPlainDict(item) ?? newDict();
  const jid = textField(job, 'jid') ?? '';
  const url = `${api.settings.rootPrefix}/halite/v1/jobs/${jid}`;
  const shown: PlainDict = newDict([
    ['jid', jid],
    ['minions', job['minions'] ?? []],
    ['missing', job['missing'] ?? []],
    ['url', url],
  ]);
  sendJson(exchange, shown, 202, { Location: url });
}

/** A batch runs as long as somebody follows it: this process does, until it ends, whether or not the client stays. */
async function startBatch(api: Api, session: MasterSession, args: PlainDict, owner: string): Promise<Value> {
  const items = session.call('publish', args, (item) => asPlainDict(item) ?? newDict());
  const begun = items[Symbol.asyncIterator]();
  const first = await begun.next().catch((error: unknown) => {
    session.close();
    throw error;
  });
  if (first.done) throw new ApiError(422, 'The batch did not begin.');
  const rest = async (): Promise<void> => {
    while (!(await begun.next()).done);
  };
  rest()
    .catch((error: unknown) => api.log.warn('a batch has ended early', { owner, error: messageOf(error) }))
    .finally(() => session.close());
  return first.value;
}

export const jobRoutes: readonly Route[] = [
  route(
    {
      ...{ method: 'POST', path: '/jobs', id: 'startJob', tag: 'jobs', body: shapes.publish, answer: shapes.started },
      ...{ summary: 'Start a job.', needs: 'the rules for a publish', status: 202, fails: [422] },
      headers: ['Idempotency-Key'],
    },
    async ({ api, exchange, session, body, caller }) => {
      needClient(api, 'local_async', 'local');
      const once = onceOf(exchange);
      if (wantsStream(exchange)) {
        const { job, ...rest } = callOf(body);
        const asked = localPublishArgs({ ...rest, job: { ...job, unwatched: false } });
        const leave = api.streams.enter(caller);
        const items = session.call('publish', asked, readJobItem, exchange.signal);
        await streamResults(api, exchange, items).finally(leave);
        return;
      }
      const args = localPublishArgs(callOf(body));
      if (!body.batch) {
        sendStarted(
          api,
          exchange,
          await session.one('publish', newDict([...Object.entries(args), ...(once ? [['once', once] as const] : [])])),
        );
        return;
      }
      if (once) throw new ApiError(400, 'A batch cannot have an Idempotency-Key.');
      const own = api.master.session({ token: caller.token }, exchange.peer.address);
      sendStarted(api, exchange, await startBatch(api, own, args, caller.name));
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/jobs', id: 'listJobs', tag: 'jobs', query: shapes.listQuery, media: ['text/csv'] },
      ...{ summary: 'The history of jobs.', needs: 'own jobs; all with @jobs', answer: shapes.listAnswer },
    },
    async ({ exchange, session, query }) => {
      const { format, ...window } = query;
      sendList(exchange, await session.one('jobs', argsOf(window)), format);
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/jobs/{jid}', id: 'getJob', tag: 'jobs', params: one, answer: shapes.jobAnswer },
      ...{ summary: 'One job: verdicts and groups of equal answers.', needs: seen },
    },
    async ({ exchange, session, params }) => sendJson(exchange, await session.one('job', argsOf({ jid: params.jid }))),
  ),
  route(
    {
      ...{ method: 'GET', path: '/jobs/{jid}/returns', id: 'listReturns', tag: 'jobs', params: one },
      ...{
        query: shapes.returnsQuery,
        answer: shapes.returnsAnswer,
        media: ['text/csv', 'application/yaml', 'text/plain', 'text/event-stream'],
      },
      ...{ summary: 'Its results, as a list or as a file.', needs: seen },
    },
    async ({ api, exchange, session, params, query, caller }) => {
      const { format, ...window } = query;
      const args = { jid: params.jid, ...window };
      if (wantsStream(exchange)) {
        const leave = api.streams.enter(caller);
        const items = session.call('job-follow', argsOf({ jid: params.jid }), readJobItem, exchange.signal);
        await streamResults(api, exchange, items).finally(leave);
        return;
      }
      if (format === undefined) sendJson(exchange, await session.one('job-returns', argsOf(args)));
      else await exportReturns(exchange, session, args, format);
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/jobs/{jid}/returns/{id}', id: 'getReturn', tag: 'jobs', params: oneReturn },
      ...{ summary: 'The whole answer of one minion.', needs: seen, answer: shapes.mapAnswer },
    },
    async ({ exchange, session, params }) =>
      sendJson(exchange, await session.one('job-return', argsOf({ jid: params.jid, id: params.id }))),
  ),
  route(
    {
      ...{ method: 'POST', path: '/jobs/{jid}/stop', id: 'stopJob', tag: 'jobs', params: one, body: shapes.stop },
      ...{ summary: 'Stop it.', needs: 'saltutil.term_job or saltutil.kill_job', answer: shapes.stopped, fails: [422] },
    },
    async ({ api, exchange, session, params, body }) => {
      needClient(api, 'local_async', 'local');
      sendJson(exchange, await session.one('job-stop', argsOf({ jid: params.jid, how: body.how })));
    },
  ),
  route(
    {
      ...{ method: 'POST', path: '/jobs/{jid}/again', id: 'startAgain', tag: 'jobs', params: one, body: shapes.again },
      ...{ summary: 'Start it again.', needs: 'the rules for a publish', answer: shapes.started, status: 202 },
      ...{ headers: ['Idempotency-Key'], fails: [422] },
    },
    async ({ api, exchange, session, params, body }) => {
      needClient(api, 'local_async', 'local');
      const args = argsOf({ jid: params.jid, on: body.on, once: onceOf(exchange) });
      sendStarted(api, exchange, await session.one('job-again', args));
    },
  ),
];
