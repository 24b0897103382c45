// The part of Kafka's protocol that a producer needs, in its oldest form: versions, one broker's topics, messages.
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface KafkaMessage {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
}

export interface KafkaLike {
  readonly port: number;
  readonly messages: KafkaMessage[];
  stop(): Promise<void>;
}

/** What a broker takes at once, as it is configured when nobody says otherwise. */
const largestBatch = 1_048_588;
const tooLarge = 10;

const api = { produce: 0, metadata: 3, versions: 18 };

class Reader {
  at = 0;
  readonly data: Buffer;
  constructor(data: Buffer) {
    this.data = data;
  }
  int16(): number {
    this.at += 2;
    return this.data.readInt16BE(this.at - 2);
  }
  int32(): number {
    this.at += 4;
    return this.data.readInt32BE(this.at - 4);
  }
  skip(bytes: number): void {
    this.at += bytes;
  }
  take(length: number): string {
    this.at += Math.max(length, 0);
    return this.data.toString('utf8', this.at - Math.max(length, 0), this.at);
  }
}

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
const list = (items: readonly Buffer[]): Buffer => Buffer.concat([int32(items.length), ...items]);

function metadata(reader: Reader, port: number): Buffer {
  const topics = Array.from({ length: reader.int32() }, () => reader.take(reader.int16()));
  const partition = Buffer.concat([int16(0), int32(0), int32(1), list([int32(1)]), list([int32(1)])]);
  return Buffer.concat([
    list([Buffer.concat([int32(1), text('127.0.0.1'), int32(port)])]),
    list(topics.map((topic) => Buffer.concat([int16(0), text(topic), list([partition])]))),
  ]);
}

/** Message sets: offset, size, checksum, two bytes, key, value. */
function produce(reader: Reader, messages: KafkaLike['messages']): Buffer {
  reader.skip(6);
  const answers: Buffer[] = [];
  for (let topics = reader.int32(); topics > 0; topics--) {
    const topic = reader.take(reader.int16());
    const partitions: Buffer[] = [];
    for (let left = reader.int32(); left > 0; left--) {
      const partition = reader.int32();
      const size = reader.int32();
      const end = size + reader.at;
      if (size > largestBatch) reader.skip(size);
      while (reader.at < end) {
        reader.skip(8 + 4 + 4 + 2);
        messages.push({ topic, key: reader.take(reader.int32()), value: reader.take(reader.int32()) });
      }
      partitions.push(Buffer.concat([int32(partition), int16(size > largestBatch ? tooLarge : 0), Buffer.alloc(8)]));
    }
    answers.push(Buffer.concat([text(topic), list(partitions)]));
  }
  return list(answers);
}

export async function startKafkaLike(): Promise<KafkaLike> {
  const messages: KafkaLike['messages'] = [];
  const sockets = new Set<Socket>();
  let port = 0;
  const answer = (request: Buffer): Buffer => {
    const reader = new Reader(request);
    const key = reader.int16();
    reader.skip(2);
    const correlation = int32(reader.int32());
    reader.take(reader.int16());
    if (key === api.versions) {
      const offered = Object.values(api).map((number) => Buffer.concat([int16(number), int16(0), int16(0)]));
      return Buffer.concat([correlation, int16(0), list(offered)]);
    }
    return Buffer.concat([correlation, key === api.metadata ? metadata(reader, port) : produce(reader, messages)]);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece as Buffer]);
      while (received.length >= 4 && received.length >= received.readInt32BE(0) + 4) {
        const size = received.readInt32BE(0);
        const reply = answer(received.subarray(4, 4 + size));
        socket.write(Buffer.concat([int32(reply.length), reply]));
        received = received.subarray(4 + size);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  return {
    port,
    messages,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
