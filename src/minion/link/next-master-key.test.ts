import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cleanKey, fingerprint, publicPem, signPkcs1 } from '../../base/crypto/index.ts';
import { type NextKey, signNextKey } from '../../protocol/wire/messages/next-key.ts';
import { NextMasterKey } from './next-master-key.ts';

const pair = () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { privateKey, pem: cleanKey(publicPem(privateKey)) };
};
const [first, second, third, stranger] = [pair(), pair(), pair(), pair()];
const hour = 3_600_000;
let folder: string;
const statement = (from: typeof first, to: typeof first, more: Partial<NextKey> = {}): string => {
  const now = Date.now();
  const dates = { number: now, notBefore: now - hour, notAfter: now + hour };
  return signNextKey(from.privateKey, { from: fingerprint(from.pem), pem: to.pem, ...dates, ...more }).text;
};
const any = (): boolean => true;
async function opened(trusted = first.pem): Promise<NextMasterKey> {
  const next = new NextMasterKey(folder);
  await next.load(trusted);
  return next;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-next-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the next key of the master', () => {
  it('is stored when the trusted key signed it, and is there after a restart', async () => {
    const next = await opened();
    expect(await next.learn(statement(first, second), first.pem, any)).toBe('stored');
    expect((await opened()).usable()?.pem).toBe(second.pem);
    expect((await opened()).proves(second.pem, first.pem, '')).toBe(true);
    expect((await opened()).proves(third.pem, first.pem, '')).toBe(false);
    // For a minion that trusts another key it is nothing.
    expect((await opened(third.pem)).usable()).toBeUndefined();
  });

  it('is refused from others, changed, out of its time, or against master_finger; nothing is written', async () => {
    const next = await opened();
    const good = statement(first, second);
    const wrong = [
      statement(stranger, second),
      statement(stranger, second, { from: fingerprint(first.pem) }),
      good.replace(second.pem, third.pem),
      good.replace(/not after: \d+/, 'not after: 4102444800000'),
      good.replace(
        /signature: .*\n/,
        `signature: ${signPkcs1(first.privateKey, Buffer.from(good)).toString('base64')}\n`,
      ),
      `${good} `,
      good.slice(0, -10),
      statement(first, second, { notAfter: 9e15 }),
      statement(first, second, { pem: 'x' }),
      'x'.repeat(1_000_000),
      '',
    ];
    for (const text of wrong) expect(await next.learn(text, first.pem, any)).toBe('the trusted key did not sign it');
    expect(await next.learn(statement(first, second, { notAfter: Date.now() - 1 }), first.pem, any)).toBe(
      'its time is over',
    );
    expect(await next.learn(good, first.pem, () => false)).toContain('master_finger');
    expect((await opened()).usable()).toBeUndefined();
    for (const text of wrong) expect(next.proves(second.pem, first.pem, text)).toBe(false);
  });

  it('proves nothing before its time', async () => {
    const text = statement(first, second, { notBefore: Date.now() + hour });
    expect((await opened()).proves(second.pem, first.pem, text)).toBe(false);
  });

  it('is never brought back by an earlier statement: after a way back and forth, and after a kill between the files', async () => {
    const [there, back] = [statement(first, second, { number: 10 }), statement(second, first, { number: 20 })];
    const next = await opened();
    expect(await next.learn(there, first.pem, any)).toBe('stored');
    expect(next.proves(second.pem, first.pem, '')).toBe(true);
    await next.taken(second.pem);
    expect(next.proves(first.pem, second.pem, back)).toBe(true);
    await next.taken(first.pem);
    // Recorded long ago, and correctly signed.
    const later = await opened();
    expect(later.proves(second.pem, first.pem, there)).toBe(false);
    expect(await later.learn(there, first.pem, any)).toBe('it is older than one that is known');
    expect(readFileSync(join(folder, 'minion_master_next.number'), 'utf8')).toBe('20\n');
    // Killed after the key was stored, before the number was.
    rmSync(join(folder, 'minion_master_next.number'));
    writeFileSync(join(folder, 'minion_master_next.pub'), there);
    const resumed = await opened(second.pem);
    expect(resumed.usable()).toBeUndefined();
    expect(resumed.proves(first.pem, second.pem, statement(second, first, { number: 9 }))).toBe(false);
  });
});
