// Returner `influxdb`: results and jobs as points of InfluxDB 1.x, in Salt's measurements.
import { defineReturner, type JobCache, newDict, type PlainDict, p } from 'halite/sdk';
import { fromJson, jsonDict, keysOf, toJson } from '../shared/loads.ts';
import { type Influx, influx, literal, type Point, type Row } from './client.ts';

/** The result is stored once, separately from the rest of the load. */
export function returnPoint(ret: PlainDict): Point {
  const { id, jid, fun } = keysOf(ret);
  const rest = newDict(Object.entries(ret).filter(([name]) => name !== 'return'));
  return {
    measurement: 'returns',
    tags: { fun, id, jid },
    fields: { return: toJson(ret['return'] ?? null), full_ret: toJson(rest) },
    jid,
  };
}

function loadOf(row: Row): PlainDict {
  return newDict([...Object.entries(jsonDict(row['full_ret']) ?? {}), ['return', fromJson(row['return']) ?? null]]);
}

const byMinion = (rows: readonly Row[]): Map<string, PlainDict> =>
  new Map(rows.map((row) => [row['id'] ?? '', loadOf(row)]));

function jobCacheOf(server: Influx): JobCache {
  return {
    saveLoad: (jid, load) =>
      server.write([{ measurement: 'jids', tags: { jid }, fields: { load: toJson(load) }, jid }]),
    async load(jid) {
      const rows = await server.query(`SELECT "load" FROM "jids" WHERE "jid" = ${literal(jid)}`);
      return jsonDict(rows.at(-1)?.['load']);
    },
    async returns(jid) {
      return byMinion(
        await server.query(`SELECT "id", "return", "full_ret" FROM "returns" WHERE "jid" = ${literal(jid)}`),
      );
    },
    async lastOf(fun) {
      const wanted = 'SELECT last("full_ret") AS "full_ret", "return" FROM "returns"';
      return byMinion(await server.query(`${wanted} WHERE "fun" = ${literal(fun)} GROUP BY "id"`));
    },
    async jids() {
      const rows = await server.query('SELECT "jid", "load" FROM "jids"');
      const jobs = new Map<string, PlainDict>();
      for (const row of rows) {
        const load = jsonDict(row['load']);
        if (load) jobs.set(row['jid'] ?? '', load);
      }
      return jobs;
    },
    async minions() {
      const rows = await server.query('SHOW TAG VALUES FROM "returns" WITH KEY = "id"');
      return rows.map((row) => row['value'] ?? '');
    },
  };
}

export default defineReturner({
  name: 'influxdb',
  doc:
    'Writes results as points of the measurement `returns` (tags fun, id, jid; fields return and full_ret as JSON) and ' +
    'jobs as points of `jids`, with the time of the job. The database is made when it is not there.',
  keeps: ['jobs'],
  options: {
    host: p.string({ default: 'localhost', doc: 'Name or address of the server.' }),
    port: p.int({ default: 8086, doc: 'Its port.' }),
    db: p.string({ default: 'salt', doc: 'The database.' }),
    user: p.string({ default: 'salt', doc: 'User.' }),
    password: p.string({ default: 'salt', doc: 'Password.' }),
    ssl: p.bool({ default: false, doc: 'Encrypt the connection.' }),
    verify_ssl: p.bool({ default: true, doc: "Check the server's certificate." }),
  },
  open(given, ctx) {
    const server = influx({ ...given, signal: ctx.signal });
    return {
      save: (ret) => server.write([returnPoint(ret)]),
      saveMany: (rets) => server.write(rets.map(returnPoint)),
      jobCache: jobCacheOf(server),
    };
  },
});
