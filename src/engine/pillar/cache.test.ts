// Cached pillars: what is stored, for how long, and the effect of `pillar=`.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unpack } from '../../base/codec/msgpack/index.ts';
import { dictOf, newDict, type Value } from '../../base/codec/value.ts';
import { PillarCache } from './cache.ts';
import { PillarService } from './service.ts';
import type { PillarRequest } from './types.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pillar = newDict([['x', 1]]);

describe('pillar cache', () => {
  it('stores by minion and environment until expiry', async () => {
    let now = 1_000_000;
    const cache = new PillarCache({ folder, ttlSeconds: 10, disk: false, now: () => now });
    await cache.set('web1', undefined, pillar);
    expect(await cache.get('web1', undefined)).toBe(pillar);
    expect(await cache.get('web1', 'dev')).toBeUndefined();
    expect(await cache.get('web2', undefined)).toBeUndefined();
    now += 10_500;
    expect(await cache.get('web1', undefined)).toBeUndefined();
  });
  it('writes the same as Salt, readable by the owner only, and finds it again', async () => {
    const options = { folder, ttlSeconds: 3600, disk: true };
    await new PillarCache(options).set('web1', 'dev', pillar);
    expect(statSync(join(folder, 'web1')).mode & 0o777).toBe(0o600);
    const stored = unpack(readFileSync(join(folder, 'web1'))) as Record<string, Record<string, Value>>;
    expect(Object.keys(stored)).toEqual(['CacheDisk_data', 'CacheDisk_cachetime']);
    const again = new PillarCache(options);
    expect({ ...(await again.get('web1', 'dev')) }).toEqual({ x: 1 });
    await again.forget('web1');
    expect(await new PillarCache(options).get('web1', 'dev')).toBeUndefined();
  });
  it('never leaves its folder', async () => {
    const cache = new PillarCache({ folder: join(folder, 'in'), ttlSeconds: 10, disk: true });
    await cache.set('../out', undefined, pillar);
    expect(() => statSync(join(folder, 'out'))).toThrow();
    expect(await cache.get('../out', undefined)).toBe(pillar);
  });
});

describe('pillar service', () => {
  const asked: PillarRequest[] = [];
  const pool = {
    compile: async (request: PillarRequest) => {
      asked.push(request);
      return dictOf([['n', asked.length]]);
    },
    top: async () => null,
    explain: async () => null,
    update: async () => newDict(),
    close: async () => undefined,
  };
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const request = { minionId: 'web1', grains: newDict() };
  beforeEach(() => asked.splice(0));

  it('compiles every time without a cache', async () => {
    const service = new PillarService({ opts: { cachedir: folder }, log: quiet, pool });
    await service.get(request);
    expect({ ...(await service.get(request)) }).toEqual({ n: 2 });
    expect(service.caching).toBe(false);
  });
  it('compiles once with one; clean compiles again, and values of a command are never stored', async () => {
    const service = new PillarService({ opts: { cachedir: folder, pillar_cache: true }, log: quiet, pool });
    const override = newDict([['extra', true]]);
    expect({ ...(await service.get({ ...request, override })) }).toEqual({ n: 1, extra: true });
    expect(asked[0]?.override).toBeUndefined();
    expect({ ...(await service.get(request)) }).toEqual({ n: 1 });
    expect({ ...(await service.get(request, true)) }).toEqual({ n: 2 });
    expect({ ...(await service.cached('web1')) }).toEqual({ n: 2 });
    await service.forget('web1');
    expect(await service.cached('web1')).toBeUndefined();
  });
});
