// Session keys: the same on every master with the secret, for this minion and its key only, and for one epoch.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Crypticle } from '../../base/crypto/index.ts';
import { SessionKeys, type SessionSecrets } from './session-keys.ts';

const day = 86_400_000;
const web1 = { id: 'web1', fingerprint: 'aa:bb' };
let root: string;
let now: number;
let renewed: number;
let secrets: [Uint8Array, ...Uint8Array[]];

const shared: SessionSecrets = { current: () => secrets, renewals: () => renewed };
const open = (seconds = 86_400): SessionKeys =>
  new SessionKeys({ secrets: shared, folder: join(root, 'sessions'), seconds, now: () => now });
const texts = (keys: SessionKeys, of = web1): string[] => [...keys.accepted(of)].map((key) => key.keyString);
/** Moves the clock to the given time before the key of web1 changes. */
function moveBefore(keys: SessionKeys, ms: number): void {
  const first = keys.current(web1).keyString;
  let low = now;
  let high = now + day;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    now = middle;
    if (keys.current(web1).keyString === first) low = middle;
    else high = middle;
  }
  now = high - ms;
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-sessions-'));
  now = 1_790_000_000_000;
  renewed = 0;
  secrets = [Buffer.alloc(32, 7)];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a session key', () => {
  it('is the same on every master that has the secret, also after a restart', () => {
    expect(open().current(web1).keyString).toBe(open().current(web1).keyString);
    expect(Buffer.from(open().current(web1).keyString, 'base64')).toHaveLength(56);
  });
  it('differs for another id, another key of the minion, another secret, and after a renewal', () => {
    const keys = open();
    const first = keys.current(web1).keyString;
    const all = [first, keys.current({ ...web1, id: 'web2' }).keyString];
    all.push(keys.current({ ...web1, fingerprint: 'cc:dd' }).keyString);
    renewed = 1;
    all.push(keys.current(web1).keyString);
    renewed = 0;
    secrets = [Buffer.alloc(32, 8)];
    all.push(keys.current(web1).keyString);
    expect(new Set(all).size).toBe(5);
  });
  it('cannot be moved between the parts that it depends on', () => {
    const keys = open();
    expect(keys.current({ id: 'a', fingerprint: 'b c' }).keyString).not.toBe(
      keys.current({ id: 'a b', fingerprint: 'c' }).keyString,
    );
  });
});

describe('the end of an epoch', () => {
  it('is not at the same time for all minions', () => {
    const keys = open();
    const ids = Array.from({ length: 40 }, (_, n) => `web${n}`);
    const of = (id: string): string => keys.current({ ...web1, id }).keyString;
    const start = ids.map(of);
    now += day / 2;
    const changed = ids.filter((id, n) => of(id) !== start[n]).length;
    expect(changed).toBeGreaterThan(0);
    expect(changed).toBeLessThan(40);
  });
  it('leaves the key of before for five minutes', () => {
    const keys = open();
    moveBefore(keys, 1);
    const old = keys.current(web1).keyString;
    now += 1;
    expect(keys.current(web1).keyString).not.toBe(old);
    expect(texts(keys)).toContain(old);
    now += 299_998;
    expect(texts(keys)).toContain(old);
    now += 2;
    expect(texts(keys)).not.toContain(old);
  });
  it('is survived by a minion that signed in at a master whose clock is ahead', () => {
    const keys = open();
    moveBefore(keys, 60_000);
    const here = texts(keys);
    now += 120_000;
    const ahead = keys.current(web1).keyString;
    expect(here).toContain(ahead);
    expect(here).toHaveLength(2);
  });
  it('never comes with publish_session 0', () => {
    const keys = open(0);
    const first = keys.current(web1).keyString;
    now += 1000 * day;
    expect(texts(keys)).toEqual([first]);
  });
});

describe('a key in a file of an earlier version', () => {
  const text = Crypticle.generateKeyString();
  const file = (): string => join(root, 'sessions/web1');
  beforeEach(() => {
    mkdirSync(join(root, 'sessions'));
    writeFileSync(file(), text);
  });

  it('is taken until it is too old, and is given to nobody', () => {
    const keys = open();
    expect(texts(keys)).toContain(text);
    expect(keys.current(web1).keyString).not.toBe(text);
    expect(texts(keys, { ...web1, id: 'web2' })).not.toContain(text);
    const old = new Date(Date.now() - day - 1000);
    utimesSync(file(), old, old);
    expect(texts(open())).not.toContain(text);
  });
  it('ends with the key of its minion', () => {
    const keys = open();
    keys.forget('web1');
    expect(texts(keys)).not.toContain(text);
    expect(texts(open())).not.toContain(text);
  });
  it('is ignored when it is damaged', () => {
    writeFileSync(file(), 'no key');
    expect(texts(open())).toHaveLength(1);
  });
});
