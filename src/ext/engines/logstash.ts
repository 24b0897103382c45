// Engine `logstash`: events to an input of Logstash for TCP or UDP.
import { createSocket, type Socket } from 'node:dgram';
import { hostname } from 'node:os';
import {
  defineEngine,
  dictEntries,
  HaliteError,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { persistently, toLine, wantedEvents, whichEvents } from './shared/events.ts';
import { LineSocket } from './shared/socket.ts';

/** The form of Logstash's own library for Python: fields of its own, then those of the event. */
function recordOf(tag: string, data: readonly [Value, Value][], host: string): PlainDict {
  const own: [string, Value][] = [
    ['@timestamp', new Date().toISOString()],
    ['@version', '1'],
    ['message', tag],
    ['host', host],
    ['type', 'logstash'],
    ['tags', []],
    ['level', 'INFO'],
    ['logger_name', 'python-logstash-logger'],
  ];
  const names = new Set(own.map(([name]) => name));
  const rest = data.map(([name, value]): [string, Value] => [pyStr(name), value]);
  return newDict([...own, ...rest.filter(([name]) => !names.has(name))]);
}

/** A datagram cannot be longer. */
const longestDatagram = 65_507;

function datagram(socket: Socket, text: string, port: number, host: string): Promise<void> {
  const bytes = Buffer.from(text);
  if (bytes.length > longestDatagram)
    throw new HaliteError(
      'call.failed',
      `it has ${bytes.length} bytes, which do not fit into a datagram; use proto: tcp`,
    );
  return new Promise((resolve, reject) => {
    socket.send(bytes, port, host, (error) => {
      if (!error) return resolve();
      reject(
        new HaliteError('store.unavailable', `logstash at ${host}:${port} cannot be reached: ${messageOf(error)}`),
      );
    });
  });
}

export default defineEngine({
  name: 'logstash',
  doc: 'Sends events to Logstash over UDP or TCP, in the form that python-logstash uses.',
  examples: ['engines:\n  - logstash:\n      host: logs.example.com\n      port: 5959\n      proto: tcp'],
  params: {
    host: p.string({ doc: 'The host.' }),
    port: p.int({ default: 5959, doc: 'The port.' }),
    tag: p.string({ default: 'salt/engine/logstash', doc: 'The field message of every record.' }),
    proto: p.string({ default: 'udp', doc: '`udp` or `tcp`.' }),
    ...whichEvents,
  },
  async start({ host, port, tag, proto, ...which }, ctx) {
    if (proto !== 'tcp' && proto !== 'udp')
      throw new HaliteError('config.value', `logstash: proto is tcp or udp, not ${proto}`);
    const lines = new LineSocket({ service: 'logstash', host, port });
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.on('error', () => undefined);
    const send = (text: string): Promise<void> =>
      proto === 'tcp' ? lines.send(`${text}\n`) : datagram(socket, text, port, host);
    try {
      for await (const { data } of wantedEvents(which, ctx)) {
        const text = toLine(recordOf(tag, dictEntries(data), hostname()));
        await persistently('logstash', ctx, async () => send(text));
      }
    } finally {
      lines.close();
      socket.close();
    }
  },
});
