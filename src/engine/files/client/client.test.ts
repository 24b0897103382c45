import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { FileClient, FileSlice } from '../../../extend/sdk/index.ts';
import type { FileServer } from '../server.ts';
import { openTestServer, temporaryFolder, writeTree } from '../testing.ts';
import { fetchChunks } from './chunks.ts';
import { patternTest } from './folders.ts';
import { fetchInto } from './slices.ts';
import { type TestMaster, testClient, testMaster } from './testing.ts';

const chunk = 1000;
let folder: ReturnType<typeof temporaryFolder>;
let server: FileServer;
let master: TestMaster;
let client: FileClient;
const at = (...parts: string[]): string => join(folder.path, ...parts);
const asked = (command: string): PlainDict[] => master.asked.filter((load) => load['cmd'] === command);
const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 7 + (i >> 8)) % 256));

beforeEach(() => {
  folder = temporaryFolder();
  writeTree(folder.path, {
    'base/small': 'small',
    'base/deep/er/file': 'deep',
    'base/bin': bytes(5500),
    'base/void': '',
  });
  server = openTestServer(folder.path, { file_buffer_size: chunk });
  master = testMaster(server);
  client = testClient(master.services, at('cache'));
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

describe('fetching into the cache', () => {
  it('transfers every byte unchanged', async () => {
    const path = await client.cacheFile('salt://bin');
    expect(path).toBe(at('cache/files/base/bin'));
    expect(readFileSync(path).equals(bytes(5500))).toBe(true);
    expect(readdirSync(at('cache/files/base'))).toEqual(['bin']);
  });

  it('asks only for the digest when the file is there already', async () => {
    await client.cacheFile('salt://bin');
    master.asked.length = 0;
    await client.cacheFile('salt://bin');
    expect(master.asked.map((load) => load['cmd'])).toEqual(['_file_hash_and_stat']);
  });

  it('fetches again what changed on the server or was damaged here', async () => {
    const path = await client.cacheFile('salt://small');
    writeFileSync(path, 'tampered');
    await client.cacheFile('salt://small');
    expect(readFileSync(path, 'utf8')).toBe('small');
    writeFileSync(at('base/small'), 'new content');
    await client.cacheFile('salt://small');
    expect(readFileSync(path, 'utf8')).toBe('new content');
  });

  it('requests nothing after the end when the size is known', async () => {
    await client.cacheFile('salt://bin');
    expect(asked('_serve_file').map((load) => load['loc'])).toEqual([0, 1000, 2000, 3000, 4000, 5000]);
  });

  it('replaces a folder or a file that blocks the path', async () => {
    mkdirSync(at('cache/files/base/small/x'), { recursive: true });
    writeFileSync(at('cache/files/base/deep'), 'a file where a folder must be');
    expect(readFileSync(await client.cacheFile('salt://small'), 'utf8')).toBe('small');
    expect(readFileSync(await client.cacheFile('salt://deep/er/file'), 'utf8')).toBe('deep');
  });

  it('gives nothing for a file the server does not have', async () => {
    expect(await client.cacheFile('salt://nope')).toBe('');
    expect(await client.cacheFile('salt://')).toBe('');
    expect(await client.read('salt://')).toBeUndefined();
    expect(existsSync(at('cache'))).toBe(false);
  });

  it('refuses paths and environments that would leave the cache', async () => {
    for (const url of ['salt://../../x', 'salt://a/../../x', 'salt://..', 'salt://a\0b']) {
      await expect(client.cacheFile(url)).rejects.toThrow(/not acceptable/);
    }
    for (const saltenv of ['..', '../..', '/etc', 'a/../b']) {
      await expect(client.cacheFile('salt://small', { saltenv })).rejects.toThrow(HaliteError);
    }
  });

  it('refuses a path from the server that leaves the cache', async () => {
    master.services.masterRequest = async (load) =>
      load['cmd'] === '_serve_file'
        ? newDict(Object.entries({ data: Buffer.from('x'), dest: '../../../escaped' }))
        : [
            newDict(Object.entries({ hsum: 'no such digest', hash_type: 'sha999' })),
            [33188, 0, 0, 1, 0, 0, 1, 0, 0, 0],
          ];
    expect(await client.cacheFile('salt://small')).toBe(at('cache/files/base/small'));
    expect(readFileSync(at('cache/files/base/small'), 'utf8')).toBe('x');
  });
});

describe('a transfer', () => {
  it('is right for every size, chunk size and order of answers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(5000),
        fc.integer({ min: 1, max: 900 }),
        fc.boolean(),
        fc.nat(5000),
        async (size, step, known, from) => {
          const content = bytes(size);
          const request = async (load: PlainDict): Promise<Value> => {
            // Answers overtake each other.
            for (let left = Math.floor(Math.random() * 5); left > 0; left--)
              await new Promise((go) => setImmediate(go));
            const loc = load['loc'] as number;
            return newDict(Object.entries({ data: content.subarray(loc, loc + step), dest: 'f' }));
          };
          const wanted = { path: 'f', saltenv: 'base', size: known ? size : undefined };
          const chunks: Uint8Array[] = [];
          for await (const chunk of fetchChunks(request, wanted, Math.min(from, size))) chunks.push(chunk);
          expect(Buffer.concat(chunks).equals(content.subarray(Math.min(from, size)))).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('accepts chunks of changing size', async () => {
    const content = bytes(3000);
    const request = async (load: PlainDict): Promise<Value> => {
      const loc = load['loc'] as number;
      return newDict([['data', content.subarray(loc, loc + 1 + ((loc * 31) % 400))]]);
    };
    const chunks: Uint8Array[] = [];
    for await (const chunk of fetchChunks(request, { path: 'f', saltenv: 'base' })) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
  });

  it('has several concurrent requests', async () => {
    let now = 0;
    let most = 0;
    master.before = async (load) => {
      if (load['cmd'] !== '_serve_file') return;
      most = Math.max(most, ++now);
      await new Promise((go) => setTimeout(go, 5));
      now--;
    };
    await client.cacheFile('salt://bin');
    expect(most).toBeGreaterThan(3);
  });

  it('survives lost connections and invalid answers', async () => {
    const failed = new Set<Value | undefined>();
    master.before = (load) => {
      if (load['cmd'] !== '_serve_file' || failed.has(load['loc'])) return;
      failed.add(load['loc']);
      throw new HaliteError('wire.timeout', 'lost');
    };
    expect(readFileSync(await client.cacheFile('salt://bin')).equals(bytes(5500))).toBe(true);
  });

  it('keeps the existing file when it fails permanently', async () => {
    mkdirSync(at('dest'));
    writeFileSync(at('dest/bin'), 'before');
    master.before = (load) => {
      if (load['loc'] === 3000) throw new HaliteError('wire.closed', 'gone');
    };
    await expect(client.getFile('salt://bin', at('dest/bin'))).rejects.toThrow('gone');
    expect(readdirSync(at('dest'))).toEqual(['bin']);
    expect(readFileSync(at('dest/bin'), 'utf8')).toBe('before');
  });

  it('starts again when the file changed during the transfer', async () => {
    master.before = (load) => {
      if (load['loc'] !== 2000) return;
      master.before = () => undefined;
      writeFileSync(at('base/bin'), bytes(5500).reverse());
    };
    expect(readFileSync(await client.cacheFile('salt://bin')).equals(bytes(5500).reverse())).toBe(true);
  });

  it('fails for a file that changes all the time', async () => {
    let version = 0;
    master.before = (load) => {
      if (load['cmd'] === '_serve_file' && load['loc'] === 0) writeFileSync(at('base/small'), `version ${++version}`);
    };
    await expect(client.cacheFile('salt://small')).rejects.toThrow('changed on the file server');
    expect(existsSync(at('cache/files/base/small'))).toBe(false);
  });

  it('resumes a large file where it was interrupted', async () => {
    const large = Buffer.alloc(9 << 20, 'large ');
    large.write('beginning');
    writeFileSync(at('base/large'), large);
    const wide = openTestServer(folder.path, { file_buffer_size: 1 << 20 });
    const link = testMaster(wide);
    const patient = testClient(link.services, at('cache'));
    link.before = (load) => {
      if (load['loc'] === 6 << 20) throw new HaliteError('wire.closed', 'gone');
    };
    await expect(patient.cacheFile('salt://large')).rejects.toThrow('gone');
    expect(readdirSync(at('cache/files/base')).filter((name) => name.endsWith('.part'))).toHaveLength(1);
    link.before = () => undefined;
    link.asked.length = 0;
    const path = await patient.cacheFile('salt://large');
    expect(readFileSync(path).equals(large)).toBe(true);
    const positions = link.asked.filter((load) => load['cmd'] === '_serve_file').map((load) => load['loc'] as number);
    expect(Math.min(...positions)).toBe(6 << 20);
    expect(readdirSync(at('cache/files/base'))).toEqual(['large']);
    await wide.close();
  });

  describe('by slices, when the connection is in another process', () => {
    const huge = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => (i * 31) % 251));
    const content = Buffer.concat([...Array.from({ length: 40 }, () => huge), Buffer.from('the end')]);
    let wide: FileServer;
    let link: TestMaster;
    let slices: FileSlice[];
    let sliced: FileClient;

    beforeEach(() => {
      writeFileSync(at('base/huge'), content);
      wide = openTestServer(folder.path, { file_buffer_size: 1 << 20 });
      link = testMaster(wide);
      slices = [];
      const fetchSlice = (slice: FileSlice): Promise<number> => {
        slices.push(slice);
        return fetchInto(
          (load, options) => link.services.masterRequest(load, options?.raw ? { raw: true } : {}),
          slice,
        );
      };
      sliced = testClient({ ...link.services, fetchSlice }, at('cache'));
    });
    afterEach(() => wide.close());

    it('comes whole', async () => {
      const path = await sliced.cacheFile('salt://huge');
      expect(readFileSync(path).equals(content)).toBe(true);
      expect(slices.map(({ from, length }) => from + length)).toEqual([16 << 20, 32 << 20, content.length]);
      expect(await sliced.getFile('salt://huge', '/dev/null')).toBe('/dev/null');
      expect(slices).toHaveLength(3);
    });

    it('resumes after the verified part', async () => {
      let down = true;
      link.before = (load) => {
        if (down && load['loc'] === 20 << 20) throw new HaliteError('call.failed', 'gone');
      };
      await expect(sliced.cacheFile('salt://huge')).rejects.toThrow('gone');
      const [part] = readdirSync(at('cache/files/base'));
      expect(statSync(at('cache/files/base', part!)).size).toBe(16 << 20);
      down = false;
      slices.length = 0;
      expect(readFileSync(await sliced.cacheFile('salt://huge')).equals(content)).toBe(true);
      expect(slices[0]?.from).toBe(16 << 20);
    });

    it('starts again when a part is damaged', async () => {
      link.before = (load) => {
        if (load['loc'] === 20 << 20) throw new HaliteError('call.failed', 'gone');
      };
      await expect(sliced.cacheFile('salt://huge')).rejects.toThrow('gone');
      link.before = () => undefined;
      const [part] = readdirSync(at('cache/files/base'));
      writeFileSync(at('cache/files/base', part!), Buffer.alloc(1000, 'wrong'));
      expect(readFileSync(await sliced.cacheFile('salt://huge')).equals(content)).toBe(true);
    });
  });

  it('can be fetched twice at the same time', async () => {
    writeFileSync(at('base/large'), Buffer.alloc(9 << 20, 'twice '));
    const wide = openTestServer(folder.path, { file_buffer_size: 1 << 20 });
    const other = testClient(testMaster(wide).services, at('cache'));
    const [one, two] = await Promise.all([other.cacheFile('salt://large'), other.cacheFile('salt://large')]);
    expect(one).toBe(two);
    expect(readFileSync(one).equals(Buffer.alloc(9 << 20, 'twice '))).toBe(true);
    expect(readdirSync(at('cache/files/base'))).toEqual(['large']);
    await wide.close();
  });

  it('is compressed on request', async () => {
    expect(await client.getFile('salt://bin', at('got'), { gzip: 9 })).toBe(at('got'));
    expect(readFileSync(at('got')).equals(bytes(5500))).toBe(true);
    expect(asked('_serve_file').every((load) => load['gzip'] === 9)).toBe(true);
  });
});

describe('the destination', () => {
  it('keeps its mode, and a link stays a link', async () => {
    writeFileSync(at('real'), 'old');
    chmodSync(at('real'), 0o751);
    symlinkSync('real', at('alias'));
    await client.getFile('salt://small', at('alias'));
    expect(readFileSync(at('real'), 'utf8')).toBe('small');
    expect(statSync(at('real')).mode & 0o7777).toBe(0o751);
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('can be a device', async () => {
    expect(await client.getFile('salt://small', '/dev/null')).toBe('/dev/null');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  it('refuses addresses that are not of the file server', async () => {
    await expect(client.getFile('/etc/hostname', at('x'))).rejects.toThrow('Unsupported path: /etc/hostname');
    await expect(client.getFile('http://127.0.0.1/', at('x'))).rejects.toThrow('Unsupported path');
    await expect(client.getUrl('ftp://127.0.0.1/x', at('x'))).rejects.toThrow('ftp://');
  });
});

describe('pushing', () => {
  it('sends a file in chunks', async () => {
    master.pushFolder = at('pushed');
    writeFileSync(at('source'), bytes(2500));
    const small = testClient(master.services, at('cache'), { file_buffer_size: 1000 });
    expect(await small.push(at('source'))).toBe(true);
    expect(readFileSync(join(at('pushed'), at('source'))).equals(bytes(2500))).toBe(true);
    expect(asked('_file_recv').map((load) => [load['loc'], load['size']])).toEqual([
      [0, 2500],
      [1000, 2500],
      [2000, 2500],
    ]);
  });

  it('sends empty files, follows links unless disabled, and removes the source on request', async () => {
    master.pushFolder = at('pushed');
    writeFileSync(at('empty'), '');
    symlinkSync('empty', at('link'));
    expect(await client.push(at('link'))).toBe(true);
    expect(existsSync(join(at('pushed'), at('empty')))).toBe(true);
    expect(await client.push(at('link'), { keepSymlinks: true, uploadPath: '/else/where' })).toBe(true);
    expect(existsSync(at('pushed/else/where'))).toBe(true);
    expect(await client.push(at('empty'), { removeSource: true })).toBe(true);
    expect(existsSync(at('empty'))).toBe(false);
  });

  it('is false when the master refuses or there is no such file', async () => {
    writeFileSync(at('source'), 'x');
    expect(await client.push(at('source'), { removeSource: true })).toBe(false);
    expect(existsSync(at('source'))).toBe(true);
    expect(await client.push(at('nope'))).toBe(false);
    expect(await client.push(at('base'))).toBe(false);
    expect(await client.push('relative')).toBe(false);
  });
});

describe('patternTest', () => {
  it.each([
    [undefined, undefined, true],
    ['*.sls', undefined, true],
    ['*.conf', undefined, false],
    ['E@\\.sls$', undefined, true],
    [['*.conf', '*.sls'], undefined, true],
    [undefined, '*.sls', false],
    ['*.sls', 'E@^app', false],
    ['*.sls', ['x', 'E@nothing'], true],
  ])('%j, %j', (include, exclude, expected) => {
    expect(patternTest(include, exclude)('app/init.sls')).toBe(expected);
  });
});
