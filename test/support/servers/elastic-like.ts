// The part of Elasticsearch's HTTP interface that the returner uses, kept in memory; any other request is refused.
import { type Recorded, type Recorder, startRecorder } from './recorder.ts';

type Json = Record<string, unknown>;
type Answer = readonly [status: number, text?: string];

export interface ElasticLike extends Recorder {
  /** Documents of an index or alias, in the order they came. */
  documents(index: string): Json[];
}

const inner = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (at as Json | undefined)?.[name], value);

/** What the first value made of a field: a dict, or something else. */
const kindOf = (value: unknown): string => (typeof value === 'object' ? 'object' : 'concrete value');

/** Indices, and the aliases they are known by. */
class Indices {
  private readonly indices = new Map<string, Map<string, Json>>();
  private readonly aliases = new Map<string, string>();
  private readonly fields = new Map<string, string>();
  /** Documents that searches do not see yet. */
  private unseen = new Set<Json>();

  make(name: string): void {
    this.indices.set(name, new Map());
  }
  alias(name: string, index: string): void {
    this.aliases.set(name, index);
  }
  find(name: string): Map<string, Json> | undefined {
    return this.indices.get(this.aliases.get(name) ?? name);
  }
  refresh(): void {
    this.unseen = new Set();
  }
  /** Stores a document; why not, if it is refused. */
  put(index: string, id: string, text: string): string | undefined {
    if (index !== index.toLowerCase()) throw new Error('index names are lower case');
    if (!this.find(index)) this.make(index);
    const document = JSON.parse(text) as Json;
    for (const [name, value] of Object.entries(document)) {
      const known = this.fields.get(`${index} ${name}`) ?? kindOf(value);
      if (value !== null && kindOf(value) !== known) return `[${name}] is ${known}, but found ${kindOf(value)}`;
      this.fields.set(`${index} ${name}`, known);
    }
    this.find(index)!.set(id, document);
    this.unseen.add(document);
    return undefined;
  }
  /** Documents of `salt-*,-salt-master*`. */
  matching(pattern: string): Json[] {
    const parts = pattern.split(',');
    const wanted = parts.filter((part) => !part.startsWith('-'));
    const without = parts.filter((part) => part.startsWith('-')).map((part) => part.slice(1));
    const fits = (name: string, some: readonly string[]) =>
      some.some((part) => (part.endsWith('*') ? name.startsWith(part.slice(0, -1)) : name === part));
    const chosen = [...this.indices].filter(
      ([name]) => (fits(name, wanted) || fits(name.replace(/-v1$/, ''), wanted)) && !fits(name, without),
    );
    return chosen.flatMap(([, documents]) => [...documents.values()]).filter((item) => !this.unseen.has(item));
  }
}

function search(all: readonly Json[], body: Json): Json {
  const aggregated = inner(body, ['aggs', 'minions', 'terms', 'field']);
  if (aggregated !== undefined) {
    const keys = aggregated === 'minion.keyword' ? [...new Set(all.map((item) => item['minion']))] : [];
    return { aggregations: { minions: { buckets: keys.filter((key) => key !== undefined).map((key) => ({ key })) } } };
  }
  const query = inner(body, ['query', 'match']) ?? inner(body, ['query', 'match_phrase']) ?? {};
  const [field, value] = Object.entries(query as Json)[0] ?? [];
  const hits = all.filter((item) => field === undefined || item[field] === value);
  const newestFirst = JSON.stringify(body['sort'] ?? '').includes('"desc"');
  const sorted = newestFirst ? hits.reverse() : hits;
  const one =
    inner(body, ['collapse', 'field']) === 'minion.keyword' ? new Set(hits.map((item) => item['minion'])) : null;
  const first = one ? [...one].map((id) => sorted.find((item) => item['minion'] === id)!) : sorted;
  return { _scroll_id: 'all of it', hits: { hits: first.map((_source) => ({ _source })) } };
}

function bulk(indices: Indices, text: string, typed: boolean): Answer {
  const lines = text.split('\n');
  const items: Json[] = [];
  for (let i = 0; i + 1 < lines.length - 1; i += 2) {
    const { index } = JSON.parse(lines[i]!) as { index: { _index: string; _id: string; _type?: string } };
    if ((index._type !== undefined) !== typed) return [400, 'type'];
    const reason = indices.put(index._index, index._id, lines[i + 1]!);
    items.push({
      index: reason ? { status: 400, error: { type: 'mapper_parsing_exception', reason } } : { status: 201 },
    });
  }
  return [200, JSON.stringify({ errors: items.some((item) => inner(item, ['index', 'error'])), items })];
}

function answer(indices: Indices, version: string, { method, path, body }: Recorded): Answer {
  const typed = Number.parseInt(version, 10) < 7;
  const parts = path.split('?')[0]!.slice(1).split('/').map(decodeURIComponent);
  const [index = '', second = '', third = ''] = parts;
  if (method === 'GET' && path === '/' && version === '') return [403, '{}'];
  if (method === 'GET' && path === '/') return [200, JSON.stringify({ version: { number: version } })];
  if (method === 'HEAD' && parts.length === 1) return [indices.find(index) ? 200 : 404];
  if (method === 'POST' && path === '/_bulk') return bulk(indices, body, typed);
  if (method === 'POST' && second === '_refresh') {
    indices.refresh();
    return [200, '{}'];
  }
  if (path === '/_search/scroll') return [200, JSON.stringify({ _scroll_id: 'all of it', hits: { hits: [] } })];
  if (method === 'POST' && second === '_search') {
    return [200, JSON.stringify(search(indices.matching(index), JSON.parse(body) as Json))];
  }
  if (method === 'PUT' && parts.length === 1) {
    if (inner(JSON.parse(body), ['settings', 'number_of_shards']) === undefined) return [400, 'no shards'];
    indices.make(index);
    return [200, '{"acknowledged": true}'];
  }
  if (method === 'PUT' && second === '_alias') {
    indices.alias(third, index);
    return [200, '{"acknowledged": true}'];
  }
  if (parts.length !== 3 || second !== (typed ? 'default' : '_doc')) return [418, `unexpected: ${method} ${path}`];
  const refused = method === 'PUT' ? indices.put(index, third, body) : undefined;
  if (refused) return [400, JSON.stringify({ error: { type: 'mapper_parsing_exception', reason: refused } })];
  const _source = indices.find(index)?.get(third);
  return _source ? [200, JSON.stringify({ _source })] : [404, '{"found": false}'];
}

/** Starts one that says it is of some version; of none: it may not be asked. */
export async function startElasticLike(version = '8.15.0'): Promise<ElasticLike> {
  const server = await startRecorder();
  const indices = new Indices();
  server.answer((request) => answer(indices, version, request));
  return Object.assign(server, { documents: (index: string) => [...(indices.find(index)?.values() ?? [])] });
}
