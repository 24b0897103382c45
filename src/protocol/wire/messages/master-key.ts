// What a Halite minion tells about the keys of its master that it has; the answer is what the master says about the next,
// and whether its minions should use others.
import { textField } from '../../../base/codec/fields.ts';
import { dictGet, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';

/** Fingerprints; empty for none. */
export interface KnownKeys {
  readonly trusts: string;
  readonly next: string;
}

/** What the master says. */
export interface MasterWord {
  /** The signed statement about its next key; not verified here. */
  readonly nextKey: Value;
  /** It is to be stopped: other masters of the cluster do what it did. */
  readonly drained: boolean;
}

export const masterKeyCommand = '_master_key';
/** Asks for everything; minions of earlier versions do not, and get the statement alone. */
const wholeField = 'whole';

export const masterKeyLoad = ({ trusts, next }: KnownKeys): PlainDict =>
  newDict([
    ['cmd', masterKeyCommand],
    ['trusts', trusts],
    ['next', next],
    [wholeField, 1],
  ]);

const isPrint = (text: string): boolean => /^([0-9a-f]{2}(:[0-9a-f]{2}){31})?$/.test(text);

/** Undefined for anything else: the minion is then not counted. */
export function readKnownKeys(load: PlainDict): KnownKeys | undefined {
  const trusts = textField(load, 'trusts');
  const next = textField(load, 'next');
  return trusts !== undefined && next !== undefined && isPrint(trusts) && isPrint(next) ? { trusts, next } : undefined;
}

export const masterWordValue = (load: PlainDict, { nextKey, drained }: MasterWord): Value =>
  dictGet(load, wholeField) === 1
    ? newDict([
        ['next_key', nextKey],
        ['drained', drained],
      ])
    : nextKey;

/** A master of an earlier version answers with the statement alone. */
export function readMasterWord(answer: Value): MasterWord {
  if (!isDict(answer)) return { nextKey: answer, drained: false };
  return { nextKey: dictGet(answer, 'next_key') ?? null, drained: dictGet(answer, 'drained') === true };
}
