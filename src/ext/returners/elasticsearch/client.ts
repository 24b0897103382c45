// Elasticsearch and OpenSearch over HTTP: documents, indices with Salt's aliases, searches.
import { asList, dictGet, HaliteError, isDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import {
  basicAuth,
  type HttpAnswer,
  type HttpCall,
  type HttpTls,
  httpCall,
  joinUrl,
} from '../../shared/http/request.ts';
import { jsonDict, plainDict } from '../shared/loads.ts';

export interface ElasticSettings {
  readonly hosts: readonly string[];
  readonly use_ssl: boolean;
  readonly tls: HttpTls;
  readonly username: string | null;
  readonly password: string | null;
  readonly timeoutMs: number;
  readonly shards: number;
  readonly replicas: number;
  readonly signal: AbortSignal;
}

export interface ElasticDocument {
  readonly index: string;
  /** Servers before version 7 want one. */
  readonly type: string;
  readonly id: string;
  /** JSON. */
  readonly body: string;
  /** The same without fields whose types the index has fixed: stored when the index refuses the body. */
  readonly plainBody: string;
}

export interface Elastic {
  /** Creates an index `<name>-v1` and the alias `<name>`, unless that name exists. */
  ensureIndex(name: string): Promise<void>;
  /** Stores documents; one of the same name is replaced. */
  store(documents: readonly ElasticDocument[]): Promise<void>;
  read(index: string, type: string, id: string): Promise<PlainDict | undefined>;
  /** The answer to a search, which includes everything stored before; undefined when there is no such index or field. */
  search(index: string, body: object): Promise<PlainDict | undefined>;
  /** All documents that a search finds, in order, without a limit. */
  findAll(index: string, body: object): Promise<PlainDict[]>;
}

type Ask = (call: Omit<HttpCall, 'service' | 'url'>, path: string) => Promise<HttpAnswer>;

/** Tries the servers one after the other until one answers. */
function asker(settings: ElasticSettings): Ask {
  const { username, password } = settings;
  const addresses = settings.hosts.map((host) =>
    /^https?:\/\//.test(host) ? host : `${settings.use_ssl ? 'https' : 'http'}://${host}`,
  );
  const headers: Record<string, string> = username && password ? { authorization: basicAuth(username, password) } : {};
  let best = 0;
  return async (call, path) => {
    for (let i = 0; ; i++) {
      const at = (best + i) % addresses.length;
      try {
        const answer = await httpCall({
          service: 'elasticsearch',
          url: joinUrl(addresses[at] ?? '', path),
          tls: settings.tls,
          timeoutMs: settings.timeoutMs,
          secrets: [password],
          signal: settings.signal,
          ...call,
          headers: { ...headers, ...call.headers },
        });
        best = at;
        return answer;
      } catch (error) {
        const away = error instanceof HaliteError && error.code === 'store.unavailable';
        if (!away || i + 1 >= addresses.length) throw error;
      }
    }
  };
}

export function elastic(settings: ElasticSettings): Elastic {
  const ask = asker(settings);
  const known = new Set<string>();
  const typed = rememberSuccess(() => hasTypes(ask));
  const pathOf = async ({ index, type, id }: Pick<ElasticDocument, 'index' | 'type' | 'id'>): Promise<string> =>
    `${encodeURIComponent(index)}/${encodeURIComponent((await typed()) ? type : '_doc')}/${encodeURIComponent(id)}`;
  return {
    async ensureIndex(name) {
      if (known.has(name)) return;
      await makeIndex(ask, name, settings);
      known.add(name);
    },
    async store(documents) {
      const [first] = documents;
      if (first === undefined) return;
      if (documents.length > 1) return bulk(ask, documents, await typed());
      const path = await pathOf(first);
      const answer = await ask({ method: 'PUT', json: first.body, accept: [400] }, path);
      if (answer.status === 400) await ask({ method: 'PUT', json: first.plainBody }, path);
    },
    async read(index, type, id) {
      const answer = await ask({ accept: [404] }, await pathOf({ index, type, id }));
      return answer.status === 404 ? undefined : plainDict(jsonDict(answer.text)?.['_source']);
    },
    search: (index, body) => search(ask, index, body, ''),
    async findAll(index, body) {
      const found: PlainDict[] = [];
      let page = await search(ask, index, { size: pageSize, ...body }, '&scroll=1m');
      for (let hits = hitsOf(page); hits.length > 0; hits = hitsOf(page)) {
        found.push(...hits);
        const json = JSON.stringify({ scroll: '1m', scroll_id: page?.['_scroll_id'] });
        page = jsonDict((await ask({ json }, '_search/scroll')).text);
      }
      await closeScroll(ask, page);
      return found;
    },
  };
}

/** Documents per answer: results of states are large. */
const pageSize = 500;

async function search(ask: Ask, index: string, body: object, more: string): Promise<PlainDict | undefined> {
  const lenient = '?ignore_unavailable=true&allow_no_indices=true';
  const at = encodeURIComponent(index);
  // Servers show written documents a second later unless refreshed; without permission to refresh, wait.
  await ask({ method: 'POST', accept: [400, 403, 404] }, `${at}/_refresh${lenient}`);
  const answer = await ask({ json: JSON.stringify(body), accept: [400, 404] }, `${at}/_search${lenient}${more}`);
  return answer.status < 300 ? jsonDict(answer.text) : undefined;
}

/** Frees the search context on the server; otherwise it expires after a minute. */
async function closeScroll(ask: Ask, page: PlainDict | undefined): Promise<void> {
  const id = page?.['_scroll_id'];
  if (typeof id !== 'string') return;
  const json = JSON.stringify({ scroll_id: id });
  await ask({ method: 'DELETE', json, accept: [400, 403, 404] }, '_search/scroll');
}

/** Document types were removed in version 7; OpenSearch never had them. None if the version may not be queried. */
async function hasTypes(ask: Ask): Promise<boolean> {
  const version = jsonDict((await ask({ accept: [403, 404, 405] }, '')).text)?.['version'];
  if (!isDict(version) || dictGet(version, 'distribution') === 'opensearch') return false;
  return Number.parseInt(pyStr(dictGet(version, 'number')), 10) < 7;
}

async function makeIndex(ask: Ask, name: string, { shards, replicas }: ElasticSettings): Promise<void> {
  const index = encodeURIComponent(name);
  if ((await ask({ method: 'HEAD', accept: [404] }, index)).status !== 404) return;
  const json = JSON.stringify({ settings: { number_of_shards: shards, number_of_replicas: replicas } });
  const made = await ask({ method: 'PUT', json, accept: [400] }, `${index}-v1`);
  if (made.status === 400 && !/already_exists/.test(made.text)) {
    throw new HaliteError('call.failed', `elasticsearch makes no index ${name}: ${made.text.slice(0, 200)}`);
  }
  await ask({ method: 'PUT' }, `${index}-v1/_alias/${index}`);
}

/** Many documents in one request, two lines each. Documents that an index refuses are sent again in their plain form. */
async function bulk(ask: Ask, documents: readonly ElasticDocument[], typed: boolean, plain = false): Promise<void> {
  const lines = documents.flatMap(({ index, type, id, body, plainBody }) => [
    JSON.stringify({ index: { _index: index, ...(typed ? { _type: type } : {}), _id: id } }),
    plain ? plainBody : body,
  ]);
  const body = `${lines.join('\n')}\n`;
  const answer = await ask({ method: 'POST', body, headers: { 'content-type': 'application/x-ndjson' } }, '_bulk');
  const result = jsonDict(answer.text);
  if (result?.['errors'] !== true) return;
  const items = asList(result['items']) ?? [];
  const outcomes = items.map((item) => plainDict(plainDict(item)?.['index']));
  const other = outcomes.find((item) => item?.['error'] !== undefined && (plain || item['status'] !== 400));
  if (other) {
    const again = other['status'] === 429 || Number(other['status']) >= 500;
    const reason = pyStr(plainDict(other['error'])?.['reason'] ?? 'no reason given');
    const text = `elasticsearch refused documents: ${reason}`;
    throw new HaliteError(again ? 'store.unavailable' : 'call.failed', text);
  }
  const refused = documents.filter((_, i) => outcomes[i]?.['status'] === 400);
  if (refused.length > 0) await bulk(ask, refused, typed, true);
}

function rememberSuccess<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

/** The documents of an answer. */
export function hitsOf(answer: PlainDict | undefined): PlainDict[] {
  const outer = plainDict(answer?.['hits'])?.['hits'];
  const hits: Value[] = asList(outer) ?? [];
  return hits.map((hit) => plainDict(plainDict(hit)?.['_source'])).filter((source) => source !== undefined);
}
