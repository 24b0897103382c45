// Secret store `cache`: Salt's cache folder, a packed file for every key of a bank.

import { dirname } from 'node:path';
import { type Dict, defineSdb, HaliteError, type ModuleContext, newDict, pyStr, type Value } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { mkdir, readFile, replaceFile, rm, safeJoin } from 'halite/sdk/fs';
import { splitQuery, textOf } from './shared/profile.ts';

/** The file of a key; bank and folder may also be given in the address. */
function fileOf(address: string, profile: Dict, ctx: ModuleContext): string {
  const { key, query } = splitQuery(address);
  const bank = query.get('bank') ?? textOf(profile, 'bank');
  if (bank === null || bank === '') throw new HaliteError('config.value', 'The sdb profile lacks "bank"');
  const folder = query.get('cachedir') ?? textOf(profile, 'cachedir') ?? pyStr(ctx.opts['cachedir'] ?? '');
  return safeJoin(folder, bank.replace(/^\/+|\/+$/g, ''), `${key}.p`);
}

async function read(file: string): Promise<Value> {
  try {
    return unpack(await readFile(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return newDict();
    throw error;
  }
}

export default defineSdb({
  name: 'cache',
  doc: 'Values of the cache folder: `bank` and, unless it is the default, `cachedir`; both may be given in the address (`?bank=…`).',
  get: (key, profile, ctx): Promise<Value> => read(fileOf(key, profile, ctx)),
  async set(key, value, profile, ctx): Promise<Value> {
    const file = fileOf(key, profile, ctx);
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, pack(value, { bin: true }));
    return read(file);
  },
  async delete(key, profile, ctx): Promise<Value> {
    try {
      await rm(fileOf(key, profile, ctx), { force: true });
      return true;
    } catch {
      return false;
    }
  },
});
