// The bus keys of a member from a file that `halite cluster init` makes: one line `number base64` for each, newest last.
import { readFileSync, statSync } from 'node:fs';
import { HaliteError } from '../../base/errors/index.ts';
import { replaceSecretNow } from '../../base/util/replace-file.ts';
import type { BusKeys } from './ports.ts';

export const busKeyFile = 'cluster_bus.key';
export const busKeyBytes = 32;

export function busKeyText(keys: readonly (readonly [number: number, key: Uint8Array])[]): string {
  return keys.map(([number, key]) => `${number} ${Buffer.from(key).toString('base64')}\n`).join('');
}

/** The last one of the file is the current one. */
export function fileBusKeys(file: string): BusKeys {
  const keys = readKeys(file);
  if (keys.size === 0) throw unusable(file, 'has no key');
  return busKeyRing(keys, (text) => replaceSecretNow(file, text, 0o400));
}

/** `keep` is called with the text of the file whenever the keys change, before a change counts. */
function busKeyRing(keys: Map<number, Uint8Array>, keep: (text: string) => void): BusKeys {
  let [current, currentKey] = [...keys].at(-1) as [number, Uint8Array];
  return {
    current: () => ({ number: current, key: currentKey }),
    byNumber: (wanted) => keys.get(wanted),
    get oldest() {
      return Math.min(...keys.keys());
    },
    get newest() {
      return Math.max(...keys.keys());
    },
    add(number, key) {
      if (keys.has(number)) return;
      keep(busKeyText([...keys, [number, key]]));
      keys.set(number, key);
    },
    use(number) {
      const key = keys.get(number);
      if (key) [current, currentKey] = [number, key];
    },
    retire(below) {
      const left = [...keys].filter(([number]) => number >= below || number === current);
      if (left.length === keys.size) return;
      keep(busKeyText(left));
      for (const number of [...keys.keys()]) if (!left.some(([kept]) => kept === number)) keys.delete(number);
    },
  };
}

function readKeys(file: string): Map<number, Uint8Array> {
  let text: string;
  try {
    const { mode } = statSync(file);
    if ((mode & 0o077) !== 0) throw unusable(file, 'may be read by others', `Run: chmod 400 ${file}`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof HaliteError) throw error;
    const hint = 'Run `halite cluster init` on the first master; other masters get it when they join.';
    throw unusable(file, `cannot be read: ${(error as Error).message}`, hint);
  }
  return busKeysOf(text, file);
}

/** Throws `crypto.key` for a line that is no key; `file` is for the message. */
export function busKeysOf(text: string, file: string): Map<number, Uint8Array> {
  const keys = new Map<number, Uint8Array>();
  for (const line of text.split('\n').filter((some) => some.trim() !== '')) {
    const [, digits, base64] = /^(\d{1,3}) ([A-Za-z0-9+/]{43}=)$/.exec(line.trim()) ?? [];
    const number = Number(digits);
    if (base64 === undefined || number < 1 || number > 255)
      throw unusable(file, 'has a line that is no number and key');
    keys.set(number, Buffer.from(base64, 'base64'));
  }
  return keys;
}

const unusable = (file: string, why: string, hint?: string): HaliteError =>
  new HaliteError('crypto.key', `The keys of the cluster in ${file}: ${why}`, hint === undefined ? {} : { hint });
