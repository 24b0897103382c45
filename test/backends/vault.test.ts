// The vault functions, sdb driver and token runner against an imitation of Vault's documented interface.
import { generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { createContext, execProgram } from '../../src/engine/exec/index.ts';
import vaultRunner from '../../src/ext/runners/vault.ts';
import { expandPattern } from '../../src/ext/shared/vault/patterns.ts';
import { Loader } from '../../src/extend/loader/index.ts';
import type { MasterContext, MinionServices, ModuleContext } from '../../src/extend/sdk/index.ts';
import { role, rootToken, startVaultLike, type VaultLike } from '../support/servers/vault-like.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-vault-'));
const logged: string[] = [];
const note = (text: string, fields?: unknown): void => void logged.push(`${text} ${JSON.stringify(fields ?? '')}`);
const log = { debug: note, info: note, warn: note, error: note };
let vault: VaultLike;
beforeAll(async () => {
  vault = await startVaultLike();
});
afterAll(async () => {
  await vault?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  vault.plain.clear();
  vault.versioned.clear();
  vault.seen.length = 0;
});

const dict = (entries: Record<string, Value>): PlainDict => newDict(Object.entries(entries));
const section = (auth: Record<string, Value>, more: Record<string, Value> = {}): PlainDict =>
  dict({ url: vault.url, auth: dict(auth), ...more });

function contextOf(
  config: PlainDict,
  more: Record<string, Value> = {},
  request?: MinionServices['masterRequest'],
): ModuleContext {
  const opts = dict({ cachedir: folder, pki_dir: folder, file_client: 'local', vault: config, ...more });
  const loader = new Loader({ opts: () => opts, grains: () => newDict(), log, userCode: 'names' });
  const minion = { hasMaster: request !== undefined, masterRequest: request } as unknown as MinionServices;
  return createContext(
    {
      ...{ id: 'm1', loader, log, minion, opts: () => opts },
      ...{ grains: () => dict({ id: 'm1' }), pillar: () => newDict() },
      exec: (file, args, options, signal) => execProgram(file, args, options, signal),
      match: async () => false,
    },
    { signal: new AbortController().signal, progress: () => undefined, retcode: 0, cache: new Map() },
  );
}

describe('secrets', () => {
  it.each([
    ['kv/my', false],
    ['secret/my', true],
    ['deep/kv/my', true],
  ])('of %s: written, read, listed and deleted', async (base, v2) => {
    const ctx = contextOf(section({ method: 'token', token: rootToken }));
    const path = `${base}/secret`;
    const wrote = await ctx.callWith('vault.write_secret', [path], dict({ user: 'foo', password: 'bär' }));
    expect(wrote).toEqual(v2 ? { version: 1 } : true);
    expect(await ctx.call('vault.read_secret', path)).toEqual({ user: 'foo', password: 'bär' });
    expect(await ctx.call('vault.read_secret', `/${path}`, 'password')).toBe('bär');
    expect(await ctx.call('vault.list_secrets', `${base}/`)).toEqual({ keys: ['secret'] });
    const whole = await ctx.callWith('vault.read_secret', [path], dict({ metadata: true }));
    expect(whole).toMatchObject(v2 ? { data: { user: 'foo' }, metadata: { version: 1 } } : { user: 'foo' });
    expect(await ctx.call('vault.write_raw', path, dict({ only: 1 }))).toEqual(v2 ? { version: 2 } : true);
    expect(await ctx.call('vault.destroy_secret', path, 2)).toBe(v2);
    expect(await ctx.call('vault.delete_secret', path)).toBe(true);
    await expect(ctx.call('vault.read_secret', path)).rejects.toThrow(
      /^Failed to read secret! HTTPError: 404 Client Error/,
    );
    expect(await ctx.callWith('vault.read_secret', [path], dict({ default: 'none' }))).toBe('none');
    expect(await ctx.callWith('vault.list_secrets', ['secret/none/'], dict({ default: [] }))).toEqual([]);
  });
  it('a value that is not there is a KeyError, in Salt’s words', async () => {
    const ctx = contextOf(section({ method: 'token', token: rootToken }));
    await ctx.callWith('vault.write_secret', ['kv/x'], dict({ a: 1 }));
    await expect(ctx.call('vault.read_secret', 'kv/x', 'b')).rejects.toThrow("Failed to read secret! KeyError: 'b'");
  });
  it('the driver of sdb reads and writes single values', async () => {
    const ctx = contextOf(section({ method: 'token', token: rootToken }), { store: dict({ driver: 'vault' }) });
    for (const base of ['kv', 'secret']) {
      expect(await ctx.call('sdb.get', `sdb://store/${base}/app/key`)).toBeNull();
      expect(await ctx.call('sdb.set', `sdb://store/${base}/app/key`, 'v')).toBe(true);
      expect(await ctx.call('sdb.get', `sdb://store/${base}/app/key`)).toBe('v');
      expect(await ctx.call('sdb.get', `sdb://store/${base}/app?key`)).toBe('v');
    }
  });
  it('a wrong token is refused and shown nowhere', async () => {
    const ctx = contextOf(section({ method: 'token', token: 'hvs.wrong-token' }, { namespace: 'team' }));
    await expect(ctx.call('vault.read_secret', 'kv/x')).rejects.toThrow(/403 Client Error: Forbidden(?!.*wrong-token)/);
    expect(await ctx.callWith('vault.write_secret', ['kv/x'], dict({ password: 'top-secret' }))).toBe(false);
    expect(vault.namespaces.at(-1)).toBe('team');
    expect(logged.join('\n')).not.toMatch(/wrong-token|top-secret/);
  });
});

