// Returner `elasticsearch`: results, jobs and events as documents, in Salt's indices.
import { asList, defineReturner, type JobCache, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import { contentId, keysOf, plainDict, textList } from '../shared/loads.ts';
import { type Elastic, type ElasticDocument, elastic, hitsOf } from './client.ts';
import { bodiesOf, dated, documentOf, loadOf, openField } from './documents.ts';

const options = {
  host: p.strings({ default: null, split: ',', doc: 'The server, if there is only one.' }),
  hosts: p.strings({ default: ['127.0.0.1:9200'], split: ',', doc: 'Servers, tried one after the other.' }),
  use_ssl: p.bool({ default: false, doc: 'Encrypt the connection.' }),
  ca_certs: p.path({ default: null, doc: 'File of the certificate authority.' }),
  verify_certs: p.bool({ default: true, doc: "Check the server's certificate." }),
  username: p.string({ default: null, doc: 'User.' }),
  password: p.string({ default: null, doc: 'Password.' }),
  timeout: p.float({ default: 10, doc: 'Seconds to wait for an answer.' }),
  debug_returner_payload: p.bool({ default: false, doc: 'Log every document at level debug.' }),
  doc_type: p.string({ default: 'default', doc: 'Type of results, for servers before version 7.' }),
  functions_blacklist: p.strings({ default: [], split: ',', doc: 'Functions whose results are not stored.' }),
  index_date: p.bool({ default: false, doc: 'A new index each day: `<index>-2026.11.29`.' }),
  master_event_index: p.string({ default: 'salt-master-event-cache', doc: 'Index of events.' }),
  master_event_doc_type: p.string({ default: 'default', doc: 'Type of events, for servers before version 7.' }),
  master_job_cache_index: p.string({ default: 'salt-master-job-cache', doc: 'Index of jobs.' }),
  master_job_cache_doc_type: p.string({ default: 'default', doc: 'Type of jobs, for servers before version 7.' }),
  number_of_shards: p.int({ default: 1, doc: 'Shards of a new index.' }),
  number_of_replicas: p.int({ default: 0, doc: 'Replicas of a new index.' }),
  states_count: p.bool({ default: false, doc: 'Count states that succeeded and failed.' }),
  states_order_output: p.bool({
    default: false,
    doc: 'Prefix names of states with their run number, in an index `<index>-ordered`.',
  }),
  states_single_index: p.bool({ default: false, doc: 'Store results of all state functions in `salt-state_apply`.' }),
};

/** The maximum number of documents in one answer. */
const most = 10_000;

interface Places {
  readonly jobs: string;
  readonly jobType: string;
  /** Every index of results. */
  readonly results: string;
}

function jobCacheOf(server: Elastic, { jobs, jobType, results }: Places): JobCache {
  const newestLast = { sort: [{ '@timestamp': { order: 'asc', unmapped_type: 'date' } }] };
  const newestFirst = { sort: [{ '@timestamp': { order: 'desc', unmapped_type: 'date' } }] };
  const minionsIn = async (field: string): Promise<string[]> => {
    const answer = await server.search(results, { size: 0, aggs: { minions: { terms: { field, size: most } } } });
    const buckets = plainDict(plainDict(answer?.['aggregations'])?.['minions'])?.['buckets'];
    return (asList(buckets) ?? []).map((bucket) => pyStr(plainDict(bucket)?.['key']));
  };
  /** The newest result of each minion. */
  const newestOf = async (fun: string, field: string): Promise<PlainDict[]> => {
    const index = `salt-${fun.replaceAll('.', '_').toLowerCase()}*,salt-state_apply*`;
    const query = { match_phrase: { fun } };
    const found = hitsOf(await server.search(index, { size: most, query, collapse: { field }, ...newestFirst }));
    return found.filter((document) => document['fun'] === fun);
  };
  return {
    async saveLoad(jid, load) {
      await server.ensureIndex(jobs);
      const bodies = bodiesOf(newDict([['jid', jid]]), 'load', load, load);
      await server.store([{ index: jobs, type: jobType, id: jid, ...bodies }]);
    },
    load: async (jid) => {
      const found = await server.read(jobs, jobType, jid);
      return found && plainDict(openField(found, 'load'));
    },
    async returns(jid) {
      const found = await server.findAll(results, { query: { match: { jid } }, ...newestLast });
      return new Map(found.map((document) => [pyStr(document['minion']), loadOf(document)]));
    },
    async lastOf(fun) {
      const found = await newestOf(fun, 'minion.keyword');
      const last = found.length > 0 ? found : await newestOf(fun, 'minion');
      return new Map(last.map((document) => [pyStr(document['minion']), loadOf(document)]));
    },
    async jids() {
      const found = await server.findAll(jobs, { query: { match_all: {} } });
      return new Map(found.map((item) => [pyStr(item['jid']), plainDict(openField(item, 'load')) ?? newDict()]));
    },
    async minions() {
      // How the field is indexed depends on whether there is an index template.
      const found = await minionsIn('minion.keyword');
      return found.length > 0 ? found : minionsIn('minion');
    },
  };
}

export default defineReturner({
  name: 'elasticsearch',
  doc:
    'Keeps results in Elasticsearch or OpenSearch, in an index per function (`salt-test_ping`), events in ' +
    '`salt-master-event-cache` and jobs in `salt-master-job-cache`. Indices are made as `<index>-v1` with an alias.',
  keeps: ['jobs', 'events'],
  options,
  open(given, ctx) {
    const hosts = textList(given.host).length > 0 ? textList(given.host) : textList(given.hosts);
    const server = elastic({
      ...given,
      hosts,
      tls: { verify: given.verify_certs, ca: given.ca_certs },
      timeoutMs: given.timeout * 1000,
      shards: given.number_of_shards,
      replicas: given.number_of_replicas,
      signal: ctx.signal,
    });
    const unwanted = new Set(textList(given.functions_blacklist));
    const saveMany = async (rets: readonly PlainDict[]): Promise<void> => {
      const documents: ElasticDocument[] = [];
      for (const ret of rets) {
        const { id, jid, fun } = keysOf(ret);
        if (unwanted.has(fun) || ret['return'] === null || ret['return'] === undefined) continue;
        const { index, ...bodies } = documentOf(ret, given);
        await server.ensureIndex(index);
        if (given.debug_returner_payload) ctx.log.debug('elasticsearch payload', { body: bodies.body });
        // Named after job and minion, so writing it twice gives one document.
        documents.push({ index, type: given.doc_type, id: `${jid}-${id}`, ...bodies });
      }
      await server.store(documents);
    };
    return {
      save: (ret) => saveMany([ret]),
      saveMany,
      async saveEvents(events) {
        const index = dated(given.master_event_index, given.index_date);
        await server.ensureIndex(index);
        const type = given.master_event_doc_type;
        const bodies = events.map(({ tag, data }) => bodiesOf(newDict([['tag', tag]]), 'data', data, data));
        await server.store(bodies.map((each) => ({ index, type, id: contentId(each.body), ...each })));
      },
      jobCache: jobCacheOf(server, {
        jobs: given.master_job_cache_index,
        jobType: given.master_job_cache_doc_type,
        results: `salt-*,-${given.master_job_cache_index}*,-${given.master_event_index}*`,
      }),
    };
  },
});
