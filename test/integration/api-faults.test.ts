// The API, the master and both are killed while many requests are under way: no job is published twice, no request is
// answered twice, tokens live on, and readers of events know what they have not seen.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiFleet, type EventReader } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';

let api: ApiFleet;
let ann: string;
beforeAll(async () => {
  api = await ApiFleet.start(['login_throttle: False']);
  ann = await api.login('ann');
  mark = api.fleet.path('runs');
});
afterAll(async () => {
  await api?.fleet.destroy();
});

const workers = 6;
const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' };
/** Every run of a job of the load writes its text here. */
let mark = '';

interface Load {
  /** The texts whose request was answered with a result. */
  readonly answered: Set<string>;
  /** All texts that were sent. */
  readonly sent: Set<string>;
  /** Bytes behind the end of an answer, which would be a second one. */
  surplus: string;
  stop(): Promise<void>;
}

/** One request on its own connection, read to the end: everything the server ever sends for it. */
function post(chunk: object): Promise<string> {
  const body = JSON.stringify(chunk);
  const head = `POST / HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${ann}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(api.port, '127.0.0.1', () =>
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`),
    );
    socket.setTimeout(60_000, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

function startLoad(name: string): Load {
  let running = true;
  let count = 0;
  const load: Load = {
    ...{ answered: new Set<string>(), sent: new Set<string>(), surplus: '' },
    stop: async () => {
      running = false;
      await Promise.all(all);
    },
  };
  const work = async (): Promise<void> => {
    while (running) {
      const text = `${name}-${count++}`;
      load.sent.add(text);
      const answer = await post({ client: 'local', tgt: 'm1', fun: 'cmd.run', arg: [`echo ${text} | tee -a ${mark}`] });
      if (answer.split('HTTP/1.1 ').length > 2) load.surplus += answer;
      if (answer.includes(`{"return": [{"m1": "${text}"}]}`)) load.answered.add(text);
      // A server that is away refuses at once: no endless loop of refusals.
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const all = Array.from({ length: workers }, work);
  return load;
}

/** How often each job of the load was run by the minion. */
function runs(name: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of readFileSync(mark, 'utf8').split('\n'))
    if (text.startsWith(`${name}-`)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

const killApi = (): void => {
  process.kill(Number(readFileSync(api.fleet.path('run/api.pid'), 'utf8')), 'SIGKILL');
};
const works = async (): Promise<void> =>
  eventually('the API to work', async () => (await api.run(ann, ping).catch(() => undefined))?.status === 200, {
    timeoutMs: 120_000,
  });

/** Results of the load that a reader has seen. */
const seenBy = (reader: EventReader): Set<string> =>
  new Set(reader.records.filter(({ tag }) => /\/ret\/m1$/.test(tag)).map(({ data }) => String(data.return)));
const gaps = (reader: EventReader): number => reader.records.filter(({ tag }) => tag === 'halite/events/gap').length;

const kills: [string, () => Promise<void>][] = [
  [
    'api',
    async () => {
      killApi();
      await api.fleet.startApi();
    },
  ],
  [
    'master',
    async () => {
      await api.fleet.master.stop('SIGKILL');
      await api.fleet.startMaster();
      await api.fleet.answering('m1');
    },
  ],
  [
    'both',
    async () => {
      killApi();
      await api.fleet.master.stop('SIGKILL');
      await api.fleet.startMaster();
      await api.fleet.startApi();
      await api.fleet.answering('m1');
    },
  ],
];

it.each(kills)('kill -9 under load: %s', async (name, kill) => {
  const first = api.events(ann);
  await eventually('the stream to begin', () => first.begun);
  const load = startLoad(name);
  await eventually('answers before the kill', () => load.answered.size >= 20);
  await kill();
  const before = load.answered.size;
  await works();
  await eventually('answers after the kill', () => load.answered.size >= before + 20);
  // A browser comes back by itself, with the last id that it has seen.
  const last = first.records.at(-1)?.id ?? '';
  const second = first.ended ? api.events(ann, { 'Last-Event-ID': last }) : undefined;
  if (second) await eventually('the second stream to begin', () => second.begun);
  await eventually('the results of the load', () => seenBy(second ?? first).size > 0);
  await load.stop();

  expect(load.surplus).toBe('');
  const counts = runs(name);
  expect([...counts].filter(([, count]) => count !== 1)).toEqual([]);
  for (const text of load.answered) expect(counts.get(text), text).toBe(1);
  expect([...counts.keys()].filter((text) => !load.sent.has(text))).toEqual([]);

  const readers = [first, ...(second ? [second] : [])];
  const seen = new Set(readers.flatMap((reader) => [...seenBy(reader)]));
  const complete = (): boolean => {
    for (const reader of readers) for (const text of seenBy(reader)) seen.add(text);
    return [...load.answered].every((text) => seen.has(text));
  };
  const told = (): boolean => readers.some((reader) => gaps(reader) > 0);
  await eventually('everything to be seen, or a gap to be named', () => complete() || told());
  // Without the master's memory of events a gap is named; the API alone loses nothing.
  if (name === 'api') {
    expect(told()).toBe(false);
    expect(complete()).toBe(true);
  }
  for (const reader of readers) {
    const ids = reader.records.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    reader.close();
  }
});
