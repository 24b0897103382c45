// Returner `couchdb`: results and jobs as documents of CouchDB.
import { defineReturner, type JobCache, newDict, type PlainDict, PyFloat, p, pyStr } from 'halite/sdk';
import { isJid } from 'halite/sdk/jobs';
import { keysOf, plainDict, toJson } from '../shared/loads.ts';
import { couchDatabase, type Database } from './database.ts';

const now = (): PyFloat => new PyFloat(Date.now() / 1000);
/** Sorts after every text with the same prefix. */
const last = '\ufff0';

/** CouchDB reserves field names that begin with `_`. */
const withoutOwn = (document: PlainDict): [string, PlainDict[string]][] =>
  Object.entries(document).filter(([name]) => !name.startsWith('_'));

/**
 * Salt names a document after its job, so it can only store the first minion of a job. Here the names of the other
 * documents are the job id followed by the minion id.
 */
async function save(database: Database, ret: PlainDict): Promise<void> {
  const { id, jid } = keysOf(ret);
  const document = newDict([...withoutOwn(ret), ['timestamp', now()]]);
  if (await database.create(jid, document)) return;
  const first = await database.read(jid);
  if (first && pyStr(first['id']) === id) return;
  await database.create(`${jid}:${id}`, document);
}

/** The return load inside a document. */
function loadIn(document: PlainDict): PlainDict {
  return newDict(withoutOwn(document).filter(([name]) => name !== 'timestamp'));
}

async function jobs(database: Database): Promise<Map<string, PlainDict>> {
  const found = new Map<string, PlainDict>();
  for (const document of await database.range('load:', `load:${last}`)) {
    const load = plainDict(document['load']);
    if (load) found.set(pyStr(document['jid']), load);
  }
  // Jobs that Salt stored have only their first result.
  const others = (await database.names()).filter((name) => isJid(name) && !found.has(name));
  for (const document of await database.several(others)) {
    const load = loadIn(document);
    found.set(pyStr(document['_id']), newDict([...Object.entries(load), ['arg', load['fun_args'] ?? []]]));
  }
  return found;
}

function jobCacheOf(database: Database): JobCache {
  const minions = async (): Promise<string[]> => {
    // Without the reduce step, because Salt's own fails on the server.
    const rows = await database.view('minions', { reduce: 'false' });
    return [...new Set(rows.map((row) => row['key']).filter((key) => key !== null && key !== undefined))].map(pyStr);
  };
  return {
    async saveLoad(jid, load, expected) {
      const fields = { jid, load, minions: [...expected], timestamp: now() };
      await database.create(`load:${jid}`, newDict(Object.entries(fields)));
    },
    load: async (jid) => plainDict((await database.read(`load:${jid}`))?.['load']),
    async returns(jid) {
      const documents = await database.range(jid, `${jid}:${last}`);
      return new Map(documents.map((document) => [pyStr(document['id']), loadIn(document)]));
    },
    async lastOf(fun) {
      const found = new Map<string, PlainDict>();
      for (const id of await minions()) {
        const from = toJson([id, fun, newDict()]);
        const params = { descending: 'true', limit: '1', startkey: from, endkey: toJson([id, fun, 0]) };
        const [row] = await database.view('by-minion-fun-timestamp', params);
        const document = plainDict(row?.['value']);
        if (document) found.set(id, loadIn(document));
      }
      return found;
    },
    jids: () => jobs(database),
    minions,
  };
}

export default defineReturner({
  name: 'couchdb',
  doc:
    'Keeps every result as a document named after its job (further minions of a job: `<jid>:<minion>`), with a ' +
    'timestamp, and jobs as `load:<jid>`. The database and the design document `salt` are made when they are missing.',
  keeps: ['jobs'],
  options: {
    url: p.string({ default: 'http://salt:5984/', doc: 'Address of the server, with name and password if needed.' }),
    db: p.string({ default: 'salt', doc: 'The database.' }),
  },
  open({ url, db }, ctx) {
    const database = couchDatabase(url, db, ctx.signal);
    return { save: (ret) => save(database, ret), jobCache: jobCacheOf(database) };
  },
});
