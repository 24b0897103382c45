// Functions: which there are, and runners and wheel functions called.
import { z } from 'zod';
import { isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { type RunnerItem, readRunnerItem } from '../../protocol/wire/messages/local.ts';
import type { Api } from '../api.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { MasterSession } from '../master.ts';
import { needClient } from './clients.ts';
import { wantsStream } from './results.ts';
import { argsOf, type Route, route } from './route.ts';
import { called, listAnswer, listQuery, masterCall } from './schemas.ts';
import { jsonText, sendJson, sendList } from './send.ts';
import { EventStream, eventStreamType } from './sse.ts';

const fun = z.strictObject({
  fun: z
    .string()
    .max(256)
    .regex(/^[\w-]+\.[\w-]+$/),
});
const kinds = z.enum(['modules', 'runners', 'wheel']);

async function call(
  api: Api,
  exchange: Exchange,
  session: MasterSession,
  verb: 'runner' | 'wheel',
  given: { readonly fun: string; readonly arg: Value[]; readonly kwarg: Value },
): Promise<void> {
  const args = argsOf({ ...given, known: true, detached: true });
  const streamed = wantsStream(exchange);
  const limit = AbortSignal.timeout(api.settings.restTimeoutMs);
  const signal = streamed ? exchange.signal : AbortSignal.any([exchange.signal, limit]);
  const items = session.call(verb, args, readRunnerItem, signal);
  if (streamed) {
    await stream(api, exchange, items);
    return;
  }
  let jid = '';
  try {
    for await (const item of items) {
      if (item.type === 'started') jid = item.jid;
      if (item.type === 'result') sendJson(exchange, resultOf(item, jid));
    }
  } catch (error) {
    if (!limit.aborted) throw error;
    throw new ApiError(504, `The function still runs, as job ${jid}.`, { hint: 'Its result will be in the history.' });
  }
}

const resultOf = (item: Extract<RunnerItem, { type: 'result' }>, jid: string): PlainDict =>
  newDict([
    ['jid', jid],
    ['return', item.ret as Value],
    ['success', item.success],
  ]);

async function stream(api: Api, exchange: Exchange, items: AsyncIterable<RunnerItem>): Promise<void> {
  const output = new EventStream(api, exchange);
  let begun = false;
  let jid = '';
  try {
    for await (const item of items) {
      if (!begun) output.begin();
      begun = true;
      if (item.type === 'started') jid = item.jid;
      const shown: Value =
        item.type === 'result'
          ? newDict([['type', 'result'], ...Object.entries(resultOf(item, jid))])
          : newDict(Object.entries(item));
      if (!(await output.send(jsonText(shown)))) return;
    }
    output.end('the function has ended');
  } catch (error) {
    if (!begun) throw error;
    output.end(messageOf(error));
  }
}

const callRoute = (verb: 'runner' | 'wheel'): Route =>
  route(
    {
      ...{ method: 'POST', path: verb === 'runner' ? '/runners/{fun}' : '/wheel/{fun}', id: `call_${verb}` },
      ...{ tag: 'functions', params: fun, body: masterCall, answer: called, media: [eventStreamType] },
      ...{ summary: `Call a ${verb} function.`, needs: `@${verb}`, fails: [422, 504] },
    },
    async ({ api, exchange, session, params, body, caller }) => {
      needClient(api, verb, `${verb}_async`);
      const kwarg = body.kwarg ?? newDict();
      await api.limits.run(`${caller.eauth}:${caller.name}`, () =>
        call(api, exchange, session, verb, {
          fun: params.fun,
          arg: body.arg ?? [],
          kwarg: isDict(kwarg) ? kwarg : newDict(),
        }),
      );
    },
  );

export const functionRoutes: readonly Route[] = [
  route(
    {
      ...{ method: 'GET', path: '/functions', id: 'listFunctions', tag: 'functions', answer: listAnswer },
      ...{ query: listQuery.extend({ kind: kinds.optional() }), media: ['text/csv'] },
      summary: 'The functions with their parameters, and which the caller may run.',
    },
    async ({ exchange, session, query }) => {
      const { format, ...window } = query;
      sendList(exchange, await session.one('functions', argsOf(window)), format);
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/runners', id: 'listRunners', tag: 'functions', answer: listAnswer },
      ...{ query: listQuery, media: ['text/csv'], summary: 'The runners.' },
    },
    async ({ exchange, session, query }) => {
      const { format, ...window } = query;
      sendList(exchange, await session.one('functions', argsOf({ ...window, kind: 'runners' })), format);
    },
  ),
  callRoute('runner'),
  callRoute('wheel'),
];
