// A session with MongoDB: Salt's collections `saltReturns`, `jobs` and `events`.

import { HaliteError, type JobCache, messageOf, type PlainDict, type ReturnerSession } from 'halite/sdk';
import type { Db, MongoClient } from 'mongodb';
import { hostPort } from '../../shared/http/request.ts';
import { type Document, eventDocument, jobDocument, jobOf, type Kinds, loadOf, returnDocument } from './documents.ts';

export interface MongoSettings {
  readonly host: string | null;
  readonly port: number;
  readonly db: string;
  readonly user: string | null;
  readonly password: string | null;
  readonly indexes: boolean;
  readonly uri: string | null;
  /** The database for authentication. */
  readonly authSource: string;
}

const timeoutMs = 10_000;

interface Connection {
  readonly client: MongoClient;
  readonly place: string;
  readonly kinds: Kinds;
}

async function connect(settings: MongoSettings): Promise<Connection> {
  const { Double, MongoClient, ObjectId } = await import('mongodb');
  const { host, port, user, password, uri } = settings;
  if (uri !== null && host !== null) {
    throw new HaliteError('config.value', 'The mongo returner wants mongo.uri or mongo.host, not both');
  }
  // Only the hosts, because the address may contain a password.
  const place =
    uri === null ? hostPort(host ?? 'salt', port) : (/^[\w+]+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(uri)?.[1] ?? '?');
  const common = { serverSelectionTimeoutMS: timeoutMs, connectTimeoutMS: timeoutMs, socketTimeoutMS: 30_000 };
  const auth = user && password ? { auth: { username: user, password }, authSource: settings.authSource } : {};
  try {
    const address = uri ?? `mongodb://${hostPort(host ?? 'salt', port)}/`;
    const client = new MongoClient(address, uri === null ? { ...common, ...auth } : common);
    const kinds = { float: (value: number) => new Double(value), id: (hex: string) => new ObjectId(hex) };
    return { client, place, kinds };
  } catch {
    // The driver's message repeats the address, with the password.
    throw new HaliteError('config.value', 'mongo.uri is not an address of MongoDB');
  }
}

/** Runs once, and again after a failure. */
async function makeIndexes(db: Db): Promise<void> {
  await db.collection('saltReturns').createIndex('minion');
  await db.collection('saltReturns').createIndex('jid');
  await db.collection('jobs').createIndex('jid');
  await db.collection('events').createIndex('tag');
}

type Guarded = <T>(work: (db: Db) => Promise<T>) => Promise<T>;

export async function mongoSession(settings: MongoSettings): Promise<ReturnerSession> {
  const { client, place, kinds } = await connect(settings);
  const db = settings.uri === null ? client.db(settings.db) : client.db();
  let ready = !settings.indexes;
  const guarded: Guarded = async (work) => {
    try {
      if (!ready) await makeIndexes(db);
      ready = true;
      return await work(db);
    } catch (error) {
      const own = messageOf(error);
      const why = settings.password ? own.replaceAll(settings.password, '***') : own;
      const away = error instanceof Error && /^Mongo(?:Network|ServerSelection|Topology)/.test(error.name);
      throw new HaliteError(away ? 'store.unavailable' : 'call.failed', `mongodb at ${place}: ${why}`);
    }
  };
  const saveMany = (rets: readonly PlainDict[]): Promise<void> =>
    guarded((at) =>
      replaceAll(
        at,
        'saltReturns',
        rets.map((ret) => returnDocument(ret, kinds)),
      ),
    );
  return {
    save: (ret) => saveMany([ret]),
    saveMany,
    saveEvents: (events) =>
      guarded((at) =>
        replaceAll(
          at,
          'events',
          events.map(({ tag, data }) => eventDocument(tag, data, kinds)),
        ),
      ),
    jobCache: jobCacheOf(guarded, kinds),
    close: () => client.close(),
  };
}

/** Replaces documents of the same name, or adds them, so that no document exists twice. */
async function replaceAll(db: Db, collection: string, documents: readonly Document[]): Promise<void> {
  if (documents.length === 0) return;
  const writes = documents.map(({ _id, ...replacement }) => {
    const filter: Document = { _id };
    return { replaceOne: { filter, replacement, upsert: true } };
  });
  await db.collection<Document>(collection).bulkWrite(writes, { ordered: true });
}

/** Numbers keep their type: 1.0 is not 1. */
const typed = { promoteValues: false };

function jobCacheOf(guarded: Guarded, kinds: Kinds): JobCache {
  return {
    saveLoad: (jid, load) => guarded((db) => replaceAll(db, 'jobs', [jobDocument(jid, load, kinds)])),
    load: (jid) =>
      guarded(async (db) => {
        const found = await db.collection('jobs').findOne({ jid }, typed);
        return found ? jobOf(found) : undefined;
      }),
    returns: (jid) =>
      guarded(async (db) => {
        const found = await db.collection('saltReturns').find({ jid }, typed).toArray();
        return new Map(found.map((item) => [String(item['minion']), loadOf(item['full_ret'])]));
      }),
    lastOf: (fun) =>
      guarded(async (db) => {
        // Job ids sort by time.
        const steps = [
          { $match: { fun } },
          { $sort: { jid: 1 } },
          { $group: { _id: '$minion', full_ret: { $last: '$full_ret' } } },
        ];
        const found = await db
          .collection('saltReturns')
          .aggregate(steps, { allowDiskUse: true, ...typed })
          .toArray();
        return new Map(found.map((item) => [String(item['_id']), loadOf(item['full_ret'])]));
      }),
    jids: () =>
      guarded(async (db) => {
        const found = await db.collection('jobs').find({}, typed).toArray();
        return new Map(found.map((item) => [String(item['jid']), jobOf(item)]));
      }),
    minions: () => guarded(async (db) => (await db.collection('saltReturns').distinct('minion')).map(String)),
  };
}