describe('tokens', () => {
  it('of an approle: one login for many requests', async () => {
    const ctx = contextOf(section({ method: 'approle', ...role }));
    await ctx.callWith('vault.write_secret', ['kv/x'], dict({ a: 1 }));
    await ctx.call('vault.read_secret', 'kv/x');
    expect(vault.seen.filter((line) => line === 'POST auth/approle/login')).toHaveLength(1);
    const wrong = contextOf(section({ method: 'approle', role_id: 'no', secret_id: 'no' }));
    await expect(wrong.call('vault.read_secret', 'kv/x')).rejects.toThrow('while getting a token from approle');
    await expect(contextOf(section({ method: 'token' })).call('vault.read_secret', 'kv/x')).rejects.toThrow(
      `could not find key "'token'" within`,
    );
  });
  it('of the master are requested with a signature, used as often as allowed, and stored on disk if configured', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(join(folder, 'minion.pem'), pem);
    const master = masterContext(
      section(
        { method: 'token', token: rootToken, uses: 4, ttl: 600, token_backend: 'disk' },
        {
          role_name: 'minions',
          policies: ['base', 'by-role/{grains[roles]}', 'none/{grains[none]}', 'm/{minion}'],
        },
      ),
      publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    );
    const asked: Value[] = [];
    const ctx = contextOf(newDict(), { file_client: 'remote' }, async (load) => {
      asked.push(load['fun'] ?? null);
      const [id, signature, byMaster, ttl, uses] = load['arg'] as Value[];
      return runRunner(
        'generate_token',
        { minion_id: id, signature, impersonated_by_master: byMaster, ttl, uses },
        master,
      );
    });
    vault.plain.set('kv/x', { a: 1 });
    for (let i = 0; i < 2; i++) expect(await ctx.call('vault.read_secret', 'kv/x', 'a')).toBe(1);
    expect(asked).toEqual(['vault.generate_token']);
    const token = vault.made.at(-1);
    expect(token?.policies).toEqual(['base', 'by-role/web', 'by-role/db', 'm/m1']);
    expect(token?.meta['saltstack-minion']).toBe('m1');
    expect(token?.explicitMaxTtl).toBe('600');
    const file = join(folder, 'salt_vault_token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      url: vault.url,
      uses: 1,
      unlimited_use_token: false,
    });
    for (let i = 0; i < 3; i++) expect(await ctx.call('vault.read_secret', 'kv/x', 'a')).toBe(1);
    expect(asked.length).toBeGreaterThan(1);
    await ctx.call('vault.clear_token_cache');
    expect(existsSync(file)).toBe(false);
    expect(await ctx.call('vault.clear_token_cache')).toBe(false);
  });
});

function masterContext(config: PlainDict, pem: string): MasterContext {
  const grains = dict({ id: 'm1', roles: ['web', 'db'] });
  return {
    ...{ opts: dict({ vault: config }), log, signal: new AbortController().signal, job: newDict(), cache: new Map() },
    master: {
      keys: { read: async (state: string, id: string) => (state === 'accepted' && id === 'm1' ? pem : undefined) },
      fleet: { grains: async () => grains, pillar: async () => dict({ team: 'Ops' }) },
    },
  } as unknown as MasterContext;
}

const runRunner = async (name: string, args: Record<string, Value | undefined>, ctx: MasterContext): Promise<Value> =>
  ((await vaultRunner.functions[name]?.run(args as never, ctx)) ?? null) as Value;

describe('runner', () => {
  it('refuses what the minion has not signed', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const ctx = masterContext(
      section({ method: 'token', token: rootToken }),
      publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    );
    const signature = sign('RSA-SHA1', Buffer.from('m1'), privateKey).toString('base64');
    for (const minion_id of ['m1', 'other']) {
      await expect(runRunner('generate_token', { minion_id, signature }, ctx)).rejects.toThrow('Could not validate');
    }
    expect(vault.seen).toEqual([]);
  });
  it('shows policies and unseals', async () => {
    const ctx = masterContext(
      section({ method: 'token', token: rootToken }, { policies: ['T/{pillar[team]}'], keys: ['a', 'b', 'c', 'd'] }),
      '',
    );
    expect(await runRunner('show_policies', { minion_id: 'm1', refresh_pillar: null, expire: null }, ctx)).toEqual([
      't/ops',
    ]);
    expect(await runRunner('unseal', {}, ctx)).toBe(true);
    expect(vault.seen).toEqual(['PUT sys/unseal', 'PUT sys/unseal', 'PUT sys/unseal']);
  });
});

describe('patterns', () => {
  it.each([
    ['a/{minion}', ['a/m1']],
    ['{grains[os]}/{grains[roles]}/{pillar[x][y]}', ['Debian/web/z', 'Debian/db/z']],
    ['{{x}}', ['{x}']],
    ['{pillar[none]}', undefined],
  ])('%s', (pattern, expected) => {
    const fields = {
      minion: 'm1',
      grains: dict({ os: 'Debian', roles: ['web', 'db'] }),
      pillar: dict({ x: dict({ y: 'z' }) }),
    };
    if (expected) expect(expandPattern(pattern, fields)).toEqual(expected);
    else expect(() => expandPattern(pattern, fields)).toThrow();
  });
});
