// The returner couchdb against pouchdb-server, which speaks CouchDB's protocol, or against CouchDB by hand.
import { afterAll, expect, it } from 'vitest';
import { nextJid, openForTest, returnerSuite, someReturn } from '../support/returner-suite.ts';
import { startPouchDb } from '../support/servers/pouchdb.ts';
import type { RunningServer } from '../support/servers/server.ts';

/** `HALITE_TEST_COUCHDB=127.0.0.1:5984`: a real one instead. */
const real = process.env['HALITE_TEST_COUCHDB'] || undefined;
const db = `suite-${process.pid}-${Date.now()}`;
let couch: RunningServer | undefined;
const url = (path = '') => `http://${real ?? `127.0.0.1:${couch!.port}`}/${path}`;
returnerSuite({
  name: 'couchdb',
  options: () => ({ 'couchdb.url': url(), 'couchdb.db': db }),
  start: async () => {
    couch = real ? undefined : await startPouchDb();
    return real !== undefined || couch !== undefined;
  },
  ...(real ? {} : { server: () => couch! }),
});
afterAll(async () => {
  if (real) await Promise.all([db, `${db}-other`].map((name) => fetch(url(name), { method: 'DELETE' })));
  await couch?.stop();
});

it("the documents and views are Salt's", async (context) => {
  if (!couch && !real) return context.skip();
  const session = await openForTest('couchdb', { couchdb: { url: url(), db: `${db}-other` } });
  const jid = nextJid();
  await session.save(someReturn(jid, 'web1', { _stamp: '2026-01-01T00:00:00' }));
  const document = (await (await fetch(url(`${db}-other/${jid}`))).json()) as Record<string, unknown>;
  expect(document).toMatchObject({ id: 'web1', jid, fun: 'test.ping', return: true, timestamp: expect.any(Number) });
  // A job that Salt has kept has no load.
  expect((await session.jobCache!.jids()).get(jid)).toMatchObject({ fun: 'test.ping', arg: [] });
  expect(await session.jobCache!.minions()).toEqual(['web1']);
  const design = (await (await fetch(url(`${db}-other/_design/salt`))).json()) as { views: object };
  expect(Object.keys(design.views).sort()).toEqual(['by-minion-fun-timestamp', 'minions']);
});
