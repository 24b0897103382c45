// A random walk through users, rules and requests: the master permits exactly what a slow, obvious model permits, and
// publishes nothing else. HALITE_RIGHTS_REQUESTS=20000 HALITE_RIGHTS_SEED=7 make the walk longer, or another one.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { LocalCaller } from '../support/local-caller.ts';
import { drawRequest, drawUsers, type ModelRequest, minionIds, permitted, reached } from '../support/rights-model.ts';
import { picker } from '../support/seeded.ts';

const seed = Number(process.env['HALITE_RIGHTS_SEED'] ?? 1);
const requests = Number(process.env['HALITE_RIGHTS_REQUESTS'] ?? 1_000);
const pick = picker(seed);
const users = drawUsers(40, pick);

let fleet: Deployment;
const published: PlainDict[] = [];
const heard = new AbortController();
beforeAll(async () => {
  fleet = await Deployment.create();
  const rules = Object.fromEntries(users.map((user) => [user.name, user.rules.map(({ written }) => written)]));
  const config = {
    sharedsecret: 'of all',
    external_auth: { sharedsecret: rules },
    nodegroups: { mine: 'm1' },
    publisher_acl_blacklist: { users: users.filter(({ banned }) => banned).map(({ name }) => name) },
  };
  writeFileSync(fleet.path('etc/master.d/eauth.conf'), JSON.stringify(config));
  writeFileSync(fleet.path('srv/pillar/top.sls'), 'base: {m1: [gold]}\n');
  writeFileSync(fleet.path('srv/pillar/gold.sls'), 'class: gold\n');
  // It has a key and is never connected.
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  mkdirSync(fleet.path('etc/pki/master/minions'), { recursive: true });
  writeFileSync(fleet.path('etc/pki/master/minions/m3'), publicKey.export({ type: 'spki', format: 'pem' }));
  await fleet.startMaster();
  fleet.startMinion('m1', undefined, 'grains: {role: web}');
  fleet.startMinion('m2');
  await fleet.answering('m1', 'm2');
  // The master knows its pillar only after the minion has asked for it.
  await fleet.json('m1', 'saltutil.refresh_pillar');
  const { stdout } = await fleet.run('salt-key', ['-l', 'accepted', '--out=json']);
  expect(JSON.parse(stdout)).toEqual({ minions: [...minionIds] });
  void listen();
});
afterAll(async () => {
  heard.abort();
  await fleet?.destroy();
});

/** Every job that is announced on the bus of the master. */
async function listen(): Promise<void> {
  const root = await LocalCaller.connect(fleet, 'root');
  heard.signal.addEventListener('abort', () => root.close());
  try {
    for await (const { tag, data } of root.stream('events', { tag: 'salt/job/' }))
      if (String(tag).endsWith('/new')) published.push(data as PlainDict);
  } catch (error) {
    if (!heard.signal.aborted) throw error;
  }
}

async function tokensOf(): Promise<Map<string, string>> {
  const caller = await LocalCaller.anonymous(fleet);
  const tokens = new Map<string, string>();
  for (const { name } of users) {
    const login = { eauth: 'sharedsecret', username: name, password: 'of all' };
    const { items, error } = await caller.call('login', login);
    expect(error).toBeUndefined();
    tokens.set(name, String(items[0]?.['token']));
  }
  caller.close();
  return tokens;
}

const refusals = ['Authorization error occurred.', 'Authentication failure of type "token" occurred for user'];

async function ask(caller: LocalCaller, token: string, request: ModelRequest) {
  const { verb, fun, arg, target, ret } = request;
  const fields: Record<string, Value> = { token, fun: typeof fun === 'string' ? fun : [...fun], arg: [...arg] };
  if (verb === 'publish')
    Object.assign(fields, { tgt: target!.tgt, tgt_type: target!.tgt_type, async: true, ...(ret ? { ret } : {}) });
  else Object.assign(fields, { known: true, async: true });
  const { items, error } = await caller.call(verb, fields);
  return { items, error, refused: refusals.some((text) => error?.startsWith(text)) };
}

it(`permits what the model permits, and nothing else (${requests} requests, seed ${seed})`, async () => {
  const tokens = await tokensOf();
  const callers = new Map<string, LocalCaller>();
  const wanted = new Map<string, { user: string; fun: unknown; minions: string[] }>();
  let refusedCount = 0;
  for (let at = 0; at < requests; at++) {
    const user = users[pick(users.length)]!;
    const request = drawRequest(pick);
    let caller = callers.get(user.name);
    if (!caller) {
      caller = await LocalCaller.anonymous(fleet);
      callers.set(user.name, caller);
    }
    const { items, error, refused } = await ask(caller, tokens.get(user.name)!, request);
    const text = JSON.stringify({ at, user, request, error });
    expect(refused, text).toBe(!permitted(user, request));
    if (refused) refusedCount += 1;
    if (refused || request.verb !== 'publish') continue;
    const minions = reached(user, request);
    if (minions.length === 0) {
      expect(error, text).toBeDefined();
      continue;
    }
    expect([...((items[0]?.['minions'] ?? []) as string[])].sort(), text).toEqual(minions);
    wanted.set(String(items[0]?.['jid']), { user: user.name, fun: request.fun, minions });
  }
  for (const caller of callers.values()) caller.close();
  // Neither all nor nothing was permitted: the walk has met both sides of the border.
  expect(refusedCount).toBeGreaterThan(requests / 10);
  expect(wanted.size).toBeGreaterThan(requests / 20);
  const names = new Set(users.map(({ name }) => name));
  const theirs = (): PlainDict[] => published.filter(({ user }) => names.has(String(user)));
  await eventually('all jobs to be announced', () => theirs().length >= wanted.size);
  const announced = theirs().map(({ jid, user, fun, minions }) => [
    String(jid),
    { user: String(user), fun, minions: [...(minions as string[])].sort() },
  ]);
  expect(Object.fromEntries(announced)).toEqual(Object.fromEntries(wanted));
});
