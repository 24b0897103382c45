// The live stream of our own API: topics and their messages, rights, and what happens when processes are killed.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFleet } from '../support/api.ts';
import { LiveReader, own, setTopics } from '../support/api-v1.ts';
import { eventually } from '../support/eventually.ts';

let api: ApiFleet;
let ann = '';
let fred = '';
let limited = '';
let everyping = '';
let nobody = '';
beforeAll(async () => {
  api = await ApiFleet.start();
  ann = await api.login('ann');
  fred = await api.login('fred');
  limited = await api.login('limited');
  everyping = await api.login('everyping');
  const login = await api.ask('POST', '/login', { json: { username: 'reader1', password: 'x', eauth: 'auto' } });
  nobody = login.json.return[0].token;
});
afterAll(async () => {
  await api?.fleet.destroy();
});

const start = async (token: string, body: object): Promise<string> => {
  const reply = await own(api, 'POST', '/jobs', { token, json: body });
  expect(reply, reply.text).toMatchObject({ status: 202 });
  return reply.json.jid as string;
};

/** Cells of a window as they are after all messages. */
function windowOf(reader: LiveReader, topic: string): Map<string, unknown> {
  const cells = new Map<string, unknown>();
  for (const [, , changed, gone, , own] of reader.of('f')) {
    if (own !== topic) continue;
    for (const [row, column, value] of changed) cells.set(`${row}:${column}`, value);
    for (const row of gone) for (const key of [...cells.keys()]) if (key.startsWith(`${row}:`)) cells.delete(key);
  }
  return cells;
}

/** The verdicts of a job after all messages. */
function verdictsOf(reader: LiveReader, jid: string): string {
  let letters: string[] = [];
  for (const { data } of reader.records) {
    if (data[1] !== jid) continue;
    if (data[0] === 'j' && data[3] !== '') letters = [...data[3]];
    if (data[0] === 'v') for (const [at, letter] of data[3]) letters[at] = letter;
  }
  return letters.join('');
}

