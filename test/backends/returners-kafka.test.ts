// The returner kafka: against the part of the protocol that is used, or against a real broker by hand.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlainDict } from '../../src/base/codec/value.ts';
import { eventually } from '../support/eventually.ts';
import { nextJid, openForTest, returnerSuite, someReturn } from '../support/returner-suite.ts';
import { type KafkaLike, type KafkaMessage, startKafkaLike } from '../support/servers/kafka-like.ts';

/** `HALITE_TEST_KAFKA=127.0.0.1:9092`: a real one instead of the imitation. */
const real = process.env['HALITE_TEST_KAFKA'] || undefined;
const topic = `halite-suite-${process.pid}-${Date.now()}`;

/** Everything in the topic of a real broker. */
async function messagesOf(address: string): Promise<KafkaMessage[]> {
  const { Kafka, logLevel } = await import('kafkajs');
  const kafka = new Kafka({ clientId: 'suite', brokers: [address], logLevel: logLevel.NOTHING });
  const [admin, consumer] = [kafka.admin(), kafka.consumer({ groupId: `${topic}-${nextJid()}` })];
  const messages: KafkaMessage[] = [];
  try {
    await admin.connect();
    const [offsets] = await admin.fetchTopicOffsets(topic);
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const text = (bytes: Buffer | null): string => bytes?.toString() ?? '';
    const eachMessage = async ({ message }: { message: { key: Buffer | null; value: Buffer | null } }) => {
      messages.push({ topic, key: text(message.key), value: text(message.value) });
    };
    await consumer.run({ eachMessage });
    await eventually('all messages', () => messages.length >= Number(offsets?.high ?? 0));
    return messages;
  } finally {
    await Promise.all([admin.disconnect(), consumer.disconnect()]);
  }
}

let imitation: KafkaLike | undefined;
const start = async (): Promise<boolean> => {
  if (!real) imitation ??= await startKafkaLike();
  return true;
};
const stop = async (): Promise<void> => imitation?.stop();
const options = () => ({
  'returner.kafka.bootstrap': [real ?? `127.0.0.1:${imitation!.port}`],
  'returner.kafka.topic': topic,
});
const sent = async (): Promise<KafkaMessage[]> => (real ? messagesOf(real) : imitation!.messages);
const sentValues = async (): Promise<PlainDict[]> => (await sent()).map(({ value }) => JSON.parse(value) as PlainDict);

returnerSuite({
  name: 'kafka',
  options,
  start,
  jobCache: false,
  appends: true,
  // A broker takes a megabyte, the names of fields and twice the text (it is in the key, too) included.
  largest: 400_000,
  stored: async (jid) => (await sentValues()).filter((value) => value['jid'] === jid),
  events: async () =>
    (await sentValues())
      .filter((value) => 'tag' in value)
      .map((value) => ({ tag: String(value['tag']), data: value['data'] as PlainDict })),
});

describe('messages of kafka', () => {
  beforeAll(start);
  afterAll(stop);

  it('are the load as JSON, under the load as Python prints it', async () => {
    const session = await openForTest('kafka', options());
    const jid = nextJid();
    await session.save(someReturn(jid, 'web1', { return: 'ü' }));
    const message = (await sent()).find(({ value }) => value.includes(jid));
    expect(message).toMatchObject({ topic, key: expect.stringMatching(/^\{'cmd': '_return', 'id': 'web1'/) });
    expect(JSON.parse(message!.value)).toEqual({ ...someReturn(jid, 'web1', { return: 'ü' }) });
    await session.close!();
  });

  it('arrive also when together they are more than a broker takes at once', async () => {
    const session = await openForTest('kafka', options());
    const jid = nextJid();
    const text = 'x'.repeat(150_000);
    const rets = Array.from({ length: 12 }, (_, i) => someReturn(jid, `web${i}`, { return: text }));
    await session.saveMany!(rets);
    expect((await sentValues()).filter((value) => value['jid'] === jid)).toHaveLength(rets.length);
    const large = session.save(someReturn(jid, 'web1', { return: 'x'.repeat(2_000_000) }));
    await expect(large).rejects.toMatchObject({ code: 'call.failed' });
    await session.close!();
  });

  it('need a broker', async () => {
    const opts = { 'returner.kafka.bootstrap': ['127.0.0.1:1'], 'returner.kafka.topic': 'salt' };
    await expect(openForTest('kafka', opts)).rejects.toThrow('kafka at 127.0.0.1:1: ');
    await expect(openForTest('kafka', { 'returner.kafka.topic': 'salt' })).rejects.toThrow('returner.kafka.bootstrap');
  });
});
