// What a Halite minion tells about the keys of its master that it has; the answer is what the master says about the next.
import { textField } from '../../../base/codec/fields.ts';
import { newDict, type PlainDict } from '../../../base/codec/value.ts';

/** Fingerprints; empty for none. */
export interface KnownKeys {
  readonly trusts: string;
  readonly next: string;
}

export const masterKeyCommand = '_master_key';

export const masterKeyLoad = ({ trusts, next }: KnownKeys): PlainDict =>
  newDict([
    ['cmd', masterKeyCommand],
    ['trusts', trusts],
    ['next', next],
  ]);

const isPrint = (text: string): boolean => /^([0-9a-f]{2}(:[0-9a-f]{2}){31})?$/.test(text);

/** Undefined for anything else: the minion is then not counted. */
export function readKnownKeys(load: PlainDict): KnownKeys | undefined {
  const trusts = textField(load, 'trusts');
  const next = textField(load, 'next');
  return trusts !== undefined && next !== undefined && isPrint(trusts) && isPrint(next) ? { trusts, next } : undefined;
}
