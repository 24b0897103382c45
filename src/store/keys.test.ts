// Key folders: Salt's layout, up to date after every internal or external change.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyStore, keyServices } from './keys.ts';

const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
let dir: string;
let store: KeyStore;

beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'halite-keys-')), 'pki');
  store = new KeyStore(dir);
  store.prepare();
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

describe('KeyStore', () => {
  it('creates the folders of Salt, without access for others', () => {
    expect(readdirSync(dir).sort()).toEqual([
      'minions',
      'minions_autosign',
      'minions_denied',
      'minions_pre',
      'minions_rejected',
    ]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it('notices keys written and removed by other programs immediately', () => {
    expect(store.ids('accepted')).toEqual([]);
    writeFileSync(join(dir, 'minions', 'web1'), pem);
    expect(store.ids('accepted')).toEqual(['web1']);
    expect(store.accepted('web1')?.key?.asymmetricKeyType).toBe('rsa');
    rmSync(join(dir, 'minions', 'web1'));
    expect(store.ids('accepted')).toEqual([]);
    expect(store.accepted('web1')).toBeUndefined();
  });

  it('reads a key again when its file changed', async () => {
    await store.write('accepted', 'web1', pem);
    expect(store.accepted('web1')?.key).toBeDefined();
    writeFileSync(join(dir, 'minions', 'web1'), 'garbage');
    expect(store.accepted('web1')?.key).toBeUndefined();
  });

  it('ignores hidden files and names that are not ids', () => {
    writeFileSync(join(dir, 'minions', '.key_cache'), '');
    writeFileSync(join(dir, 'minions', 'web1'), pem);
    expect(store.ids('accepted')).toEqual(['web1']);
  });

  it.each(['', '.', '..', 'a/b', 'a\0b', '../minions_pre/x', 'a\\b'])('has no key for the id %j', (id) => {
    expect(store.accepted(id)).toBeUndefined();
    expect(store.has('accepted', id)).toBe(false);
    expect(store.readText('accepted', id)).toBeUndefined();
  });

  it('consumes an autosign marker, unless it is too old', () => {
    const marker = join(dir, 'minions_autosign', 'web1');
    writeFileSync(marker, '');
    expect(store.consumeAutosign('web1', 120)).toBe(true);
    expect(store.consumeAutosign('web1', 120)).toBe(false);
    writeFileSync(marker, '');
    utimesSync(marker, new Date(), new Date(Date.now() - 3 * 3_600_000));
    expect(store.consumeAutosign('web1', 120)).toBe(false);
  });
});

describe('keyServices', () => {
  it('moves keys between states and reports every change', async () => {
    const changes: string[] = [];
    const keys = keyServices(store, dir, (act, id) => changes.push(`${act} ${id}`));
    await store.write('pending', 'a', pem);
    await store.write('pending', 'b', pem);
    expect(await keys.accept(['a', 'nobody'])).toEqual(['a']);
    expect(await keys.reject(['b'])).toEqual(['b']);
    expect(await keys.accept(['b'])).toEqual([]);
    expect(await keys.accept(['b'], ['pending', 'rejected'])).toEqual(['b']);
    expect(await keys.remove(['a', 'b', 'c'])).toEqual(['a', 'b']);
    expect(changes).toEqual(['accept a', 'reject b', 'accept b', 'delete a', 'delete b']);
    expect(await keys.list()).toEqual({ accepted: [], denied: [], pending: [], rejected: [] });
  });
});
