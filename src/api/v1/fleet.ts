// Minions: the list, its numbers, one minion, and what a target would reach.
import { z } from 'zod';
import { argsOf, type Route, route } from './route.ts';
import { listAnswer, listQuery, mapAnswer, minionId, preview, previewAnswer } from './schemas.ts';
import { sendJson, sendList } from './send.ts';

const one = z.strictObject({ id: minionId });
const covering = 'a rule that covers the minion';

export const fleetRoutes: readonly Route[] = [
  route(
    {
      ...{ method: 'GET', path: '/fleet', id: 'listFleet', tag: 'fleet', query: listQuery, answer: listAnswer },
      ...{ summary: 'The minions that the caller may see.', needs: covering, media: ['text/csv'] },
    },
    async ({ exchange, session, query }) => {
      const { format, ...window } = query;
      sendList(exchange, await session.one('fleet', argsOf(window)), format);
    },
  ),
  route(
    {
      ...{ method: 'GET', path: '/fleet/summary', id: 'getFleetSummary', tag: 'fleet', answer: mapAnswer },
      ...{ summary: 'How many minions there are of each kind.', needs: covering },
    },
    async ({ exchange, session }) => sendJson(exchange, await session.one('summary')),
  ),
  route(
    {
      ...{ method: 'GET', path: '/minions/{id}', id: 'getMinion', tag: 'fleet', params: one, answer: mapAnswer },
      ...{ summary: 'One minion.', needs: covering },
    },
    async ({ exchange, session, params }) => sendJson(exchange, await session.one('minion', argsOf({ id: params.id }))),
  ),
  ...(['grains', 'mine', 'explain', 'timeline'] as const).map((part) =>
    route(
      {
        ...{ method: 'GET', path: `/minions/{id}/${part}`, id: `getMinion_${part}`, tag: 'fleet', params: one },
        ...{ summary: `One minion: ${part}.`, needs: 'the function of that name', answer: z.unknown() },
      },
      async ({ exchange, session, params }) =>
        sendJson(exchange, await session.one('minion', argsOf({ id: params.id, part }))),
    ),
  ),
  route(
    {
      ...{ method: 'GET', path: '/minions/{id}/pillar', id: 'getMinion_pillar', tag: 'fleet', params: one },
      query: z.strictObject({ values: z.boolean().optional() }),
      ...{ summary: 'The keys of its pillar, or the values.', needs: 'pillar.items for the values', answer: mapAnswer },
    },
    async ({ exchange, session, params, query }) =>
      sendJson(exchange, await session.one('minion', argsOf({ id: params.id, part: 'pillar', values: query.values }))),
  ),
  route(
    {
      ...{
        method: 'GET',
        path: '/minions/{id}/jobs',
        id: 'getMinion_jobs',
        tag: 'fleet',
        params: one,
        query: listQuery,
      },
      ...{ summary: 'Jobs of one minion.', needs: 'own jobs; all with @jobs', answer: listAnswer, media: ['text/csv'] },
    },
    async ({ exchange, session, params, query }) => {
      const { format, ...window } = query;
      const page = await session.one('minion', argsOf({ id: params.id, part: 'jobs', ...window }));
      sendList(exchange, page, format);
    },
  ),
  route(
    {
      ...{ method: 'POST', path: '/targets/preview', id: 'previewTarget', tag: 'fleet', body: preview },
      ...{ summary: 'Which minions a target reaches, by class.', needs: covering, answer: previewAnswer },
    },
    async ({ exchange, session, body }) => sendJson(exchange, await session.one('target', argsOf(body))),
  ),
];