describe('topics', () => {
  it('begin with their whole state and tell what changes', async () => {
    const reader = new LiveReader(api, '/live?topics=summary,jobs,keys', ann);
    await eventually('the first messages', () => ['h', 's', 'k'].every((kind) => reader.of(kind).length > 0));
    expect(reader.of('s')[0]).toMatchObject(['s', { total: 2, states: { connected: 2 }, keys: { accepted: 2 } }]);
    expect(reader.of('k')[0]).toEqual(['k', 1, { pending: 0, accepted: 2, rejected: 0, denied: 0 }]);
    const jid = await start(ann, { tgt: '*', fun: 'test.sleep', arg: [1] });
    await eventually('the end of the job', () => reader.of('e').some(([, own]) => own === jid));
    expect(reader.of('j').find(([, own]) => own === jid)).toMatchObject([
      'j',
      jid,
      { fun: 'test.sleep', user: 'ann', minions: 2 },
      '',
    ]);
    expect(reader.of('e').find(([, own]) => own === jid)).toMatchObject(['e', jid, { o: 2 }, expect.any(Number)]);
    reader.close();
  });

  it('are set by a POST, and a window shows what its user may see', async () => {
    const [all, some] = [new LiveReader(api, '/live', ann), new LiveReader(api, '/live', limited)];
    await eventually('the streams', () => all.stream !== '' && some.stream !== '');
    const window = { 'fleet:a': { sort: 'id', limit: 10 } };
    expect((await setTopics(api, ann, all.stream, window)).status).toBe(204);
    expect((await setTopics(api, limited, some.stream, window)).status).toBe(204);
    await eventually('both windows', () => all.of('f').length > 0 && some.of('f').length > 0);
    expect([windowOf(all, 'fleet:a').get('0:0'), windowOf(all, 'fleet:a').get('1:0')]).toEqual(['m1', 'm2']);
    expect(windowOf(some, 'fleet:a').get('0:0')).toBe('m1');
    await api.fleet.minion('m2').stop();
    await eventually('the state of the stopped minion', () => windowOf(all, 'fleet:a').get('1:1') === 'away');
    api.fleet.startMinion('m2');
    await eventually('the minion to be back', () => windowOf(all, 'fleet:a').get('1:1') === 'connected');
    expect(some.text).not.toContain('m2');
    // A stream is of its user: others cannot even see that it is there.
    const [foreign, unknown] = [
      await setTopics(api, fred, all.stream, {}),
      await setTopics(api, fred, 'f'.repeat(32), {}),
    ];
    expect(foreign.status).toBe(404);
    expect({ ...foreign.json, request: '' }).toEqual({ ...unknown.json, request: '' });
    for (const topics of [
      { nonsense: {} },
      { 'job:1': {} },
      { summary: { q: 1 } },
      { summary: null },
      [],
      Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`fleet:${at}`, {}])),
    ])
      expect((await setTopics(api, ann, all.stream, topics)).status).toBe(400);
    all.close();
    some.close();
  });

  it('of a job follow its verdicts and the output of one minion', async () => {
    const jid = await start(ann, { tgt: '*', fun: 'test.sleep', arg: [2] });
    const reader = new LiveReader(api, `/live?topics=job:${jid}`, ann);
    await eventually('the end of the job', () => reader.of('e').length > 0);
    expect(verdictsOf(reader, jid)).toBe('oo');
    expect(reader.of('j')[0]).toMatchObject([
      'j',
      jid,
      { fun: 'test.sleep', minions: 2 },
      expect.stringMatching(/^[wro]{2}$/),
    ]);
    expect(reader.of('v').map(([, , seq]) => seq)).toEqual(reader.of('v').map((_, at) => at));
    reader.close();
  });

  it('that the user may not see end with the status of the route, and tell nothing', async () => {
    const secret = await start(ann, { tgt: 'm2', fun: 'test.echo', arg: ['private'] });
    const reader = new LiveReader(
      api,
      `/live?topics=summary,jobs,keys,job:${secret},job:20200101000000000000,events:*`,
      everyping,
    );
    await eventually('the refusals', () => reader.of('x').length === 3);
    const refused = new Map(reader.of('x').map(([, topic, status, text]) => [topic, [status, text]]));
    expect(refused.get('keys')?.[0]).toBe(403);
    expect(refused.get(`job:${secret}`)).toEqual(refused.get('job:20200101000000000000'));
    expect(refused.get(`job:${secret}`)?.[0]).toBe(404);
    const ping = await start(ann, { tgt: 'm2', fun: 'test.ping' });
    await eventually('what is permitted', () => reader.of('t').some(([, tag]) => tag === `salt/job/${ping}/ret/m2`));
    expect(reader.text).not.toContain('private');
    const none = new LiveReader(api, '/live?topics=summary,jobs,events:*,fleet:a', nobody);
    await eventually('an empty fleet', () => none.of('f').length > 0 && none.of('s').length > 0);
    await start(ann, { tgt: '*', fun: 'test.ping' });
    expect(none.of('s')[0]?.[1]).toMatchObject({ total: 0, states: {} });
    expect([none.of('f')[0]?.[2], none.of('t'), none.of('j')]).toEqual([[], [], []]);
    reader.close();
    none.close();
  });

  it('answer once for clients whose network breaks streams', async () => {
    const { json } = await own(api, 'GET', '/live?once=1&topics=summary,fleet:a', { token: ann });
    const kinds = (json.messages as string[][]).map(([kind]) => kind).sort();
    expect(kinds).toEqual(['f', 's']);
  });
});

