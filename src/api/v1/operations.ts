// The master itself: findings, tokens, audit, options, files, returners; health and metrics.
import { z } from 'zod';
import { asText, newDict } from '../../base/codec/value.ts';
import { type Family, metricsText, metricsType } from '../../base/metrics/index.ts';
import type { Api } from '../api.ts';
import { ApiError } from '../http/errors.ts';
import { argsOf, openRoute, type Route, route } from './route.ts';
import { listAnswer, listQuery, mapAnswer } from './schemas.ts';
import { sendJson, sendList } from './send.ts';

const needs = "the rule '@wheel', or every right";

const lists = ['tokens', 'audit', 'config'] as const;
const titles: Readonly<Record<(typeof lists)[number], string>> = {
  tokens: 'Valid tokens by their first characters.',
  audit: 'Who did what, newest first.',
  config: 'The options of the master, without secrets.',
};

/** The metrics of this process, beside those of the master. */
function ownFamilies({ figures, streams, limits }: Api): Family[] {
  const gauge = (name: string, help: string, value: number): Family => ({
    ...{ name, help, type: 'gauge', samples: [{ value }] },
  });
  return [
    {
      ...{ name: 'halite_http_requests_total', type: 'counter', help: 'Requests to our own API by route and status.' },
      samples: figures.samples(),
    },
    gauge('halite_event_streams', 'Open streams of events.', streams.count),
    gauge('halite_api_calls', 'Calls that run now.', limits.busy),
    gauge('halite_api_memory_bytes', 'Memory of the API.', process.memoryUsage.rss()),
  ];
}

export const operationRoutes: readonly Route[] = [
  route(
    {
      ...{ method: 'GET', path: '/doctor', id: 'getFindings', tag: 'operations', answer: mapAnswer, needs },
      ...{
        query: z.strictObject({ all: z.boolean().optional() }),
        summary: 'Known problems, with repairs.',
        fails: [422],
      },
    },
    async ({ exchange, session, query }) =>
      sendJson(exchange, await session.one('operation', argsOf({ what: 'doctor', all: query.all }))),
  ),
  ...lists.map((what) =>
    route(
      {
        ...{ method: 'GET', path: `/${what}`, id: `list_${what}`, tag: 'operations', query: listQuery, needs },
        ...{ summary: titles[what], answer: listAnswer, media: ['text/csv'] },
      },
      async ({ exchange, session, query }) => {
        const { format, ...window } = query;
        sendList(exchange, await session.one('operation', argsOf({ what, ...window })), format);
      },
    ),
  ),
  route(
    {
      ...{ method: 'GET', path: '/files', id: 'list_files', tag: 'operations', needs, answer: listAnswer },
      query: listQuery.extend({ env: z.string().max(256).optional() }),
      ...{ summary: 'The files that the master serves.', media: ['text/csv'] },
    },
    async ({ exchange, session, query }) => {
      const { format, ...window } = query;
      sendList(exchange, await session.one('operation', argsOf({ what: 'files', ...window })), format);
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/returners', id: 'getReturners', tag: 'operations', needs, answer: mapAnswer },
      summary: 'The state of the stores, and how many results wait for each.',
    },
    async ({ exchange, session }) => sendJson(exchange, await session.one('operation', argsOf({ what: 'returners' }))),
  ),
  openRoute(
    {
      ...{
        method: 'GET',
        path: '/healthz',
        id: 'getHealth',
        tag: 'operations',
        summary: 'Whether this process works.',
      },
      answer: z.object({ status: z.literal('ok') }),
    },
    async ({ exchange }) => sendJson(exchange, newDict([['status', 'ok']])),
  ),
  openRoute(
    {
      ...{ method: 'GET', path: '/readyz', id: 'getReadiness', tag: 'operations' },
      ...{ summary: 'Whether the master can work, and what keeps it from that.', answer: mapAnswer, fails: [503] },
    },
    async ({ api, exchange }) => {
      const { ready, why } = await api.master.ready();
      sendJson(
        exchange,
        newDict([
          ['ready', ready],
          ['why', why],
        ]),
        ready ? 200 : 503,
      );
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/metrics', id: 'getMetrics', tag: 'operations', media: ['text/plain'] },
      ...{ summary: 'The metrics of the master and of this process, for Prometheus.', needs: 'every right' },
    },
    async ({ api, exchange, session }) => {
      const text = asText(await session.one('metrics'));
      if (text === undefined) throw new ApiError(503, 'The master has no metrics now.');
      exchange.sendRaw({
        bytes: Buffer.from(text + metricsText(ownFamilies(api))),
        headers: { 'Content-Type': metricsType, 'Cache-Control': 'no-store' },
      });
    },
  ),
];
