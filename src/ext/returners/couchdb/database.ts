// A database of CouchDB over HTTP: documents, views, and the design document Salt's tools read.
import { HaliteError, newDict, type PlainDict, type Value } from 'halite/sdk';
import { type HttpAnswer, httpCall, joinUrl } from '../../shared/http/request.ts';
import { fromJson, jsonDict, plainDict, toJson } from '../shared/loads.ts';

export interface Database {
  /** Stores a new document; false when one of this name exists. Creates the database if it is missing. */
  create(id: string, document: PlainDict): Promise<boolean>;
  read(id: string): Promise<PlainDict | undefined>;
  /** Documents by name, from one to another. */
  range(from: string, to: string): Promise<PlainDict[]>;
  /** The names of all documents. */
  names(): Promise<string[]>;
  several(ids: readonly string[]): Promise<PlainDict[]>;
  /** Rows of a view of the design document `salt`. */
  view(name: string, params: Readonly<Record<string, string>>): Promise<PlainDict[]>;
}

/** The views that Salt's returner creates and queries. */
const views = {
  minions: { map: 'function (doc) { if (doc.id) { emit(doc.id, null); } }', reduce: '_count' },
  'by-minion-fun-timestamp': {
    map: 'function (doc) { if (doc.id) { emit([doc.id, doc.fun, doc.timestamp], doc); } }',
  },
};
const design = '_design/salt';

export function couchDatabase(server: string, name: string, signal: AbortSignal): Database {
  const base = joinUrl(server, encodeURIComponent(name));
  const service = 'couchdb';
  const pathOf = (id: string): string => (id.startsWith('_') ? id : encodeURIComponent(id));
  const get = (path: string): Promise<HttpAnswer> =>
    httpCall({ service, url: joinUrl(base, path), accept: [404], signal });
  const put = (path: string, json: string): Promise<HttpAnswer> =>
    httpCall({
      service,
      url: path === '' ? base : joinUrl(base, path),
      method: 'PUT',
      json,
      accept: [404, 409, 412],
      signal,
    });
  const create = async (id: string, text: string): Promise<boolean> => {
    let answer = await put(pathOf(id), text);
    if (answer.status === 404) {
      await put('', '');
      answer = await put(pathOf(id), text);
    }
    if (answer.status === 404) throw new HaliteError('call.failed', `couchdb has no database ${name} and makes none`);
    return answer.status !== 409;
  };
  const ensureViews = once(() => makeViews(get, put));
  return {
    create: (id, document) => create(id, toJson(document)),
    async read(id) {
      const answer = await get(pathOf(id));
      return answer.status === 404 ? undefined : jsonDict(answer.text);
    },
    range: async (from, to) =>
      docs(await get(`_all_docs?${query({ include_docs: true, startkey: from, endkey: to })}`)),
    names: async () => rows(await get('_all_docs')).map((row) => String(row['id'])),
    async several(ids) {
      if (ids.length === 0) return [];
      const json = toJson(newDict([['keys', [...ids]]]));
      return docs(await httpCall({ service, url: joinUrl(base, '_all_docs?include_docs=true'), json, signal }));
    },
    async view(view, params) {
      await ensureViews();
      return rows(await get(`${design}/_view/${view}?${new URLSearchParams(params)}`));
    },
  };
}

function rows(answer: HttpAnswer): PlainDict[] {
  if (answer.status === 404) return [];
  const found = jsonDict(answer.text)?.['rows'];
  return Array.isArray(found) ? found.map(plainDict).filter((row) => row !== undefined) : [];
}

function docs(answer: HttpAnswer): PlainDict[] {
  return rows(answer)
    .map((row) => plainDict(row['doc']))
    .filter((doc) => doc !== undefined);
}

/** Parameters whose values are JSON. */
function query(params: Readonly<Record<string, Value>>): URLSearchParams {
  return new URLSearchParams(Object.fromEntries(Object.entries(params).map(([name, value]) => [name, toJson(value)])));
}

/** Adds missing views and does not change others. */
async function makeViews(
  get: (path: string) => Promise<HttpAnswer>,
  put: (path: string, json: string) => Promise<HttpAnswer>,
): Promise<void> {
  const answer = await get(design);
  const there = answer.status === 404 ? newDict() : (jsonDict(answer.text) ?? newDict());
  const old = plainDict(there['views']) ?? newDict();
  const missing = Object.entries(views).filter(([name]) => old[name] === undefined);
  if (missing.length === 0) return;
  const wanted = newDict(
    Object.entries({ ...old, ...(fromJson(JSON.stringify(Object.fromEntries(missing))) as object) }),
  );
  // Another client has added them in between.
  await put(design, toJson(newDict([...Object.entries(there), ['views', wanted], ['language', 'javascript']])));
}

/** Runs a function until it has succeeded once. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}
