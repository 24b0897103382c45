// Keys of minions.
import { z } from 'zod';
import { newDict } from '../../base/codec/value.ts';
import { needClient } from './clients.ts';
import { argsOf, type Route, route } from './route.ts';
import { keyAnswer, keyChange, listAnswer, listQuery } from './schemas.ts';
import { sendJson, sendList } from './send.ts';

const acts = ['accept', 'reject', 'delete'] as const;

export const keyRoutes: readonly Route[] = [
  route(
    {
      ...{ method: 'GET', path: '/keys', id: 'listKeys', tag: 'keys', answer: listAnswer, media: ['text/csv'] },
      query: listQuery.extend({ state: z.enum(['pending', 'accepted', 'rejected', 'denied']).optional() }),
      ...{ summary: 'The keys with their fingerprints.', needs: '@wheel key.list_all and key.finger' },
    },
    async ({ exchange, session, query }) => {
      const { format, ...window } = query;
      sendList(exchange, await session.one('keys', argsOf(window)), format);
    },
  ),
  ...acts.map((act) =>
    route(
      {
        ...{ method: 'POST', path: `/keys/${act}`, id: `${act}Keys`, tag: 'keys', body: keyChange, answer: keyAnswer },
        summary: `Keys: ${act}.${act === 'accept' ? ' The fingerprint that was compared is needed.' : ''}`,
        needs: `@wheel key.${act}`,
      },
      async ({ api, exchange, session, body }) => {
        needClient(api, 'wheel');
        const { ids, fingerprints = {} } = body;
        sendJson(
          exchange,
          await session.one('keys-change', argsOf({ act, ids, fingerprints: newDict(Object.entries(fingerprints)) })),
        );
      },
    ),
  ),
];
