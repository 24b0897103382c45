import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unpack } from '../../base/codec/msgpack/index.ts';
import type { PlainDict } from '../../base/codec/value.ts';
import { type Crypticle, loadPublicKey } from '../../base/crypto/index.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import { AesKeys, newGeneration } from '../sign-in/aes-keys.ts';
import { KeyRing } from '../sign-in/master-keys.ts';
import { Publisher } from './publisher.ts';

const vectors = new URL('../../../test/fixtures/vectors/keys.json', import.meta.url);
const keys = JSON.parse(readFileSync(vectors, 'utf8')) as { master: { pem: string; pub: string } };
const jobOf = (jid: string): PublishedJob => ({ jid, fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob' });

let folder: string;
let aes: AesKeys;
let ring: KeyRing;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-publisher-'));
  aes = new AesKeys({ cachedir: folder, failed: () => undefined });
  const { pem, pub } = keys.master;
  ring = new KeyRing({ privateKey: createPrivateKey(pem), publicKey: loadPublicKey(pub), pem: pub, file: '' });
});
afterEach(async () => {
  await aes.stored;
  rmSync(folder, { recursive: true, force: true });
});

/** Notes what leaves, and whether it is sealed with the key of the beginning. */
function publisher(name: string, sent: string[]): Publisher {
  const made = new Publisher({ aes, ring }, 'PKCS1v15-SHA1');
  const first = aes.crypticle;
  const publish = (payload: Uint8Array): void => {
    const load = (unpack(payload) as PlainDict)['load'] as Uint8Array;
    const [key, job] = openWith(first, load)
      ? ['first', openWith(first, load)]
      : ['next', openWith(aes.crypticle, load)];
    sent.push(`${name} ${String(job?.['jid'])} ${String(job?.['serial'])} ${key} key`);
  };
  made.attach({ publish } as unknown as Parameters<Publisher['attach']>[0]);
  return made;
}

function openWith(key: Crypticle, load: Uint8Array): PlainDict | undefined {
  try {
    return key.open(load) as PlainDict;
  } catch {
    return undefined;
  }
}

it('sends what may wait after what another master sends at once', async () => {
  const sent: string[] = [];
  const [drained, other] = [publisher('m1', sent), publisher('m2', sent)];
  void drained.send(jobOf('a'), undefined, 7, 600_000);
  await other.send(jobOf('a'), undefined, 7);
  expect(sent).toEqual(['m2 a 7 first key']);
});

it('keeps the order, and the key of the moment at which it was told to send', async () => {
  const sent: string[] = [];
  const one = publisher('m1', sent);
  const late = one.send(jobOf('a'), ['web1'], 7, 20);
  aes.use(newGeneration(1));
  await Promise.all([late, one.send(jobOf('b'), ['web1'], 8)]);
  expect(sent).toEqual(['m1 a 7 first key', 'm1 b 8 next key']);
});
