// Returner `kafka`: results and events as messages of a topic of Kafka.
import { crc32 } from 'node:zlib';
import { defineReturner, HaliteError, messageOf, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import { contentId, textList, toJson } from './shared/loads.ts';

export interface KafkaMessage {
  readonly key: string;
  readonly value: string;
}

/** As in Salt: the value is the load as JSON, the key is the load as Python prints it. */
export const returnMessage = (ret: PlainDict): KafkaMessage => ({ key: pyStr(ret), value: toJson(ret) });

function eventMessage(tag: string, data: PlainDict): KafkaMessage {
  const value = toJson(
    newDict([
      ['tag', tag],
      ['data', data],
    ]),
  );
  return { key: contentId(value), value };
}

/**
 * The partition of a key: the rule of Salt's client library, so that the same key goes to the same partition. The rule of
 * kafkajs takes a minute for a key of 100 kB.
 */
export const partitionOf = (key: string, partitions: number): number => crc32(key) % partitions;

/** By default a broker refuses more than a megabyte at once. */
const batchBytes = 900_000;

/** Messages in batches that a broker accepts; a message that is too large is sent alone. */
export function* batchesOf(messages: readonly KafkaMessage[], most = batchBytes): Generator<KafkaMessage[]> {
  let batch: KafkaMessage[] = [];
  let size = 0;
  for (const message of messages) {
    const bytes = Buffer.byteLength(message.key) + Buffer.byteLength(message.value);
    if (batch.length > 0 && size + bytes > most) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(message);
    size += bytes;
  }
  if (batch.length > 0) yield batch;
}

export default defineReturner({
  name: 'kafka',
  optionPrefix: 'returner.kafka',
  doc: 'Sends every result, or every event as `{"tag": …, "data": …}`, as a message of a topic of Kafka.',
  keeps: ['events'],
  options: {
    bootstrap: p.strings({ split: ',', doc: 'Brokers: `["server1:9092", "server2:9092"]`.' }),
    topic: p.string({ doc: 'The topic.' }),
    ssl: p.bool({ default: false, doc: 'Encrypt the connection.' }),
  },
  async open({ bootstrap, topic, ssl }) {
    const brokers = textList(bootstrap);
    if (brokers.length === 0) throw new HaliteError('config.value', 'returner.kafka.bootstrap names no brokers');
    const { Kafka, logLevel } = await import('kafkajs');
    const kafka = new Kafka({
      clientId: 'halite',
      brokers,
      ssl,
      connectionTimeout: 10_000,
      requestTimeout: 20_000,
      retry: { retries: 2 },
      // Errors are thrown; the library would also print them.
      logLevel: logLevel.NOTHING,
    });
    const producer = kafka.producer({
      createPartitioner:
        () =>
        ({ message, partitionMetadata }) =>
          partitionOf(String(message.key ?? ''), partitionMetadata.length),
    });
    const away = (error: unknown): never => {
      const refused = (error as { retriable?: boolean }).retriable === false;
      throw new HaliteError(
        refused ? 'call.failed' : 'store.unavailable',
        `kafka at ${brokers.join(', ')}: ${messageOf(error)}`,
      );
    };
    await producer.connect().catch(away);
    const send = async (messages: KafkaMessage[]): Promise<void> => {
      for (const batch of batchesOf(messages)) await producer.send({ topic, messages: batch }).catch(away);
    };
    return {
      save: (ret) => send([returnMessage(ret)]),
      saveMany: (rets) => send(rets.map(returnMessage)),
      saveEvents: (events) => send(events.map(({ tag, data }) => eventMessage(tag, data))),
      close: () => producer.disconnect(),
    };
  },
});
