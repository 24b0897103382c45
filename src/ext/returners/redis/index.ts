// Returner `redis`: results and jobs in a Redis server or cluster.
import { defineReturner, p, type ReturnerSpec } from 'halite/sdk';
import { keepSeconds } from 'halite/sdk/jobs';
import { connectRedis } from '../../shared/redis/connect.ts';
import { redisSession } from './returner.ts';

const options = {
  host: p.string({ default: 'salt', doc: 'Name or address of the server.' }),
  port: p.int({ default: 6379, doc: 'Its port.' }),
  unix_socket_path: p.path({ default: null, doc: 'A socket file, instead of host and port.' }),
  db: p.int({ default: 0, doc: 'Number of the database.' }),
  username: p.string({ default: null, doc: 'User, where the server has access lists.' }),
  password: p.string({ default: null, doc: 'Password.' }),
  cluster_mode: p.bool({
    default: false,
    doc: 'The server is a cluster; `cluster.startup_nodes` has its addresses.',
  }),
  'cluster.startup_nodes': p.list({
    default: [],
    aliases: ['startup_nodes'],
    doc: 'Members of the cluster, each with `host` and `port`; one is enough.',
  }),
  'cluster.skip_full_coverage_check': p.bool({
    default: false,
    aliases: ['skip_full_coverage_check'],
    doc: 'Accepted for compatibility: this client needs no privileged commands.',
  }),
  sentinels: p.list({ default: [], doc: 'Sentinels that know the current server, each with `host` and `port`.' }),
  sentinel_name: p.string({ default: 'mymaster', doc: 'The name of the server in the sentinels.' }),
};

/** The same returner under its second name. */
export const redisSpec = {
  doc:
    'Keeps results in Redis: the hash `ret:<jid>` (minion → result as JSON), `<minion>:<function>` → last jid, the set ' +
    '`minions`, and as a job cache `load:<jid>`. Keys live as long as `keep_jobs_seconds` says.',
  keeps: ['jobs'],
  options,
  async open(given, ctx) {
    const link = await connectRedis({ ...given, startupNodes: given['cluster.startup_nodes'] });
    return redisSession(link, keepSeconds(ctx.opts));
  },
} satisfies Omit<ReturnerSpec<typeof options>, 'name'>;

export default defineReturner({ name: 'redis', ...redisSpec });
