// The part of MongoDB's wire protocol that a driver needs to write and read a few collections, kept in memory.

import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { BSON } from 'mongodb';

type Document = Record<string, unknown>;

export interface MongoLike {
  readonly port: number;
  collection(name: string): Document[];
  /** Names of commands, in order, without those a driver sends by itself. */
  readonly commands: string[];
  stop(): Promise<void>;
}

const hello = {
  ...{ ok: 1, isWritablePrimary: true, ismaster: true, helloOk: true, minWireVersion: 0, maxWireVersion: 25 },
  ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000, readOnly: false },
};

/** Numbers keep their types. */
const asWritten = { promoteValues: false };

const fits = (item: Document, filter: Document): boolean =>
  Object.entries(filter).every(([name, value]) => String(item[name]) === String(value));

function update(items: Document[], { q, u, upsert }: { q: Document; u: Document; upsert?: boolean }): Document {
  const at = items.findIndex((item) => fits(item, q));
  if (at >= 0) {
    items[at] = { _id: items[at]!['_id'], ...u };
    return { n: 1, nModified: 1 };
  }
  if (!upsert) return { n: 0, nModified: 0 };
  const _id = u['_id'] ?? q['_id'] ?? new BSON.ObjectId();
  items.push({ _id, ...u });
  return { n: 1, nModified: 0, upserted: [{ index: 0, _id }] };
}

function find(items: Document[], command: Document, ns: string): Document {
  const [order] = Object.keys((command['sort'] as Document | undefined) ?? {});
  const found = items.filter((item) => fits(item, (command['filter'] as Document | undefined) ?? {}));
  if (order) found.sort((a, b) => (String(a[order]) < String(b[order]) ? -1 : 1));
  return { ok: 1, cursor: { id: BSON.Long.fromNumber(0), ns, firstBatch: found } };
}

/** The last of each group: `$match`, `$sort` and `$group` with one `$last`. */
function aggregate(items: Document[], command: Document, ns: string): Document {
  const [{ $match }, { $sort }, { $group }] = command['pipeline'] as [Document, Document, Document] as [
    { $match: Document },
    { $sort: Document },
    { $group: Record<string, unknown> },
  ];
  const { cursor } = find(items, { filter: $match, sort: $sort }, ns) as { cursor: { firstBatch: Document[] } };
  const { _id, ...fields } = $group;
  const groups = new Map<unknown, Document>();
  for (const item of cursor.firstBatch) {
    const key = item[String(_id).slice(1)];
    const last = Object.entries(fields as Record<string, { $last: string }>).map(([name, { $last }]) => [
      name,
      item[$last.slice(1)],
    ]);
    groups.set(key, { _id: key, ...Object.fromEntries(last) });
  }
  return { ok: 1, cursor: { id: BSON.Long.fromNumber(0), ns, firstBatch: [...groups.values()] } };
}

function run(store: Map<string, Document[]>, command: Document, sequences: Record<string, Document[]>): Document {
  const [name = '', target] = Object.entries(command)[0] ?? [];
  const items = store.get(String(target)) ?? [];
  store.set(String(target), items);
  switch (name) {
    case 'update': {
      const updates = (sequences['updates'] ?? command['updates']) as { q: Document; u: Document; upsert?: boolean }[];
      const done = updates.map((item, index) => ({ ...update(items, item), index }));
      const upserted = done.flatMap((item: Document) =>
        ((item['upserted'] as Document[] | undefined) ?? []).map((one) => ({ ...one, index: item['index'] })),
      );
      const changed = done.reduce((sum, item: Document) => sum + Number(item['nModified']), 0);
      return { ok: 1, n: done.length, nModified: changed, ...(upserted.length > 0 ? { upserted } : {}) };
    }
    case 'find':
      return find(items, command, `${command['$db']}.${target}`);
    case 'aggregate':
      return aggregate(items, command, `${command['$db']}.${target}`);
    case 'distinct':
      return { ok: 1, values: [...new Set(items.map((item) => item[String(command['key'])]))] };
    case 'createIndexes':
    case 'endSessions':
    case 'ping':
      return { ok: 1 };
    case 'hello':
    case 'ismaster':
      return hello;
    default:
      return { ok: 0, errmsg: `no such command: ${name}`, code: 59 };
  }
}

/** Kind 0 is the command; kind 1 sequences of documents that belong to it. */
function parse(body: Buffer): { command: Document; sequences: Record<string, Document[]> } {
  let command: Document = {};
  const sequences: Record<string, Document[]> = {};
  let at = 4;
  while (at < body.length) {
    const kind = body[at++];
    const size = body.readInt32LE(at);
    if (kind === 0) command = BSON.deserialize(body.subarray(at, at + size), asWritten);
    else {
      const nameEnd = body.indexOf(0, at + 4);
      const documents: Document[] = [];
      for (let i = nameEnd + 1; i < at + size; i += body.readInt32LE(i)) {
        documents.push(BSON.deserialize(body.subarray(i, i + body.readInt32LE(i)), asWritten));
      }
      sequences[body.toString('utf8', at + 4, nameEnd)] = documents;
    }
    at += size;
  }
  return { command, sequences };
}

function framed(requestId: number, opcode: number, head: Buffer, document: Document): Buffer {
  const data = Buffer.concat([head, BSON.serialize(document)]);
  const header = Buffer.alloc(16);
  header.writeInt32LE(16 + data.length, 0);
  header.writeInt32LE(requestId, 8);
  header.writeInt32LE(opcode, 12);
  return Buffer.concat([header, data]);
}

export async function startMongoLike(): Promise<MongoLike> {
  const store = new Map<string, Document[]>();
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const answer = (message: Buffer): Buffer => {
    const id = message.readInt32LE(4);
    // The first greeting comes in the form of old drivers: flags, cursor, start and count before the document.
    const old = Buffer.alloc(20);
    old.writeInt32LE(1, 16);
    if (message.readInt32LE(12) === 2004) return framed(id, 1, old, hello);
    const { command, sequences } = parse(message.subarray(16));
    const [name = ''] = Object.keys(command);
    if (!['hello', 'ismaster', 'endSessions', 'ping'].includes(name)) commands.push(name);
    return framed(id, 2013, Buffer.alloc(5), run(store, command, sequences));
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece as Buffer]);
      while (received.length >= 4 && received.length >= received.readInt32LE(0)) {
        const size = received.readInt32LE(0);
        socket.write(answer(received.subarray(0, size)));
        received = received.subarray(size);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    collection: (name) => (store.get(name) ?? []).map((item) => BSON.deserialize(BSON.serialize(item))),
    commands,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
