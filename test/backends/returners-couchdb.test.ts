// The returner couchdb against pouchdb-server, which speaks CouchDB's protocol.
import { afterAll, expect, it } from 'vitest';
import { nextJid, openForTest, returnerSuite, someReturn } from '../support/returner-suite.ts';
import type { RunningServer } from '../support/servers/install.ts';
import { startPouchDb } from '../support/servers/pouchdb.ts';

let couch: RunningServer | undefined;
const url = (path = '') => `http://127.0.0.1:${couch!.port}/${path}`;
returnerSuite({
  name: 'couchdb',
  options: () => ({ 'couchdb.url': url() }),
  start: async () => {
    couch = await startPouchDb();
    return couch !== undefined;
  },
  server: () => couch!,
});
afterAll(async () => couch?.stop());

it("the documents and views are Salt's", async (context) => {
  if (!couch) return context.skip();
  const session = await openForTest('couchdb', { couchdb: { url: url(), db: 'other' } });
  const jid = nextJid();
  await session.save(someReturn(jid, 'web1', { _stamp: '2026-01-01T00:00:00' }));
  const document = (await (await fetch(url(`other/${jid}`))).json()) as Record<string, unknown>;
  expect(document).toMatchObject({ id: 'web1', jid, fun: 'test.ping', return: true, timestamp: expect.any(Number) });
  // A job that Salt has kept has no load.
  expect((await session.jobCache!.jids()).get(jid)).toMatchObject({ fun: 'test.ping', arg: [] });
  expect(await session.jobCache!.minions()).toEqual(['web1']);
  const design = (await (await fetch(url('other/_design/salt'))).json()) as { views: object };
  expect(Object.keys(design.views).sort()).toEqual(['by-minion-fun-timestamp', 'minions']);
});
