// The key pairs of simulated minions. Making one takes longer than a sign-in, so minions may share them, and a folder keeps
// them: a master refuses an id that comes back with another key.
import { generateKeyPair, type KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Crypticle, generateKeyPairFiles, loadPrivateKey, makeToken, publicPem } from '../base/crypto/index.ts';

export interface MinionKey {
  readonly privateKey: KeyObject;
  readonly publicText: string;
  /** Proof of possession, the same in every request. */
  readonly tok: Buffer;
  readonly challenge: string;
}

const atOnce = 4;

function keyOf(privateKey: KeyObject): MinionKey {
  return {
    privateKey,
    publicText: publicPem(privateKey).trim(),
    tok: makeToken(privateKey),
    challenge: Crypticle.generateKeyString(),
  };
}

/** The keys of these minions, in their order. `distinct` of the whole fleet; 0: each has its own. */
export async function fleetKeys(
  numbers: readonly number[],
  distinct: number,
  dir: string,
  bits: number,
): Promise<MinionKey[]> {
  if (dir !== '') await mkdir(dir, { recursive: true, mode: 0o700 });
  const indexOf = (number: number): number => (distinct === 0 ? number : number % distinct);
  const made = new Map<number, MinionKey>();
  const waiting = [...new Set(numbers.map(indexOf))];
  const work = async (): Promise<void> => {
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop())
      made.set(index, keyOf(dir === '' ? await newKey(bits) : await keptKey(dir, index, bits)));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return numbers.map((number) => made.get(indexOf(number))).filter((key) => key !== undefined);
}

async function newKey(modulusLength: number): Promise<KeyObject> {
  return (await promisify(generateKeyPair)('rsa', { modulusLength })).privateKey;
}

const keptKey = async (dir: string, index: number, bits: number): Promise<KeyObject> =>
  loadPrivateKey(await generateKeyPairFiles(dir, `minion-${index}`, bits));
