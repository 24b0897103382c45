// Requests for chunks of files: in Halite's own format between Halite peers, and accepted only when authenticated.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { Crypticle, chunkHeadBytes, loadPublicKey } from '../../base/crypto/index.ts';
import type { Credentials } from './auth-reply.ts';
import { loadIdentity } from './identity.ts';
import { RequestChannel } from './request-channel.ts';
import { testFolder, testKeys, testOpts } from './testing.ts';

const fresh = (): Crypticle => new Crypticle(Crypticle.generateKeyString());
const content = Buffer.from('the bytes of a file');
const behindRoom = Buffer.concat([Buffer.alloc(chunkHeadBytes), content]);
const load = newDict(Object.entries({ cmd: '_serve_file', path: 'a.txt', saltenv: 'base', loc: 0 }));

let folder: ReturnType<typeof testFolder>;
/** The keys of the master; the minion gets them when it signs in. */
let session: Crypticle;
let asked: PlainDict[];
let signIns: number;
/** How the master answers a request that it could decrypt. */
let answer: (opened: PlainDict) => Buffer;

const chunk = (opened: PlainDict, key = session, more: Record<string, Value> = {}): Buffer =>
  key.chunks.seal(behindRoom, {
    ...{ nonce: String(opened['nonce']), id: 'm1', saltenv: 'base', path: 'a.txt', loc: 0 },
    ...more,
  });
const inSaltsForm = (opened: PlainDict): Buffer =>
  pack(session.seal(newDict(Object.entries({ data: content, dest: 'a.txt' })), String(opened['nonce'])));

async function connect(more: Partial<Credentials> = {}): Promise<RequestChannel> {
  const credentials = (): Credentials => ({
    ...{ generation: 3, aes: session, session, publishPort: undefined, halite: true, asksForKey: false, nextKey: '' },
    ...{ masterKey: loadPublicKey(testKeys.master.pub), masterKeyText: testKeys.master.pub },
    ...more,
  });
  let keys = credentials();
  return new RequestChannel({
    identity: await loadIdentity(testOpts(folder.path)),
    credentials: async () => keys,
    renew: async () => {
      signIns++;
      keys = credentials();
      return keys;
    },
    client: {
      close: () => undefined,
      request: async (payload) => {
        const envelope = unpack(payload, { raw: true }) as PlainDict;
        try {
          asked.push(session.open(envelope['load'] as Uint8Array) as PlainDict);
        } catch {
          return pack('bad load');
        }
        return answer(asked.at(-1)!);
      },
    },
  });
}
const dataOf = async (channel: RequestChannel, request: PlainDict = load): Promise<string> => {
  const halite = newDict([['chunk', 1 << 20]]);
  const reply = await channel.request(request, { timeoutMs: 20_000, raw: true, halite });
  return Buffer.from((reply as { data: Uint8Array }).data).toString();
};

beforeEach(() => {
  folder = testFolder();
  mkdirSync(join(folder.path, 'pki'));
  writeFileSync(join(folder.path, 'pki', 'minion.pem'), testKeys.minion.pem, { mode: 0o400 });
  writeFileSync(join(folder.path, 'pki', 'minion.pub'), testKeys.minion.pub);
  session = fresh();
  asked = [];
  signIns = 0;
  answer = chunk;
});
afterEach(() => folder.remove());

describe('a chunk of a file', () => {
  it('is requested in our own format, and decrypted', async () => {
    expect(await dataOf(await connect())).toBe(content.toString());
    expect(asked[0]).toMatchObject({ cmd: '_serve_file', chunk: 1 << 20 });
    expect(signIns).toBe(0);
  });

  it('may arrive in Salt’s format, from a master that does not support ours', async () => {
    answer = inSaltsForm;
    expect(await dataOf(await connect())).toBe(content.toString());
  });

  it.each<[string, Partial<Credentials>]>([
    ['a real master', { halite: false }],
    ['a master of an older generation', { generation: 2 }],
  ])('is not requested in our format: %s', async (_, keys) => {
    answer = inSaltsForm;
    expect(await dataOf(await connect(keys))).toBe(content.toString());
    expect(Object.keys(asked[0]!)).not.toContain('chunk');
    // Nor accepted when it was not requested.
    answer = chunk;
    await expect(dataOf(await connect(keys))).rejects.toMatchObject({ code: 'auth.failed' });
  });

  it('is not accepted as the answer to another request', async () => {
    const other = newDict([...Object.entries(load), ['cmd', '_file_find']]);
    await expect(dataOf(await connect(), other)).rejects.toMatchObject({ code: 'auth.failed' });
  });

  it('is requested again after a new sign-in when the key has changed', async () => {
    const channel = await connect();
    expect(await dataOf(channel)).toBe(content.toString());
    session = fresh();
    expect(await dataOf(channel)).toBe(content.toString());
    expect(signIns).toBe(1);
  });

  it('that was changed in transit once is requested again', async () => {
    answer = (opened) => {
      answer = chunk;
      const reply = chunk(opened);
      reply[reply.length - 1]! ^= 1;
      return reply;
    };
    expect(await dataOf(await connect())).toBe(content.toString());
    expect([asked.length, signIns]).toEqual([2, 1]);
  });

  it.each<[string, (opened: PlainDict) => Buffer]>([
    ['under another key', (opened) => chunk(opened, fresh())],
    ['of another request', (opened) => chunk(opened, session, { nonce: 'x'.repeat(32) })],
    ['of another file', (opened) => chunk(opened, session, { path: 'b.txt' })],
    ['of another position', (opened) => chunk(opened, session, { loc: 5 })],
    ['in an unknown form', () => pack([2, 'x'])],
  ])('%s is refused, with a reason', async (_, hostile) => {
    answer = hostile;
    await expect(dataOf(await connect())).rejects.toMatchObject({
      code: 'crypto.verify',
      message: expect.stringContaining('chunk of a'),
    });
    expect(signIns).toBe(1);
  });

  it('that was received before is refused', async () => {
    const channel = await connect();
    let first: Buffer | undefined;
    answer = (opened) => {
      first ??= chunk(opened);
      return first;
    };
    expect(await dataOf(channel)).toBe(content.toString());
    await expect(dataOf(channel)).rejects.toThrow('The chunk of a.txt at byte 0 does not authenticate');
  });
});