describe('faults', () => {
  it('ends with the token', async () => {
    const token = await api.login('ann');
    const reader = new LiveReader(api, '/live?topics=summary,events:*', token);
    await eventually('the stream', () => reader.of('s').length > 0);
    await own(api, 'DELETE', '/session', { token });
    await eventually('its end', () => reader.ended);
  });

  it('the API is killed: the reader comes back and misses no event', async () => {
    const reader = new LiveReader(api, '/live?topics=events:salt/job/*', ann);
    await eventually('the stream', () => reader.stream !== '');
    const first = await start(ann, { tgt: 'm1', fun: 'test.ping' });
    await eventually('the first result', () => reader.of('t').some(([, tag]) => tag === `salt/job/${first}/ret/m1`));
    process.kill(Number(readFileSync(api.fleet.path('run/api.pid'), 'utf8')), 'SIGKILL');
    await eventually('the end of the stream', () => reader.ended);
    // It happens while nobody listens.
    const { code, stdout } = await api.fleet.salt('m1', 'test.ping');
    expect(code, stdout).toBe(0);
    await api.fleet.startApi();
    const again = new LiveReader(api, '/live?topics=events:salt/job/*', ann, { 'Last-Event-ID': reader.lastId });
    await eventually('what was missed', () => again.of('t').filter(([, tag]) => /\/ret\/m1$/.test(tag)).length > 0);
    expect(again.of('g')).toEqual([]);
    const tags = [...reader.of('t'), ...again.of('t')].map(([, tag, , id]) => `${id} ${tag}`);
    expect(new Set(tags).size).toBe(tags.length);
    again.close();
  });

  it('the master is killed: topics begin again, and a job that was under way ends', async () => {
    const jid = await start(ann, { tgt: 'm1', fun: 'test.sleep', arg: [8] });
    const reader = new LiveReader(api, `/live?topics=summary,job:${jid},events:salt/job/*`, ann);
    await eventually('the stream', () => reader.of('s').length > 0 && reader.of('j').length > 0);
    await api.fleet.master.stop('SIGKILL');
    expect((await own(api, 'GET', '/fleet', { token: ann })).status).toBe(503);
    expect((await own(api, 'GET', '/readyz')).json).toMatchObject({ ready: false });
    await api.fleet.startMaster();
    await api.fleet.answering('m1', 'm2');
    await eventually('the verdict from the new master', () => verdictsOf(reader, jid) === 'o');
    await eventually('the gap', () => reader.of('g').some(([, topic]) => topic === 'events'));
    expect(reader.ended).toBe(false);
    expect((await own(api, 'GET', `/jobs/${jid}`, { token: ann })).json).toMatchObject({
      state: 'done',
      verdicts: 'o',
    });
    reader.close();
  });

  it('a job with a key is started once although both processes are killed', async () => {
    const body = {
      token: everyping,
      json: { tgt: '*', fun: 'test.ping' },
      headers: { 'Idempotency-Key': 'over-a-kill' },
    };
    const before = await own(api, 'POST', '/jobs', body);
    expect(before.status).toBe(202);
    await api.fleet.master.stop('SIGKILL');
    process.kill(Number(readFileSync(api.fleet.path('run/api.pid'), 'utf8')), 'SIGKILL');
    await api.fleet.startMaster();
    await api.fleet.startApi();
    await api.fleet.answering('m1', 'm2');
    const after = await own(api, 'POST', '/jobs', body);
    expect(after, after.text).toMatchObject({ status: 202, json: { jid: before.json.jid } });
    // Whose job it is, the new master knows, too.
    const listed = await own(api, 'GET', '/jobs', { token: everyping });
    expect(listed.json.rows.map(([own]: string[]) => own)).toContain(before.json.jid);
  });
});

describe('load', () => {
  it('200 streams are open at the same time, and no more', async () => {
    const users = Array.from({ length: 13 }, (_, at) => `reader${at}`);
    const logins = await Promise.all(
      users.map((username) => api.ask('POST', '/login', { json: { username, password: 'x', eauth: 'auto' } })),
    );
    const tokens = logins.map(({ json }) => json.return[0].token as string);
    const readers = Array.from(
      { length: 199 },
      (_, at) => new LiveReader(api, '/live?topics=summary', tokens[at % tokens.length]!),
    );
    const main = new LiveReader(api, '/live?topics=jobs', ann);
    await eventually('all streams', () => main.stream !== '' && readers.every((reader) => reader.of('s').length > 0), {
      timeoutMs: 120_000,
    });
    expect((await own(api, 'GET', '/live', { token: fred })).status).toBe(503);
    const jids = await Promise.all(Array.from({ length: 10 }, () => start(ann, { tgt: '*', fun: 'test.ping' })));
    await eventually('the end of all jobs', () => jids.every((jid) => main.of('e').some(([, own]) => own === jid)));
    for (const reader of [main, ...readers]) reader.close();
    await eventually('the places', async () => {
      const { text } = await own(api, 'GET', '/metrics', { token: ann });
      return text.includes('\nhalite_event_streams 0\n');
    });
  });
});
