// The minion's small data store on disk, which holds the mine of minions without a master.

import { dirname, join } from 'node:path';
import { asDict, type Dict, newDict, pyStr, type Value } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'halite/sdk/fs';

const pathOf = (opts: Readonly<Record<string, Value>>): string => join(pyStr(opts['cachedir'] ?? ''), 'datastore');

export function readStore(opts: Readonly<Record<string, Value>>): Dict {
  try {
    const value = unpack(readFileSync(pathOf(opts)));
    return asDict(value) ?? newDict();
  } catch {
    return newDict();
  }
}

export function writeStore(opts: Readonly<Record<string, Value>>, store: Dict): void {
  const path = pathOf(opts);
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, pack(store), { mode: 0o600 });
  renameSync(draft, path);
}
